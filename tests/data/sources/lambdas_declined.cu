// corpus: declined "captures 'this'"
// corpus: declined "uses 'step' where compilers differ in what they capture"
// corpus: declined "captures the array 'table'"
// corpus: flags --extended-lambda
// Lambdas that hold more than copies of what has a name.
#include "support.cuh"

// cupilot: tune
template <class F>
__global__ void for_each(int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) f(i);
}

struct Counter {
  int* values;
  void Run() {
    for_each<<<4, 64>>>(256, [=] __device__(int i) { values[i] += 1; });
  }
};

void Steps(int* values) {
  constexpr int step = 4;
  for_each<<<4, 64>>>(256, [=] __device__(int i) {
    switch (i % 8) {
      case step:
        values[i] += 1;
    }
  });
}

void Table(int* values) {
  int table[4] = {1, 2, 3, 4};
  for_each<<<4, 64>>>(256, [=] __device__(int i) { values[i] += table[i % 4]; });
}

int main() {
  support::Array<int> data(256, 1, 1);
  Counter{data.get()}.Run();
  Steps(data.get());
  Table(data.get());
  support::Show("data", data);
}
