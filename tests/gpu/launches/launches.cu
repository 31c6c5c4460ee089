// Host time of a launch: of a kernel in an object without us (this file with -DPLAIN, compiled as it is), and in a
// swapped object of one without a variant, of one whose variant runs, of one whose guard fails, and of one with a variant
// for each of three sizes, where the guard that is asked last holds. Each launch is timed by itself. Prints the five
// medians in nanoseconds three times: of launches that follow others of their own kind, as in
// a program's loop, in runs whose order changes; of launches that take turns in an order that changes, so that each
// finds the processor's predictions and caches with another one's; and as the first, on a stream of the program's, which
// might be capturing.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

extern cudaStream_t stream;
void LaunchPlain(int* out, int n);

#if defined(PLAIN)
__global__ void plain(int* out, int n) {
  if (n < 0) *out = n;
}
void LaunchPlain(int* out, int n) { plain<<<1, 32, 0, stream>>>(out, n); }
#else
cudaStream_t stream = nullptr;
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
__global__ void sized(int* out, int n) {
  if (n < 0) *out = n;
}
}  // namespace bench

static void LaunchWithout(int* out, int n) { bench::without<<<1, 32, 0, stream>>>(out, n); }
static void LaunchTuned(int* out, int n) { bench::tuned<<<1, 32, 0, stream>>>(out, n); }
static void LaunchMissed(int* out, int n) { bench::missed<<<1, 32, 0, stream>>>(out, n); }

static void LaunchSized(int* out, int n) { bench::sized<<<1, 32, 0, stream>>>(out, n); }

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

using Launch = void (*)(int*, int);

constexpr int kKinds = 5;
const Launch kLaunches[kKinds] = {LaunchPlain, LaunchWithout, LaunchTuned, LaunchMissed, LaunchSized};

// In runs of `in_a_row` launches of one kind; of each kind at least `count`.
static bool Medians(int* out, int count, int in_a_row) {
  std::vector<float> times[kKinds];
  for (auto& all : times) all.reserve(static_cast<std::size_t>(count + in_a_row));
  const double began = Nanoseconds();
  const unsigned long long began_ticks = Ticks();
  unsigned state = 1;
  int since_wait = 0;
  while (times[0].size() < static_cast<std::size_t>(count)) {
    state = state * 1664525 + 1013904223;
    const int first = static_cast<int>((state >> 16) % kKinds), step = 1 + static_cast<int>(state >> 30);
    for (int k = 0; k < kKinds; ++k) {
      const int which = (first + k * step) % kKinds;
      for (int i = 0; i < in_a_row; ++i) {
        const unsigned long long begin = Ticks();
        kLaunches[which](out, 1);
        const unsigned long long end = Ticks();
        times[which].push_back(static_cast<float>(end - begin));
      }
    }
    // The queue never fills; a few launches that are not timed follow a wait, which leaves the caches cold.
    since_wait += kKinds * in_a_row;
    if (since_wait >= 256) {
      since_wait = 0;
      cudaDeviceSynchronize();
      for (const Launch launch : kLaunches) launch(out, 1);
    }
  }
  if (cudaDeviceSynchronize() != cudaSuccess) return false;
  const double tick = (Nanoseconds() - began) / static_cast<double>(Ticks() - began_ticks);
  for (auto& all : times) {
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
    std::printf("%.1f ", all[all.size() / 2] * tick);
  }
  return true;
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 1000000;
  int* out = nullptr;
  if (cudaMalloc(&out, sizeof(int)) != cudaSuccess) {
    std::printf("no device\n");
    return 3;
  }
  for (const Launch launch : kLaunches) {
    for (int i = 0; i < 100; ++i) launch(out, 1);  // the first ones load the code
  }
  if (!Medians(out, count, 32) || !Medians(out, count, 1)) return 1;
  if (cudaStreamCreate(&stream) != cudaSuccess || !Medians(out, count, 32)) return 1;
  std::printf("\n");
  return 0;
}
#endif
