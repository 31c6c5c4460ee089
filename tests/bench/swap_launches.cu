// Times launches of kernels that do next to nothing: one without a variant, one whose variant runs,
// one whose guard fails. Prints three medians in nanoseconds of host time, and what each launch
// costs when the three are taken in turns, so that the clock's drift hits all alike.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace bench {
__global__ void without(int* out, int n) {
  if (n < 0) *out = n;
}
__global__ void tuned(int* out, int n) {
  if (n < 0) *out = n;
}
__global__ void missed(int* out, int n) {
  if (n < 0) *out = n;
}
}  // namespace bench

static double Now() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 20000;
  const int batch = 50;
  int* out = nullptr;
  if (cudaMalloc(&out, sizeof(int)) != cudaSuccess) {
    std::printf("no device\n");
    return 3;
  }
  std::vector<double> times[3];
  for (int round = 0; round < rounds; ++round) {
    for (int which = 0; which < 3; ++which) {
      const double begin = Now();
      for (int i = 0; i < batch; ++i) {
        if (which == 0) bench::without<<<1, 32>>>(out, 1);
        if (which == 1) bench::tuned<<<1, 32>>>(out, 1);
        if (which == 2) bench::missed<<<1, 32>>>(out, 1);
      }
      times[which].push_back((Now() - begin) / batch);
      cudaDeviceSynchronize();
    }
  }
  for (std::vector<double>& all : times) {
    std::nth_element(all.begin(), all.begin() + all.size() / 2, all.end());
    std::printf("%.1f\n", all[all.size() / 2]);
  }
}
