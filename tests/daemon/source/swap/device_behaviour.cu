// A user's program on a real device: what it computes must not depend on whether it was swapped,
// and `scale` in its swapped form leaves marks of the variants in `seen`. Prints what does not
// hold; exit 3 without a device.
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

// [1]: the plain variant's launches, [2]: the one's of several steps, [3]: of variants for other images
__device__ int seen[4];

namespace app {
__global__ void scale(float factor, const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) atomicAdd(&seen[0], 1);
  if (i < n) out[i] = factor * in[i];
}
}  // namespace app

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) std::printf("line %d: %s\n", __LINE__, #condition); \
  } while (false)

struct Seen {
  int original, plain, steps;
};

static Seen TakeSeen() {
  int values[4] = {0, 0, 0, 0};
  cudaMemcpyFromSymbol(values, seen, sizeof values);
  const int zero[4] = {0, 0, 0, 0};
  cudaMemcpyToSymbol(seen, zero, sizeof zero);
  cudaDeviceSynchronize();  // the copy may still be under way, and other streams do not wait for it
  CHECK(values[3] == 0);
  return {values[0], values[1], values[2]};
}

static float *in, *out;
static std::vector<float> host(1 << 16);

static bool Right(int n, float factor) {
  cudaMemcpy(host.data(), out, sizeof(float) * n, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) {
    if (host[i] != factor * static_cast<float>(i)) return false;
  }
  return true;
}

static void Scale(int n, float factor, cudaStream_t stream = 0) {
  cudaMemset(out, 0, sizeof(float) * host.size());
  app::scale<<<(n + 127) / 128, 128, 0, stream>>>(factor, in, out, n);
}

// Expected counts where variants run; all are the original's in an unswapped or disabled program.
static void Plain(bool tuned) {
  Scale(1000, 3);
  CHECK(Right(1000, 3));
  const Seen even = TakeSeen();
  CHECK(even.plain == (tuned ? 1 : 0) && even.original == (tuned ? 0 : 1));
  Scale(1001, 3);
  CHECK(Right(1001, 3));
  const Seen odd = TakeSeen();
  CHECK(odd.steps == (tuned ? 1 : 0) && odd.original == (tuned ? 0 : 1));
  Scale(11, 3);
  CHECK(Right(11, 3));
  CHECK(TakeSeen().original == 1);
}

#if defined(CUPILOT_HOST_ABI_VERSION) || CUDART_VERSION < 13000 || defined(CUPILOT_TUNED_GRAPHS)
constexpr bool kByDriver = false;
#else
constexpr bool kByDriver = true;  // which leaves the runtime's last error alone
#endif

static void Errors(bool tuned) {
  app::scale<<<0, 128>>>(3, in, out, 1000);
  CHECK(cudaGetLastError() != cudaSuccess);
  app::scale<<<1, 2048>>>(3, in, out, 1000);
  CHECK(cudaGetLastError() != cudaSuccess);
  app::scale<<<1, 128, 1 << 20>>>(3, in, out, 1000);
  CHECK(cudaGetLastError() != cudaSuccess);
  cudaMalloc(nullptr, 1);  // an error of the program's own stays until it asks
  Scale(1000, 3);
  Scale(1001, 3);  // tuned, it is several launches
  const Seen seen_then = TakeSeen();
  CHECK(seen_then.plain == (tuned && kByDriver ? 1 : 0));
  CHECK(seen_then.original == (tuned && kByDriver ? 1 : 2) && seen_then.steps == 0);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaSuccess);
}

#if defined(CUPILOT_HOST_ABI_VERSION)
static void Captured(bool) {}  // the host device has no graphs
#else
#if defined(CUPILOT_TUNED_GRAPHS)
constexpr bool kTunedGraphs = true;
#else
constexpr bool kTunedGraphs = false;
#endif

static void Captured(bool tuned) {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  for (int n : {1000, 1001}) {
    cudaMemset(out, 0, sizeof(float) * host.size());
    cudaDeviceSynchronize();
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    app::scale<<<(n + 127) / 128, 128, 0, stream>>>(5, in, out, n);
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    size_t nodes = 0;
    cudaGraphGetNodes(graph, nullptr, &nodes);
    CHECK(nodes == 1);
#if CUDART_VERSION < 12000
    CHECK(cudaGraphInstantiate(&instance, graph, nullptr, nullptr, 0) == cudaSuccess);
#else
    CHECK(cudaGraphInstantiate(&instance, graph, 0) == cudaSuccess);
#endif
    for (int i = 0; i < 3; ++i) cudaGraphLaunch(instance, stream);
    cudaStreamSynchronize(stream);
    CHECK(Right(n, 5));
    const Seen counts = TakeSeen();
    const bool variant = tuned && kTunedGraphs && n == 1000;
    CHECK(counts.plain == (variant ? 3 : 0) && counts.original == (variant ? 0 : 3));
    CHECK(counts.steps == 0);
  }
  CHECK(cudaGetLastError() == cudaSuccess);
}

#endif

static void Threads() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      cudaStream_t stream;
      cudaStreamCreate(&stream);
      for (int i = 0; i < 200; ++i) {
        app::scale<<<8, 128, 0, stream>>>(3, in, out, i % 2 == 0 ? 1000 : 1001);
      }
      cudaStreamSynchronize(stream);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(Right(1001, 3));
  const Seen counts = TakeSeen();
  CHECK(counts.original + counts.plain + counts.steps == 800);
  if (counts.original + counts.plain + counts.steps != 800) {
    std::printf("original %d, plain %d, steps %d\n", counts.original, counts.plain, counts.steps);
  }
}

#if !defined(CUPILOT_HOST_ABI_VERSION) && CUDART_VERSION >= 13000
static unsigned long long ContextNumber() {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuCtxGetId", &entry, 12000, cudaEnableDefault, &found) == cudaSuccess);
  unsigned long long number = 0;
  CHECK(entry != nullptr && reinterpret_cast<int (*)(void*, unsigned long long*)>(entry)(nullptr, &number) == 0);
  return number;
}
#else
static unsigned long long ContextNumber() {
  static unsigned long long number = 0;
  return ++number;
}
#endif

// A thread's first call is a launch: it has a context from then on, as the runtime makes it.
static void FirstCallOfAThread() {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  Scale(1000, 3, stream);
  cudaStreamSynchronize(stream);
  TakeSeen();
  cudaMemset(out, 0, sizeof(float) * host.size());
  cudaDeviceSynchronize();
  std::thread([stream] {
    app::scale<<<8, 128, 0, stream>>>(3, in, out, 1000);
    CHECK(ContextNumber() != 0);
    CHECK(cudaGetLastError() == cudaSuccess);
  }).join();
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(Right(1000, 3));
  const Seen counts = TakeSeen();
  CHECK(counts.original + counts.plain + counts.steps == 1);
}

// A new context: nothing of the old one may be used. Whether variants run there is not promised.
static void Reset() {
  const unsigned long long before = ContextNumber();
  CHECK(cudaDeviceReset() == cudaSuccess);
  CHECK(cudaMalloc(&in, sizeof(float) * host.size()) == cudaSuccess);
  CHECK(cudaMalloc(&out, sizeof(float) * host.size()) == cudaSuccess);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i);
  cudaMemcpy(in, host.data(), sizeof(float) * host.size(), cudaMemcpyHostToDevice);
  CHECK(ContextNumber() != before && before != 0);
  TakeSeen();
  for (int n : {1000, 1001, 1000, 11}) {
    Scale(n, 3);
    CHECK(Right(n, 3));
    const Seen counts = TakeSeen();
    CHECK(counts.original + counts.plain + counts.steps == 1);
  }
}

// "first": the first launch of the process is captured, before anything was prepared.
int main(int argc, char** argv) {
  const bool tuned = argc > 1 && std::strcmp(argv[1], "tuned") == 0;
  const bool first = argc > 2 && std::strcmp(argv[2], "first") == 0;
  if (cudaMalloc(&in, sizeof(float) * host.size()) != cudaSuccess ||
      cudaMalloc(&out, sizeof(float) * host.size()) != cudaSuccess) {
    std::printf("no device\n");
    return 3;
  }
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i);
  cudaMemcpy(in, host.data(), sizeof(float) * host.size(), cudaMemcpyHostToDevice);
  if (first) Captured(tuned);
  Plain(tuned);
  Errors(tuned);
  Captured(tuned);
  Threads();
  FirstCallOfAThread();
  Reset();
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  return 0;
}
