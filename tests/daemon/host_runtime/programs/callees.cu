// Kernels that call what only an instantiation or the launch decides: it may wait, or ask for the
// thread.
#include "checks.h"

using checks::Buffer;
using checks::Make;

template <class T>
__device__ T SumOfBlock(T value) {
  __shared__ T box[64];
  box[threadIdx.x] = value;
  __syncthreads();
  T sum = 0;
  for (unsigned int i = 0; i < blockDim.x; ++i) sum += box[i];
  __syncthreads();
  return sum;
}
struct Waits {
  __device__ int operator()(int v) const { return SumOfBlock(v); }
};
struct Asks {
  __device__ int operator()(int v) const { return v + static_cast<int>(threadIdx.x); }
};
struct Policy {
  static __device__ int Get(int v) {
    __syncthreads();
    return v + static_cast<int>(threadIdx.x);
  }
};
struct Base {
  __device__ virtual int Get(int v) const { return v; }
};
struct Derived : Base {
  __device__ int Get(int v) const override { return SumOfBlock(v); }
};
__device__ int Named(int v) { return SumOfBlock(v); }

template <class F>
__global__ void CallsObject(int* data, F f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = f(data[i]);
}
template <class P>
__global__ void CallsPolicy(int* data) {
  data[threadIdx.x] = P::Get(data[threadIdx.x]);
}
template <int (*F)(int)>
__global__ void CallsFunction(int* data) {
  data[threadIdx.x] = F(data[threadIdx.x]);
}
__global__ void CallsOneType(int* data, Waits f) { data[threadIdx.x] = f(data[threadIdx.x]); }
__global__ void CallsVirtual(int* data) {
  const Derived derived;
  const Base& base = derived;
  data[threadIdx.x] = base.Get(data[threadIdx.x]);
}

__global__ void CallsItsOwn(int* data) {
  struct Local {
    __device__ static int Get() { return blockIdx.x * blockDim.x + threadIdx.x; }
  };
  const auto added = [](int v) { return v + static_cast<int>(threadIdx.x); };
  data[Local::Get()] = added(data[Local::Get()]);
}

std::vector<int> Sums() { return std::vector<int>(64, 64); }
std::vector<int> Places() {
  return Make<int>(64, [](int i) { return 1 + i; });
}

CASE(objects_that_wait_or_ask) {
  Buffer<int> sums(64, 1), places(64, 1), others(64, 1);
  CallsObject<<<1, 64>>>(static_cast<int*>(sums), Waits());
  SAME_ALL(sums.Read(), Sums());
  CallsObject<<<1, 64>>>(static_cast<int*>(places), Asks());
  SAME_ALL(places.Read(), Places());
  CallsOneType<<<1, 64>>>(others, Waits());
  SAME_ALL(others.Read(), Sums());
}
CASE(lambdas_that_wait_and_ask) {
  Buffer<int> data(64, 1), other(64, 1);
  const int more = 3;
  CallsObject<<<1, 64>>>(static_cast<int*>(data), [=] __device__(int v) {
    __syncthreads();
    return v + more + static_cast<int>(threadIdx.x);
  });
  SAME_ALL(data.Read(), Make<int>(64, [](int i) { return 4 + i; }));
  CallsObject<<<1, 64>>>(static_cast<int*>(other), [] __device__(int v) { return v * 5; });
  SAME_ALL(other.Read(), std::vector<int>(64, 5));
}
CASE(policies_functions_and_virtual_functions) {
  Buffer<int> policy(64, 1), named(64, 1), derived(64, 1);
  CallsPolicy<Policy><<<1, 64>>>(static_cast<int*>(policy));
  SAME_ALL(policy.Read(), Places());
  CallsFunction<Named><<<1, 64>>>(static_cast<int*>(named));
  SAME_ALL(named.Read(), Sums());
  CallsVirtual<<<1, 64>>>(derived);
  SAME_ALL(derived.Read(), Sums());
}

CASE(classes_and_lambdas_of_a_kernel) {
  Buffer<int> data(64, 1);
  CallsItsOwn<<<2, 32>>>(data);
  SAME_ALL(data.Read(), Make<int>(64, [](int i) { return 1 + i % 32; }));
}

int main(int argc, char** argv) { return checks::Main(argc, argv); }
