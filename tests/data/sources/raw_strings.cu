// corpus: swapped
// Raw strings with CUDA text in them, in front of the kernel and behind it.
#include "support.cuh"

const char* const kText = R"cuda(
// cupilot: tune
__global__ void shown(int* data) { data[0] = 1; } // )" )cuda";
static const char* Other() { return R"(}}} <<<1, 2>>> "quoted" \)"; }

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void real(int* data, int n) {
  const char letters[] = R"(__global__ {)";
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += letters[i % 12] == '{' ? '"' : '\'';
}

int main() {
  support::Array<int> data(256, 1, 1);
  real<<<4, 64>>>(data.get(), 256);
  support::Show("data", data);
  std::printf("%s%s\n", kText, Other());
}
