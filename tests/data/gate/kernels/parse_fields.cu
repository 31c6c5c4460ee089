// Numbers in text fields of one size: spaces, a sign, digits up to the first other byte; too large ones become the nearest int.
// cupilot: tune
// cupilot: workload fields grid=(8) block=(64) fields=500 size=12 text=integers(32,58)[fields*size] number=[fields] digits=[fields]
__global__ void parse_fields(const unsigned char* text, int* number, unsigned char* digits, int fields, int size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= fields) return;
  const unsigned char* field = text + (long long)i * size;
  int k = 0;
  while (k < size && field[k] == ' ') ++k;
  bool negative = false;
  if (k < size && (field[k] == '-' || field[k] == '+')) {
    negative = field[k] == '-';
    ++k;
  }
  long long v = 0;
  int seen = 0;
  while (k < size && field[k] >= '0' && field[k] <= '9') {
    if (v < 10000000000ll) v = v * 10 + (field[k] - '0');
    ++seen;
    ++k;
  }
  if (negative) v = -v;
  if (v > 2147483647ll) v = 2147483647ll;
  if (v < -2147483648ll) v = -2147483648ll;
  number[i] = (int)v;
  digits[i] = (unsigned char)seen;
}
