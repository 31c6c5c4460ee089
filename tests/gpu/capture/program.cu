// A program of 30 kernels, to be captured: 27 that nobody plans to record, launched by several
// threads on streams of their own and by a graph, and three that are recorded, whose memory the
// program saves itself where SAVED names a file. It knows nothing of being captured.
//
//   program RESULTS LAUNCHES       all of it; the results go to the file
//   program cost LAUNCHES          prints nanoseconds of a launch of an empty kernel: the host's,
//   and all program large MEGABYTES        one recorded launch of two buffers of that size program
//   extra RESULTS          launches by the driver's packed buffers program devices RESULTS
//   launches on each GPU in turns program forked RESULTS launches,
//   and has a child that does nothing program reset RESULTS          launches before and after the
//   device is reset program mapped RESULTS         a launch on memory that is mapped into a longer
//   range of addresses program waiting RESULTS        a kernel waits for the host, while others are
//   launched
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    const cudaError_t result = (call);                                             \
    if (result != cudaSuccess) {                                                   \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(result)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (false)

struct Pair {
  int tag;
  const float* in;
  float* out;
};

namespace app {

__global__ void scale(float* out, const float* in, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = out[i] * 0.5f + in[i] * factor;
}

__global__ void gather(float* const* table, float* out, int count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int k = 0; k < count; ++k) {
    out[i] += table[k][i];
    table[k][i] *= 0.75f;
  }
}

__device__ float bias;

}  // namespace app

namespace {

__constant__ float weights[4];
static __device__ float calls;

__global__ void blend(Pair pair, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) pair.out[i] += pair.in[i] * weights[i % 4] + app::bias + pair.tag;
  if (i == 0) calls += 1;
}

}  // namespace

template <int N>
__global__ void work(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * 0.5f + N;
}

__global__ void nothing(int) {}

__global__ void wait_for_host(volatile int* flag) {
  while (*flag == 0) {
  }
}

namespace {

constexpr int kCount = 4096, kKinds = 27, kThreads = 4, kTable = 3;

template <int... N>
void LaunchWork(int kind, int blocks, cudaStream_t stream, float* data, int n,
                std::integer_sequence<int, N...>) {
  using Launcher = void (*)(int, cudaStream_t, float*, int);
  static constexpr Launcher launchers[] = {
      [](int b, cudaStream_t s, float* d, int count) { work<N><<<b, 128, 0, s>>>(d, count); }...};
  launchers[kind](blocks, stream, data, n);
}
void LaunchWork(int kind, int blocks, cudaStream_t stream, float* data, int n) {
  LaunchWork(kind, blocks, stream, data, n, std::make_integer_sequence<int, kKinds>());
}

struct Buffer {
  void* data;
  std::size_t bytes;
};

// "launch NAME INDEX COUNT", then for each buffer its address, its bytes, before and after.
class Saved {
 public:
  Saved() {
    const char* path = std::getenv("SAVED");
    if (path != nullptr) file_ = std::fopen(path, "wb");
  }
  ~Saved() {
    if (file_ != nullptr) std::fclose(file_);
  }
  template <class Launch>
  void Around(const char* name, int index, const std::vector<Buffer>& buffers, cudaStream_t stream,
              Launch launch) {
    std::vector<std::string> before;
    if (file_ != nullptr) before = Read(buffers, stream);
    launch();
    CHECK(cudaGetLastError());
    if (file_ == nullptr) return;
    const std::vector<std::string> after = Read(buffers, stream);
    std::fprintf(file_, "launch %s %d %zu\n", name, index, buffers.size());
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      std::fprintf(file_, "%llu %zu\n", reinterpret_cast<unsigned long long>(buffers[i].data),
                   buffers[i].bytes);
      std::fwrite(before[i].data(), 1, before[i].size(), file_);
      std::fwrite(after[i].data(), 1, after[i].size(), file_);
    }
  }

 private:
  static std::vector<std::string> Read(const std::vector<Buffer>& buffers, cudaStream_t stream) {
    std::vector<std::string> all;
    for (const Buffer& buffer : buffers) {
      std::string& bytes = all.emplace_back(buffer.bytes, '\0');
      CHECK(cudaMemcpyAsync(bytes.data(), buffer.data, buffer.bytes, cudaMemcpyDefault, stream));
      CHECK(cudaStreamSynchronize(stream));
    }
    return all;
  }
  std::FILE* file_ = nullptr;
};

float* Filled(std::size_t count, int seed) {
  std::vector<float> host(count);
  for (std::size_t i = 0; i < count; ++i) {
    host[i] = static_cast<float>((i * 2654435761u + seed * 40503u) % 1000) / 500 - 1;
  }
  float* device = nullptr;
  CHECK(cudaMalloc(&device, count * sizeof(float)));
  CHECK(cudaMemcpy(device, host.data(), count * sizeof(float), cudaMemcpyHostToDevice));
  return device;
}

void Write(std::FILE* file, const float* device, std::size_t count) {
  std::vector<float> host(count);
  CHECK(cudaMemcpy(host.data(), device, count * sizeof(float), cudaMemcpyDefault));
  std::fwrite(host.data(), sizeof(float), count, file);
}

// Other threads: the kernels that are only counted, with copies and memsets between them.
void Work(int thread, int launches, float* data, float* scratch) {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int i = 0; i < launches; ++i) {
    LaunchWork((i + thread) % kKinds, kCount / 128, stream, data, kCount);
    if (i % 500 == 499) {
      CHECK(cudaMemcpyAsync(scratch, data, kCount * sizeof(float), cudaMemcpyDefault, stream));
      CHECK(cudaMemsetAsync(scratch, 0, 64, stream));
      CHECK(cudaStreamSynchronize(stream));
    }
  }
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaStreamDestroy(stream));
}

int All(const char* path, int launches) {
  std::FILE* results = std::fopen(path, "wb");
  if (results == nullptr) return 1;
  const float host_weights[4] = {0.25f, 0.5f, -0.25f, 1};
  CHECK(cudaMemcpyToSymbol(weights, host_weights, sizeof host_weights));
  const float half = 0.5f;
  CHECK(cudaMemcpyToSymbol(app::bias, &half, sizeof half));
  float *in = Filled(kCount, 1), *out = Filled(kCount, 2), *blended = Filled(kCount, 3);
  float* managed = nullptr;
  CHECK(cudaMallocManaged(&managed, kCount * sizeof(float)));
  float* pinned = nullptr;
  CHECK(cudaMallocHost(&pinned, kCount * sizeof(float)));
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  float* pooled = nullptr;
  CHECK(cudaMallocAsync(&pooled, kCount * sizeof(float), stream));
  CHECK(cudaMemsetAsync(pooled, 0, kCount * sizeof(float), stream));
  for (int i = 0; i < kCount; ++i) {
    managed[i] = static_cast<float>(i % 7);
    pinned[i] = static_cast<float>(i % 11);
  }
  float* rows[kTable] = {Filled(kCount, 4), Filled(kCount, 5), Filled(kCount, 6)};
  float** table = nullptr;
  CHECK(cudaMalloc(&table, sizeof rows));
  CHECK(cudaMemcpy(table, rows, sizeof rows, cudaMemcpyDefault));
  float *data[kThreads], *scratch[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    data[i] = Filled(kCount, 10 + i);
    scratch[i] = Filled(kCount, 20 + i);
  }
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  app::scale<<<kCount / 128, 128, 0, stream>>>(out, in, 0.125f, kCount);
  LaunchWork(5, kCount / 128, stream, out, kCount);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaDeviceSynchronize());

  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back(Work, i, launches / kThreads, data[i], scratch[i]);
  }
  {
    Saved saved;
    const std::size_t bytes = kCount * sizeof(float);
    for (int i = 0; i < 20; ++i) {
      saved.Around("scale", i, {{out, bytes}, {in, bytes}}, stream,
                   [&] { app::scale<<<kCount / 128, 128, 0, stream>>>(out, in, 1.5f, kCount); });
      // A part of an allocation of a pool, and managed memory: a geometry of its own.
      saved.Around("scale_half", i, {{pooled, bytes}, {managed, bytes}}, stream, [&] {
        app::scale<<<kCount / 256, 128, 0, stream>>>(pooled + kCount / 2, managed + 16, 1.5f,
                                                     kCount / 2);
      });
      saved.Around("blend", i, {{blended, bytes}, {pinned, bytes}}, stream, [&] {
        blend<<<kCount / 256, 256, 0, stream>>>(Pair{2, pinned, blended}, kCount);
      });
      saved.Around(
          "gather", i,
          {{table, sizeof rows},
           {out, bytes},
           {rows[0], bytes},
           {rows[1], bytes},
           {rows[2], bytes}},
          stream, [&] { app::gather<<<kCount / 64, 64, 0, stream>>>(table, out, kTable, kCount); });
      CHECK(cudaGraphLaunch(exec, stream));
    }
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(cudaDeviceSynchronize());
  for (const float* buffer : {out, blended, managed, pooled, rows[0], rows[1], rows[2]}) {
    Write(results, buffer, kCount);
  }
  for (int i = 0; i < kThreads; ++i) {
    Write(results, data[i], kCount);
    Write(results, scratch[i], kCount);
  }
  std::fclose(results);
  return 0;
}

// Host time of a launch into a queue that has room, median of bursts, and of all of them with the
// waits between.
int Cost(int launches) {
  constexpr int kBurst = 500;
  using Clock = std::chrono::steady_clock;
  const auto nanoseconds = [](Clock::duration time) {
    return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
  };
  std::vector<double> bursts;
  Clock::time_point begin;
  for (int i = -4; i < launches / kBurst; ++i) {
    if (i == 0) begin = Clock::now();
    const auto first = Clock::now();
    for (int k = 0; k < kBurst; ++k) nothing<<<1, 32>>>(k % 4);
    bursts.push_back(nanoseconds(Clock::now() - first) / kBurst);
    CHECK(cudaDeviceSynchronize());
  }
  const double all = nanoseconds(Clock::now() - begin) / (launches / kBurst * kBurst);
  std::sort(bursts.begin(), bursts.end());
  std::printf("%.1f %.1f\n", bursts[bursts.size() / 2], all);
  return 0;
}

int Large(std::size_t megabytes) {
  const std::size_t count = (megabytes << 20) / sizeof(float);
  float *in = nullptr, *out = nullptr;
  CHECK(cudaMalloc(&in, count * sizeof(float)));
  CHECK(cudaMalloc(&out, count * sizeof(float)));
  CHECK(cudaMemset(in, 1, count * sizeof(float)));
  CHECK(cudaMemset(out, 2, count * sizeof(float)));
  app::scale<<<1, 128>>>(out, in, 0.5f, 128);
  CHECK(cudaDeviceSynchronize());
  const auto begin = std::chrono::steady_clock::now();
  app::scale<<<static_cast<unsigned>(count / 128), 128>>>(out, in, 1.5f, static_cast<int>(count));
  CHECK(cudaDeviceSynchronize());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("%.4f\n", seconds.count());
  return 0;
}

int Extra(const char* path) {
  std::FILE* results = std::fopen(path, "wb");
  if (results == nullptr) return 1;
  float *in = Filled(kCount, 1), *out = Filled(kCount, 2);
  void* launch_kernel = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuLaunchKernel", &launch_kernel, 12000, cudaEnableDefault,
                                         &found));
  cudaFunction_t function;
  CHECK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(&app::scale)));
  struct Packed {
    float* out;
    const float* in;
    float factor;
    int n;
  } packed = {out, in, 2.5f, kCount};
  std::size_t bytes = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  Saved saved;
  for (int i = 0; i < 3; ++i) {
    saved.Around("scale_extra", i, {{out, kCount * 4}, {in, kCount * 4}}, nullptr, [&] {
      const CUresult result = reinterpret_cast<decltype(&cuLaunchKernel)>(launch_kernel)(
          reinterpret_cast<CUfunction>(function), kCount / 128, 1, 1, 128, 1, 1, 0, nullptr,
          nullptr, extra);
      if (result != CUDA_SUCCESS) std::exit(1);
    });
  }
  Write(results, out, kCount);
  std::fclose(results);
  return 0;
}

// By one thread on all GPUs in turns, each with memory of its own.
int Devices(const char* path) {
  std::FILE* results = std::fopen(path, "wb");
  int count = 0;
  CHECK(cudaGetDeviceCount(&count));
  if (results == nullptr || count < 2) return 1;
  std::vector<std::pair<float*, float*>> buffers;
  for (int device = 0; device < count; ++device) {
    CHECK(cudaSetDevice(device));
    buffers.push_back({Filled(kCount, 2 * device), Filled(kCount, 2 * device + 1)});
  }
  Saved saved;
  for (int i = 0; i < 3 * count; ++i) {
    CHECK(cudaSetDevice(i % count));
    const auto [out, in] = buffers[i % count];
    saved.Around("scale_extra", i, {{out, kCount * 4}, {in, kCount * 4}}, nullptr, [out = out, in = in] {
      app::scale<<<kCount / 128, 128>>>(out, in, 2.5f, kCount);
    });
  }
  for (int device = 0; device < count; ++device) {
    CHECK(cudaSetDevice(device));
    Write(results, buffers[device].first, kCount);
  }
  std::fclose(results);
  return 0;
}

int Forked(const char* path) {
  std::FILE* results = std::fopen(path, "wb");
  if (results == nullptr) return 1;
  float *in = Filled(kCount, 1), *out = Filled(kCount, 2);
  app::scale<<<kCount / 128, 128>>>(out, in, 1.5f, kCount);
  CHECK(cudaDeviceSynchronize());
  const pid_t child = ::fork();
  if (child == 0) std::exit(0);
  int status = 0;
  ::waitpid(child, &status, 0);
  app::scale<<<kCount / 128, 128>>>(out, in, 1.5f, kCount);
  Write(results, out, kCount);
  std::fclose(results);
  return status;
}

int Reset(const char* path) {
  std::FILE* results = std::fopen(path, "wb");
  if (results == nullptr) return 1;
  for (int i = 0; i < 2; ++i) {
    float *in = Filled(kCount, 1), *out = Filled(kCount, 2);
    for (int k = 0; k < 5; ++k) app::scale<<<kCount / 128, 128>>>(out, in, 1.5f, kCount);
    Write(results, out, kCount);
    CHECK(cudaDeviceReset());
  }
  std::fclose(results);
  return 0;
}

template <class Function>
Function Driver(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found));
  return reinterpret_cast<Function>(function);
}

// Two mappings that touch each other, and a third that does not.
int Mapped(const char* path) {
  std::FILE* results = std::fopen(path, "wb");
  if (results == nullptr) return 1;
  float* in = Filled(kCount, 1);
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  constexpr std::size_t kPart = std::size_t{2} << 20;
  CUdeviceptr base = 0;
  int failed =
      Driver<decltype(&cuMemAddressReserve)>("cuMemAddressReserve")(&base, 8 * kPart, 0, 0, 0);
  CUmemAccessDesc access{};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  for (const int part : {1, 2, 5}) {
    CUmemGenericAllocationHandle handle = 0;
    const CUdeviceptr at = base + part * kPart;
    failed += Driver<decltype(&cuMemCreate)>("cuMemCreate")(&handle, kPart, &properties, 0);
    failed += Driver<decltype(&cuMemMap)>("cuMemMap")(at, kPart, 0, handle, 0);
    failed += Driver<decltype(&cuMemSetAccess)>("cuMemSetAccess")(at, kPart, &access, 1);
  }
  if (failed != 0) return 1;
  float* first = reinterpret_cast<float*>(base + kPart);
  float* out = reinterpret_cast<float*>(base + 2 * kPart) - kCount / 2;
  CHECK(cudaMemset(first, 0, 2 * kPart));
  Saved saved;
  saved.Around("scale_extra", 0, {{first, 2 * kPart}, {in, kCount * 4}}, nullptr,
               [&] { app::scale<<<kCount / 128, 128>>>(out, in, 1.5f, kCount); });
  Write(results, out, kCount);
  std::fclose(results);
  return 0;
}

int Waiting(const char* path) {
  std::FILE* results = std::fopen(path, "wb");
  if (results == nullptr) return 1;
  float *in = Filled(kCount, 1), *out = Filled(kCount, 2);
  int* flag = nullptr;
  CHECK(cudaMallocHost(&flag, sizeof *flag));
  *flag = 0;
  cudaStream_t waiter, stream;
  CHECK(cudaStreamCreateWithFlags(&waiter, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  // What runs beside a kernel that waits must have been loaded: loading may wait for the device.
  app::scale<<<kCount / 256, 128, 0, stream>>>(out, in, 0.5f, kCount / 2);
  CHECK(cudaStreamSynchronize(stream));
  wait_for_host<<<1, 1, 0, waiter>>>(flag);
  for (int i = 0; i < 5; ++i) app::scale<<<kCount / 128, 128, 0, stream>>>(out, in, 1.5f, kCount);
  CHECK(cudaStreamSynchronize(stream));
  *static_cast<volatile int*>(flag) = 1;
  CHECK(cudaStreamSynchronize(waiter));
  Write(results, out, kCount);
  std::fclose(results);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string mode = argv[1];
  if (mode == "cost") return Cost(std::atoi(argv[2]));
  if (mode == "large") return Large(static_cast<std::size_t>(std::atoi(argv[2])));
  if (mode == "extra") return Extra(argv[2]);
  if (mode == "devices") return Devices(argv[2]);
  if (mode == "forked") return Forked(argv[2]);
  if (mode == "reset") return Reset(argv[2]);
  if (mode == "mapped") return Mapped(argv[2]);
  if (mode == "waiting") return Waiting(argv[2]);
  return All(argv[1], std::atoi(argv[2]));
}
