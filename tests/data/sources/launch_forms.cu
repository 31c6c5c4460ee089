// corpus: swapped
// corpus: kernels 4
// Launches as they are written.
#include "support.cuh"

#define CHECKED(...)                            \
  do {                                          \
    __VA_ARGS__;                                \
    support::Check(cudaGetLastError());         \
  } while (0)
#define RUN(kernel, grid, block, arguments) kernel<<<grid, block>>> arguments

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n] by=1
__global__ void add(int* data, int by, int n) {
  int i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
  if (i < n) data[i] += by;
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void twice(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= 2;
}

// cupilot: tune
// cupilot: workload grid=4 block=64 shared=256 n=256 data=integers(0,9)[n]
__global__ void with_shared(int* data, int n) {
  extern __shared__ int values[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  values[threadIdx.x] = i < n ? data[i] : 0;
  __syncthreads();
  if (i < n) data[i] = values[blockDim.x - 1 - threadIdx.x];
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void step(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += i & 1;
}

template <class Kernel, class... Arguments>
void Launch(Kernel kernel, int blocks, Arguments... arguments) {
  kernel<<<blocks, 64>>>(arguments...);
}

template <void (*Kernel)(int*, int)>
struct Launcher {
  void operator()(int* data, int n) const { Kernel<<<(n + 63) / 64, 64>>>(data, n); }
};

struct Program {
  int* data;
  int n;
  void (*kernel)(int*, int);
  Program(int* d, int count) : data(d), n(count), kernel(twice) { add<<<2, 128>>>(data, 1, n); }
  ~Program() { add<<<dim3(2, 2), dim3(32, 2)>>>(data, -3, n); }
  void Run() const { (*kernel)<<<4, 64>>>(data, n), this->kernel<<<4, 64>>>(data, n); }
};

int main() {
  support::Array<int> array(256, 1, 1);
  int* const data = array.get();
  const int n = 256;
  const dim3 grid(2, 2, 1), block(16, 4);
  add<<<grid, block>>>(data, 5, n);
  add<<<4, block>>>(data, 7, n);
  if (n > 3) add<<<grid, 64, 0>>>(data, 11, n);
  else add<<<1, 1>>>(data, 0, n);
  for (int k = 0; k < 2; ++k) RUN(twice, n / 64, 64, (data, n));
  CHECKED(twice<<<4, 64>>>(data, n));
  cudaStream_t stream;
  support::Check(cudaStreamCreate(&stream));
  with_shared<<<4, 64, 64 * sizeof(int), stream>>>(data, n);
  with_shared<<<dim3(8), dim3(32), 32 * sizeof(int)>>>(data, n);
  support::Check(cudaStreamSynchronize(stream));
  support::Check(cudaStreamDestroy(stream));
  Launch(twice, 4, data, n);
  Launch(add, 4, data, 13, n);
  Launcher<step>()(data, n);
  [&] { twice<<<4, 64>>>(data, n); }();
  auto later = [data](int count) { add<<<count / 64, 64>>>(data, 17, count); };
  later(n);
  void (*pointers[])(int*, int) = {twice, &step};
  for (auto kernel : pointers) kernel<<<4, 64>>>(data, n);
  const auto& reference = step;
  (reference)<<<4, 64>>>(data, n);
  Program(data, n).Run();
  ::twice<<<2, 64>>>(data, n);
  n > 0 ? add<<<4, 64>>>(data, 19, n) : twice<<<4, 64>>>(data, n);
  support::Show("data", array);
}
