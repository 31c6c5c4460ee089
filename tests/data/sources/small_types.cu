// corpus: swapped
// Parameters of every width, in an order that leaves gaps between them.
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 c=3 wide=-5 flag=true s=-7 u=9 b=200 out=[n] n=256 last=77 d=0.5 y=65
__global__ void widths(char c, long long wide, bool flag, short s, unsigned long u, unsigned char b,
                       double* out, int n, unsigned long long last, double d, signed char y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double value = flag ? c * d : s;
  value += double(wide % 1000) + double(u) + b + double(last % 1000003) - y;
  out[i] = value + i;
}

int main() {
  support::Array<double> out(256), other(256);
  widths<<<4, 64>>>('x', -123456789012345LL, true, -300, 4000000000UL, 255, out.get(), 256,
                    18446744073709551615ULL, 1.0 / 3, -100);
  widths<<<4, 64>>>(-1, 1LL << 62, false, 32767, 0, 0, other.get(), 200, 0, -0.0, 127);
  support::Show("out", out);
  support::Show("other", other);
}
