// foreign WHAT SECONDS [FRACTION FILL_SECONDS]: somebody else's process on the GPU.
//   spin SECONDS                        kernels without a break
//   hold SECONDS                        a context, and nothing else
//   fill SECONDS FRACTION FILL_SECONDS  a context, and at first so much of the memory
// Prints "context T" when its context is there and "begin T" when it begins to do something, T in
// nanoseconds of the steady clock.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

using std::chrono::steady_clock;

__global__ void spin(float* out, int rounds) {
  float x = threadIdx.x;
  for (int r = 0; r < rounds; ++r) x = x * 0.999f + 0.001f;
  if (x < 0) *out = x;
}

void Say(const char* what) {
  const auto now = steady_clock::now().time_since_epoch();
  std::printf(
      "%s %lld\n", what,
      static_cast<long long>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()));
  std::fflush(stdout);
}

void Check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::printf("failed %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

steady_clock::time_point After(double seconds) {
  return steady_clock::now() +
         std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(seconds));
}

void Spin(steady_clock::time_point end) {
  int processors = 0;
  Check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0), "attribute");
  Say("begin");
  while (steady_clock::now() < end) {
    spin<<<processors * 4, 512>>>(nullptr, 200000);
    Check(cudaDeviceSynchronize(), "kernel");
  }
}

void Fill(double fraction, double seconds) {
  std::size_t free = 0, total = 0;
  void* memory = nullptr;
  Check(cudaMemGetInfo(&free, &total), "memory");
  const auto bytes = static_cast<std::size_t>(fraction * static_cast<double>(total));
  Check(cudaMalloc(&memory, bytes), "allocation");
  Say("begin");
  std::this_thread::sleep_until(After(seconds));
  Check(cudaFree(memory), "free");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto end = After(std::atof(argv[2]));
  Check(cudaFree(nullptr), "context");
  Say("context");
  if (std::strcmp(argv[1], "spin") == 0) {
    Spin(end);
  } else if (std::strcmp(argv[1], "fill") == 0 && argc == 5) {
    Fill(std::atof(argv[3]), std::atof(argv[4]));
  }
  std::this_thread::sleep_until(end);
  return 0;
}
