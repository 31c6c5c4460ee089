// Shared memory and barriers of a block.
#include "checks.h"

using checks::Buffer;
using checks::Make;

__global__ void ReverseStatic(int* data) {
  __shared__ int tile[64];
  tile[threadIdx.x] = data[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  data[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}
CASE(static_shared_memory) {
  Buffer<int> data(Make<int>(64 * 9, [](int i) { return i * 3; }));
  ReverseStatic<<<9, 64>>>(data);
  SAME_ALL(data.Read(), Make<int>(64 * 9, [](int i) { return (i / 64 * 64 + 63 - i % 64) * 3; }));
}

__global__ void ReverseDynamic(int* data) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = data[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  data[blockIdx.x * blockDim.x + threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
CASE(dynamic_shared_memory) {
  for (const int threads : {1, 7, 32, 96, 1024}) {
    Buffer<int> data(Make<int>(threads * 3, [](int i) { return i; }));
    ReverseDynamic<<<3, threads, threads * sizeof(int)>>>(data);
    SAME_ALL(data.Read(), Make<int>(threads * 3, [=](int i) {
               return i / threads * threads + threads - 1 - i % threads;
             }));
  }
}

// Several arrays in one stretch, as programs cut it up.
extern __shared__ unsigned char common[];
__global__ void Carve(float* out, int n) {
  float* first = reinterpret_cast<float*>(common);
  double* second = reinterpret_cast<double*>(common + n * sizeof(float));
  if (threadIdx.x < n) {
    first[threadIdx.x] = threadIdx.x;
    second[threadIdx.x] = 10.0 * threadIdx.x;
  }
  __syncthreads();
  if (threadIdx.x < n) out[threadIdx.x] = first[n - 1 - threadIdx.x] + static_cast<float>(second[threadIdx.x]);
}
CASE(dynamic_shared_memory_of_the_file) {
  const int n = 48;
  Buffer<float> out(n);
  Carve<<<1, 64, n * (sizeof(float) + sizeof(double))>>>(out, n);
  SAME_ALL(out.Read(), Make<float>(n, [=](int i) { return n - 1 - i + 10.0 * i; }));
}

template <class T>
__global__ void TransposeTile(const T* in, T* out, int width, int height) {
  __shared__ T tile[8][8 + 1];
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * 8 + threadIdx.x;
  y = blockIdx.x * 8 + threadIdx.y;
  if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}
template <class T>
void CheckTranspose() {
  const int width = 29, height = 21;
  Buffer<T> in(Make<T>(width * height, [](int i) { return i; })), out(width * height);
  TransposeTile<T><<<dim3(4, 3), dim3(8, 8)>>>(in, out, width, height);
  SAME_ALL(out.Read(), Make<T>(width * height, [=](int i) { return i % height * width + i / height; }));
}
CASE(two_dimensional_tile) {
  CheckTranspose<float>();
  CheckTranspose<double>();
  CheckTranspose<short>();
}

// Two instantiations of one kernel have shared arrays of their own.
template <class T, int N>
__global__ void SumBlock(const T* in, T* out) {
  __shared__ T part[N];
  part[threadIdx.x] = in[blockIdx.x * N + threadIdx.x];
  __syncthreads();
  for (int step = N / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
CASE(reductions_of_several_types) {
  Buffer<int> ints(Make<int>(256, [](int i) { return i; })), int_sums(4);
  SumBlock<int, 64><<<4, 64>>>(ints, int_sums);
  SAME_ALL(int_sums.Read(), Make<int>(4, [](int b) { return 64 * (64 * b) + 63 * 32; }));
  Buffer<double> doubles(Make<double>(256, [](int i) { return i / 2.0; })), double_sums(2);
  SumBlock<double, 128><<<2, 128>>>(doubles, double_sums);
  SAME_ALL(double_sums.Read(), Make<double>(2, [](int b) { return (128 * (128 * b) + 127 * 64) / 2.0; }));
}

__global__ void Votes(const int* in, int* out) {
  const int value = in[threadIdx.x];
  const int results[3] = {__syncthreads_count(value > 3), __syncthreads_and(value >= 0),
                          __syncthreads_or(value == 42)};
  for (int i = 0; i < 3; ++i) out[threadIdx.x * 3 + i] = results[i] != 0 ? (i == 0 ? results[i] : 1) : 0;
}
CASE(barriers_that_vote) {
  const int threads = 70;
  Buffer<int> in(Make<int>(threads, [](int i) { return i % 7; })), out(threads * 3);
  Votes<<<1, threads>>>(in, out);
  SAME_ALL(out.Read(), Make<int>(threads * 3, [](int i) { return i % 3 == 0 ? 30 : i % 3 == 1 ? 1 : 0; }));
}

// Some threads of the last warp end before the barriers that the others reach. A device counts ended
// threads as arrived.
__global__ void EndedThreads(int* out, int n) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  if (threadIdx.x < n) atomicAdd(&total, 1);
  __syncthreads();
  out[threadIdx.x] = total;
}
CASE(shared_scalar_and_atomics) {
  Buffer<int> out(50);
  EndedThreads<<<1, 50>>>(out, 33);
  SAME_ALL(out.Read(), std::vector<int>(50, 33));
}

struct Pair {
  int key;
  float value;
};
__device__ void Swap(Pair* pairs, int i, int j) {
  if (pairs[i].key > pairs[j].key) {
    const Pair kept = pairs[i];
    pairs[i] = pairs[j];
    pairs[j] = kept;
  }
}
// Odd-even transposition: a barrier in a loop, in a device function's neighbourhood.
__global__ void SortBlock(Pair* data) {
  __shared__ Pair pairs[32];
  const int i = threadIdx.x;
  pairs[i] = data[i];
  for (int round = 0; round < 32; ++round) {
    __syncthreads();
    if (i % 2 == round % 2 && i + 1 < 32) Swap(pairs, i, i + 1);
  }
  __syncthreads();
  data[i] = pairs[i];
}
CASE(shared_structures_and_loops_with_barriers) {
  std::vector<Pair> pairs(32);
  for (int i = 0; i < 32; ++i) pairs[i] = {(i * 13) % 32, i * 0.5f};
  Buffer<Pair> data(pairs);
  SortBlock<<<1, 32>>>(data);
  const std::vector<Pair> sorted = data.Read();
  for (int i = 0; i < 32; ++i) {
    SAME(sorted[i].key, i);
    SAME(static_cast<int>(sorted[i].value * 2) * 13 % 32, i);
  }
}

// A barrier inside a function, and shared memory declared in one.
__device__ int RotateInBlock(int value) {
  __shared__ int box[128];
  box[threadIdx.x] = value;
  __syncthreads();
  const int result = box[(threadIdx.x + 1) % blockDim.x];
  __syncthreads();
  return result;
}
__global__ void RotateTwice(int* data) { data[threadIdx.x] = RotateInBlock(RotateInBlock(data[threadIdx.x])); }
CASE(barriers_and_shared_memory_in_functions) {
  Buffer<int> data(Make<int>(128, [](int i) { return i; }));
  RotateTwice<<<1, 128>>>(data);
  SAME_ALL(data.Read(), Make<int>(128, [](int i) { return (i + 2) % 128; }));
}

template <class T>
__device__ T SumOfBlock(T value) {
  __shared__ T parts[4];
  for (int delta = 16; delta > 0; delta /= 2) value += __shfl_down_sync(0xffffffffu, value, delta);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  return parts[0] + parts[1] + parts[2] + parts[3];
}
template <class T>
__global__ void TemplateSum(const T* in, T* out) {
  const T sum = SumOfBlock(in[threadIdx.x]);
  if (threadIdx.x == 0) *out = sum;
}
CASE(barriers_in_template_functions) {
  Buffer<int> in(Make<int>(128, [](int i) { return i; })), out(1);
  TemplateSum<<<1, 128>>>(static_cast<const int*>(in), static_cast<int*>(out));
  SAME(out.Read()[0], 127 * 64);
  Buffer<float> floats(128, 0.5f), sum(1);
  TemplateSum<float><<<1, 128>>>(floats, sum);
  SAME(sum.Read()[0], 64.0f);
}

// Shared memory is undefined at a block's begin, but blocks must not see each other's while they run.
__global__ void ManyBlocks(int* out) {
  __shared__ int mine;
  if (threadIdx.x == 0) mine = blockIdx.x;
  for (int i = 0; i < 50; ++i) {
    __syncthreads();
    if (threadIdx.x == i % 32) mine += 1;
  }
  __syncthreads();
  out[blockIdx.x * 32 + threadIdx.x] = mine;
}
CASE(blocks_have_their_own_shared_memory) {
  Buffer<int> out(200 * 32);
  ManyBlocks<<<200, 32>>>(out);
  SAME_ALL(out.Read(), Make<int>(200 * 32, [](int i) { return i / 32 + 50; }));
}

__global__ void ThreeDimensional(int* out) {
  __shared__ int cube[2][3][4];
  cube[threadIdx.z][threadIdx.y][threadIdx.x] = threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z;
  __syncthreads();
  const int at = (threadIdx.z * 3 + threadIdx.y) * 4 + threadIdx.x;
  out[(blockIdx.z * 2 + blockIdx.y) * 24 + at] =
      cube[1 - threadIdx.z][2 - threadIdx.y][3 - threadIdx.x] + 1000 * blockIdx.y + 10000 * blockIdx.z;
}
CASE(three_dimensional_blocks_with_barriers) {
  Buffer<int> out(4 * 24);
  ThreeDimensional<<<dim3(1, 2, 2), dim3(4, 3, 2)>>>(out);
  SAME_ALL(out.Read(), Make<int>(4 * 24, [](int i) {
             const int block = i / 24, at = i % 24;
             return 3 - at % 4 + 10 * (2 - at / 4 % 3) + 100 * (1 - at / 12) + 1000 * (block % 2) +
                    10000 * (block / 2);
           }));
}

int main(int argc, char** argv) { return checks::Main(argc, argv); }
