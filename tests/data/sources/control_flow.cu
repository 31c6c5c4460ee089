// corpus: swapped
// Labels, a switch that falls through, nested loops with early ends, commas and conditionals.
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 in=integers(0,9)[n] out=[n]
__global__ void wander(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, value = 0, turns = 0;
  if (i >= n) goto end;
  value = in[i];
again:
  switch (value & 3) {
    case 0: value += 5;
    // falls through
    case 1: value ^= 3; break;
    case 2: {
      do value -= 2, ++turns; while (value > 40);
      break;
    }
    default:
      for (int a = 0;; ++a) {
        if (a == 7) break;
        for (int b = a; b < 4; ++b) {
          if ((a ^ b) == 3) continue;
          value += a * b ? a : -b;
        }
      }
  }
  if (++turns < 3) goto again;
  out[i] = (value += 0, turns) > 3 ? value : value * 2;
end:;
}

int main() {
  support::Array<int> in(256, 1, 1), out(256);
  wander<<<4, 64>>>(in.get(), out.get(), 256);
  support::Show("out", out);
}
