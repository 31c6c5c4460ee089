// corpus: swapped
// corpus: kernels 3
// What is named like parts of our hook and of our expressions.
#include "support.cuh"

struct launch {
  int grid, block;
};
struct geometry {
  int value;
};
enum { kernel_count = 7, function_count = 9 };
static int functions[2] = {1, 2};
namespace cupilot_hook {
static int kernels = 3;
}
typedef int cupilot_number;

// cupilot: tune
// cupilot: workload grid=4 block=64 shared_bytes=8 l=integers(0,9)[256] o=256 value=3 g=1 result=null
__global__ void variant(int* l, int o, int value, int g, int* result, int shared_bytes) {
  int arguments = blockIdx.x * blockDim.x + threadIdx.x;
  if (arguments < o) l[arguments] += value * g + shared_bytes;
}

// cupilot: tune
// cupilot: workload grid=4 block=64 grid_x=256 block_x=5 stream=integers(0,9)[grid_x]
__global__ void start(int* stream, int grid_x, int block_x) {
  int handle = blockIdx.x * blockDim.x + threadIdx.x;
  launch l = {block_x, kernel_count};
  geometry o = {function_count};
  if (handle < grid_x) stream[handle] += l.grid + l.block * o.value;
}

namespace cupilot {
namespace source {
// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 type=integers(0,9)[n]
__global__ void read(int* type, int n) {
  int list = blockIdx.x * blockDim.x + threadIdx.x;
  if (list < n) type[list] ^= 3;
}
}  // namespace source
}  // namespace cupilot

int main() {
  support::Array<int> data(256, 1, 1), other(4);
  variant<<<4, 64>>>(data.get(), 256, 3, 2, other.get(), 8);
  start<<<4, 64>>>(data.get(), 256, cupilot_hook::kernels);
  cupilot::source::read<<<4, 64>>>(data.get(), 256);
  support::Show("data", data);
  std::printf("%d\n", functions[0] + functions[1]);
}
