// Atomic operations of every kind and type: many threads on few words, against a plain loop, and the
// old value that each returns, against the definition.
#include "checks.h"

using checks::Buffer;
using checks::Make;

constexpr int kBlocks = 20, kThreads = 96, kAll = kBlocks * kThreads;

// Each operation as a type: what it does on the device, and what on the host.
#define OPERATION(Name, device_call, host_expression)                           \
  struct Name {                                                                 \
    template <class T>                                                          \
    static __device__ T Do(T* address, T value) {                               \
      return device_call;                                                       \
    }                                                                           \
    template <class T>                                                          \
    static T Expect(T old, T value) {                                           \
      return static_cast<T>(host_expression);                                   \
    }                                                                           \
  };
OPERATION(Add, atomicAdd(address, value), old + value)
OPERATION(Sub, atomicSub(address, value), old - value)
OPERATION(Min, atomicMin(address, value), value < old ? value : old)
OPERATION(Max, atomicMax(address, value), old < value ? value : old)
OPERATION(And, atomicAnd(address, value), old& value)
OPERATION(Or, atomicOr(address, value), old | value)
OPERATION(Xor, atomicXor(address, value), old ^ value)
OPERATION(Exchange, atomicExch(address, value), value)
OPERATION(Increment, atomicInc(address, value), old >= value ? 0 : old + 1)
OPERATION(Decrement, atomicDec(address, value), old == 0 || old > value ? value : old - 1)
OPERATION(AddBlock, atomicAdd_block(address, value), old + value)
OPERATION(AddSystem, atomicAdd_system(address, value), old + value)
OPERATION(MaxBlock, atomicMax_block(address, value), old < value ? value : old)

template <class Operation, class T>
__global__ void Once(T* word, T value, T* old) {
  *old = Operation::Do(word, value);
}
template <class Operation, class T>
__global__ void Many(T* words, int modulus) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  Operation::Do(&words[i % modulus], static_cast<T>(i % 97 + 1));
}

template <class Operation, class T>
void CheckOnce() {
  for (const int start : {0, 1, 5, 100}) {
    for (const int value : {0, 1, 5, 77}) {
      Buffer<T> word(1, static_cast<T>(start)), old(1, static_cast<T>(-1));
      Once<Operation, T><<<1, 1>>>(word, static_cast<T>(value), old);
      SAME(old.Read()[0], static_cast<T>(start));
      SAME(word.Read()[0], Operation::template Expect<T>(static_cast<T>(start), static_cast<T>(value)));
    }
  }
}
// For operations whose result does not depend on the order.
template <class Operation, class T>
void CheckMany() {
  const int modulus = 5;
  Buffer<T> words(modulus, static_cast<T>(50));
  Many<Operation, T><<<kBlocks, kThreads>>>(static_cast<T*>(words), modulus);
  std::vector<T> expected(modulus, static_cast<T>(50));
  for (int i = 0; i < kAll; ++i) {
    expected[i % modulus] = Operation::template Expect<T>(expected[i % modulus], static_cast<T>(i % 97 + 1));
  }
  SAME_ALL(words.Read(), expected);
}
template <class Operation, class T>
void Check() {
  CheckOnce<Operation, T>();
  CheckMany<Operation, T>();
}
template <class T>
void CheckInteger() {
  Check<Min, T>();
  Check<Max, T>();
  Check<And, T>();
  Check<Or, T>();
  Check<Xor, T>();
}

CASE(integers) {
  CheckInteger<int>();
  CheckInteger<unsigned int>();
  CheckInteger<unsigned long long>();
  CheckInteger<long long>();
}
CASE(sums) {
  Check<Add, int>();
  Check<Add, unsigned int>();
  Check<Add, unsigned long long>();
  Check<Add, float>();  // whole numbers, so that every order gives the same
  Check<Add, double>();
  Check<Sub, int>();
  Check<Sub, unsigned int>();
}
CASE(scopes) {
  Check<AddBlock, int>();
  Check<AddSystem, double>();
  Check<MaxBlock, unsigned int>();
}
CASE(counters_that_wrap) {
  CheckOnce<Increment, unsigned int>();
  CheckOnce<Decrement, unsigned int>();
}
CASE(exchanges) {
  CheckOnce<Exchange, int>();
  CheckOnce<Exchange, unsigned int>();
  CheckOnce<Exchange, unsigned long long>();
  CheckOnce<Exchange, float>();
}

__global__ void Negative(int* least, int* most) {
  atomicMin(least, -static_cast<int>(threadIdx.x));
  atomicMax(most, -static_cast<int>(threadIdx.x));
}
CASE(minimum_of_negative_numbers) {
  Buffer<int> least(1, 100), most(1, -100);
  Negative<<<1, 50>>>(least, most);
  SAME(least.Read()[0], -49);
  SAME(most.Read()[0], 0);
}

template <class T>
__global__ void CompareAndSwap(T* word, T compare, T value, T* old) {
  *old = atomicCAS(word, compare, value);
}
template <class T>
void CheckCompareAndSwap() {
  Buffer<T> word(1, static_cast<T>(7)), old(1);
  CompareAndSwap<T><<<1, 1>>>(word, static_cast<T>(6), static_cast<T>(9), old);
  SAME(old.Read()[0], static_cast<T>(7));
  SAME(word.Read()[0], static_cast<T>(7));
  CompareAndSwap<T><<<1, 1>>>(word, static_cast<T>(7), static_cast<T>(9), old);
  SAME(old.Read()[0], static_cast<T>(7));
  SAME(word.Read()[0], static_cast<T>(9));
}
CASE(compare_and_swap) {
  CheckCompareAndSwap<int>();
  CheckCompareAndSwap<unsigned int>();
  CheckCompareAndSwap<unsigned long long>();
  CheckCompareAndSwap<unsigned short>();
}

// As programs write an operation that the device does not have.
__device__ double AtomicMultiply(double* address, double value) {
  unsigned long long* word = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = *word, assumed;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, __double_as_longlong(value * __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}
__global__ void MultiplyAll(double* product) { AtomicMultiply(product, threadIdx.x % 2 == 0 ? 2.0 : 0.5); }
CASE(loops_around_compare_and_swap) {
  Buffer<double> product(1, 3.0);
  MultiplyAll<<<64, 64>>>(product);
  SAME(product.Read()[0], 3.0);
}

__global__ void Histogram(const unsigned char* in, int n, unsigned int* bins) {
  __shared__ unsigned int mine[16];
  if (threadIdx.x < 16) mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&mine[in[i] & 15], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
CASE(shared_and_global_histogram) {
  const int n = 10007;
  const std::vector<unsigned char> values = Make<unsigned char>(n, [](int i) { return i * 31 % 251; });
  Buffer<unsigned char> in(values);
  Buffer<unsigned int> bins(16);
  Histogram<<<7, 64>>>(in, n, bins);
  std::vector<unsigned int> expected(16);
  for (const unsigned char v : values) ++expected[v & 15];
  SAME_ALL(bins.Read(), expected);
}

__device__ unsigned int tickets;
__global__ void LastBlock(const int* in, int* partial, int* out) {
  __shared__ bool last;
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (int b = 0; b < gridDim.x; ++b) total += partial[b];
    *out = total;
  }
}
CASE(the_last_block_finishes) {
  Buffer<int> in(kAll, 1), partial(kBlocks), out(1);
  for (int round = 0; round < 20; ++round) {
    cudaMemset(out, 0, sizeof(int));
    LastBlock<<<kBlocks, kThreads>>>(in, partial, out);
    SAME(out.Read()[0], kAll);
  }
}

int main(int argc, char** argv) { return checks::Main(argc, argv); }
