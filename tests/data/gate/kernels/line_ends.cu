// Ends of lines of each stretch of a text: \n, \r, or both together, which are one.
// cupilot: tune
// cupilot: workload text grid=(1) block=(32) n=640 text=integers(0,255)[n] ends=[20]
__global__ void line_ends(const unsigned char* text, int* ends, int n) {
  const int part = threadIdx.x;
  if (part >= 20) return;
  int count = 0;
  for (int i = part * 32; i < n && i < part * 32 + 32; ++i) {
    if (text[i] == 10 && (i == 0 || text[i - 1] != 13)) ++count;
    if (text[i] == 13) ++count;
  }
  ends[part] = count;
}
