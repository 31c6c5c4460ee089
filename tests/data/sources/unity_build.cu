// corpus: swapped
// corpus: kernels 3
// Sources compiled as one: each with file-local names that are told apart by a macro.
#include "support.cuh"

#define UNITY_NAME(name) first_##name
#include "unity/part.cu"
#undef UNITY_NAME
#define UNITY_NAME(name) second_##name
#include "unity/part.cu"
#include "unity/other.cu"

int main() {
  support::Array<int> data(256, 1, 1);
  first_run(data.get(), 256);
  second_run(data.get(), 256);
  other_run(data.get(), 256);
  support::Show("data", data);
}
