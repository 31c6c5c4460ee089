// Host time of a launch: of a kernel in an object without us (this file with -DPLAIN, compiled as it is), and in a
// swapped object of one without a variant, of one whose variant runs and of one whose guard fails. Each launch is timed
// by itself, in turns whose order changes. Prints the four medians in nanoseconds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

void LaunchPlain(int* out, int n);

#if defined(PLAIN)
__global__ void plain(int* out, int n) {
  if (n < 0) *out = n;
}
void LaunchPlain(int* out, int n) { plain<<<1, 32>>>(out, n); }
#else
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

static void LaunchWithout(int* out, int n) { bench::without<<<1, 32>>>(out, n); }
static void LaunchTuned(int* out, int n) { bench::tuned<<<1, 32>>>(out, n); }
static void LaunchMissed(int* out, int n) { bench::missed<<<1, 32>>>(out, n); }

static double Nanoseconds() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The clock of some machines counts in steps of 10 ns: the processor's counter is finer.
static unsigned long long Ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<unsigned long long>(Nanoseconds());
#endif
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1000000;
  void (*const launch[4])(int*, int) = {LaunchPlain, LaunchWithout, LaunchTuned, LaunchMissed};
  int* out = nullptr;
  if (cudaMalloc(&out, sizeof(int)) != cudaSuccess) {
    std::printf("no device\n");
    return 3;
  }
  std::vector<float> times[4];
  for (auto& all : times) all.reserve(static_cast<std::size_t>(rounds));
  const double began = Nanoseconds();
  const unsigned long long began_ticks = Ticks();
  unsigned state = 1;
  for (int round = -1000; round < rounds; ++round) {  // the first ones load the code
    state = state * 1664525 + 1013904223;
    const int first = static_cast<int>(state >> 30), step = (state >> 29 & 1) != 0 ? 1 : 3;
    for (int k = 0; k < 4; ++k) {
      const int which = (first + k * step) % 4;
      const unsigned long long begin = Ticks();
      launch[which](out, 1);
      const unsigned long long end = Ticks();
      if (round >= 0) times[which].push_back(static_cast<float>(end - begin));
    }
    // The queue never fills; a few launches that are not timed follow a wait, which leaves the caches cold.
    if (round % 64 == 0) {
      cudaDeviceSynchronize();
      for (int k = 0; k < 4; ++k) launch[k](out, 1);
    }
  }
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  const double tick = (Nanoseconds() - began) / static_cast<double>(Ticks() - began_ticks);
  for (auto& all : times) {
    std::nth_element(all.begin(), all.begin() + all.size() / 2, all.end());
    std::printf("%.1f ", all[all.size() / 2] * tick);
  }
  std::printf("\n");
  return 0;
}
#endif
