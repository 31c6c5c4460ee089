// What a program sets and does around its kernels must hold for their variants, too. `attributes tuned|original`, and
// -DSTAGED_VARIANT=<namespace> where it was swapped. Prints the errors that the runtime gave where it refuses something
// ("saw WHAT: ERROR"), which must be those of the plain program, and what does not hold; exit 3 without a device.
#include <cstdio>
#include <cstring>
#include <vector>

__device__ int seen[4];  // [0]: originals, [1]: staged_more, [2]: through's steps

namespace app {
__global__ void staged(const float* in, float* out, int n) {
  extern __shared__ float tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) atomicAdd(&seen[0], 1);
  tile[threadIdx.x] = i < n ? in[i] : 0.0f;
  __syncthreads();
  if (i < n) out[i] = 2.0f * tile[threadIdx.x];
}
__global__ void through(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) atomicAdd(&seen[0], 1);
  if (i < n) out[i] = 3.0f * in[i];
}
}  // namespace app

__global__ void fault() { __trap(); }

#if defined(STAGED_VARIANT)
namespace app { namespace STAGED_VARIANT { inline namespace STAGED_OBJECT {
__global__ void __launch_bounds__(256) staged_more(const float* in, float* out, int n);
} } }
#endif

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) std::printf("line %d: %s\n", __LINE__, #condition); \
  } while (false)
#define IS_SUCCESS(call)                                                                        \
  do {                                                                                          \
    const cudaError_t error_ = (call);                                                          \
    if (error_ != cudaSuccess) std::printf("line %d: %s\n", __LINE__, cudaGetErrorName(error_)); \
  } while (false)

// Which error a refused call gives is the runtime's choice, and another one's with each version.
static cudaError_t Saw(const char* what, cudaError_t error) {
  std::printf("saw %s: %s\n", what, cudaGetErrorName(error));
  return error;
}
#define IS_REFUSED(what, call) CHECK(Saw(what, call) != cudaSuccess)

constexpr int kSize = 1 << 20;
static bool tuned;
static float *in, *out;
static std::vector<float> host(kSize);

static void Allocate() {
  IS_SUCCESS(cudaMalloc(&in, sizeof(float) * kSize));
  IS_SUCCESS(cudaMalloc(&out, sizeof(float) * kSize));
  for (int i = 0; i < kSize; ++i) host[i] = static_cast<float>(i % 4093);
  IS_SUCCESS(cudaMemcpy(in, host.data(), sizeof(float) * kSize, cudaMemcpyHostToDevice));
  IS_SUCCESS(cudaDeviceSynchronize());  // a copy from pageable memory may still be under way
}

struct Seen {
  int original, staged, through;
};
static Seen TakeSeen() {
  int values[4];
  const int zero[4] = {0, 0, 0, 0};
  IS_SUCCESS(cudaMemcpyFromSymbol(values, seen, sizeof values));
  IS_SUCCESS(cudaMemcpyToSymbol(seen, zero, sizeof zero));
  IS_SUCCESS(cudaDeviceSynchronize());  // other streams do not wait for this copy
  return {values[0], values[1], values[2]};
}
static bool Right(const float* result, int n, float factor) {
  IS_SUCCESS(cudaMemcpy(host.data(), result, sizeof(float) * n, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    if (host[i] != factor * static_cast<float>(i % 4093)) return false;
  }
  return true;
}

enum Expected { kOriginal, kVariant, kEither };

// One launch of staged: its error, which of both ran, whether the result is right.
static cudaError_t Staged(int shared, Expected expected, int threads = 128) {
  IS_SUCCESS(cudaMemset(out, 0, sizeof(float) * kSize));
  app::staged<<<1000 / threads + 1, threads, shared>>>(in, out, 1000);
  const cudaError_t error = cudaGetLastError();
  const Seen counts = TakeSeen();
  if (error == cudaSuccess) {
    CHECK(Right(out, 1000, 2));
    CHECK(counts.staged + counts.original == 1);
    CHECK(expected == kEither || counts.staged == (expected == kVariant && tuned ? 1 : 0));
  } else {
    CHECK(counts.staged == 0 && counts.original == 0);
  }
  return error;
}

// The first launch of the process, on a stream that does not capture while another one does.
static void BesideACapture() {
  cudaStream_t capturing, beside;
  IS_SUCCESS(cudaStreamCreateWithFlags(&capturing, cudaStreamNonBlocking));
  IS_SUCCESS(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking));
  cudaGraph_t graph = nullptr;
  IS_SUCCESS(cudaStreamBeginCapture(capturing, cudaStreamCaptureModeGlobal));
  app::staged<<<8, 128, 4096, beside>>>(in, out, 1000);
  IS_SUCCESS(cudaGetLastError());
  app::through<<<8, 128, 0, beside>>>(in, out, 1000);
  IS_SUCCESS(cudaGetLastError());
  app::through<<<8, 128, 0, capturing>>>(in, out, 1000);
  IS_SUCCESS(cudaGetLastError());
  app::staged<<<8, 128, 4096, capturing>>>(in, out, 1000);
  IS_SUCCESS(cudaGetLastError());
  IS_SUCCESS(cudaStreamEndCapture(capturing, &graph));
  std::size_t nodes = 0;
  IS_SUCCESS(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 2);
  IS_SUCCESS(cudaStreamSynchronize(beside));
  CHECK(Right(out, 1000, 3));
  const Seen counts = TakeSeen();
  CHECK(counts.staged == (tuned ? 1 : 0) && counts.through == (tuned ? 1 : 0));
  // The graph holds the originals; it can be cloned and be a child of another one.
  cudaGraph_t clone = nullptr, parent = nullptr;
  cudaGraphNode_t node;
  cudaGraphExec_t instance;
  IS_SUCCESS(cudaGraphClone(&clone, graph));
  IS_SUCCESS(cudaGraphCreate(&parent, 0));
  IS_SUCCESS(cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, clone));
#if CUDART_VERSION < 12000
  IS_SUCCESS(cudaGraphInstantiate(&instance, parent, nullptr, nullptr, 0));
#else
  IS_SUCCESS(cudaGraphInstantiate(&instance, parent, 0));
#endif
  IS_SUCCESS(cudaGraphLaunch(instance, beside));
  IS_SUCCESS(cudaStreamSynchronize(beside));
  CHECK(Right(out, 1000, 2));
  const Seen replayed = TakeSeen();
  CHECK(replayed.staged == 0 && replayed.through == 0 && replayed.original == 2);
}

static void SharedMemory() {
  int most = 0;
  IS_SUCCESS(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  CHECK(Staged(4096, kVariant) == cudaSuccess);
  CHECK(Staged(48 * 1024, kVariant) == cudaSuccess);             // the variant's is above the default
  IS_REFUSED("64 KiB without consent", Staged(64 * 1024, kOriginal));
  IS_SUCCESS(cudaFuncSetAttribute(app::staged, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024));
  CHECK(Staged(64 * 1024, kVariant) == cudaSuccess);
  IS_SUCCESS(cudaFuncSetAttribute(app::staged, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  CHECK(Staged(most - 1024, kVariant) == cudaSuccess);
  CHECK(Staged(most, kOriginal) == cudaSuccess);  // no room for what the variant needs more
  IS_REFUSED("more shared memory than there is", Staged(most + 16, kOriginal));
}

static void OtherAttributes() {
#if defined(STAGED_VARIANT)
  if (tuned) {
    cudaFuncAttributes attributes;
    IS_SUCCESS(cudaFuncGetAttributes(&attributes, app::STAGED_VARIANT::staged_more));
    CHECK(attributes.preferredShmemCarveout == 77);
    CHECK(attributes.maxThreadsPerBlock == 256);
  }
#endif
  cudaFuncAttributes attributes;
  IS_SUCCESS(cudaFuncGetAttributes(&attributes, app::staged));
  CHECK(attributes.preferredShmemCarveout == 77);
  CHECK(attributes.maxThreadsPerBlock == 1024);
  int blocks = 0, threads = 0;
  IS_SUCCESS(cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, app::staged, 8192, 0));
  CHECK(threads > 256);
  CHECK(Staged(8192, kOriginal, threads) == cudaSuccess);  // more threads than the variant takes
  CHECK(Staged(8192, kVariant, 256) == cudaSuccess);
}

static void IllegalLaunches() {
  app::staged<<<0, 128>>>(in, out, 1000);
  IS_REFUSED("no blocks", cudaGetLastError());
  app::staged<<<8, 2048>>>(in, out, 1000);
  IS_REFUSED("2048 threads", cudaGetLastError());
  app::through<<<dim3(1, 70000), 128>>>(in, out, 1000);
  IS_REFUSED("70000 blocks in y", cudaGetLastError());
  CHECK(cudaGetLastError() == cudaSuccess);
  const Seen counts = TakeSeen();
  CHECK(counts.original == 0 && counts.staged == 0 && counts.through == 0);
  // A launch beside the capture of a stream that the legacy stream waits for.
  cudaStream_t blocking;
  cudaGraph_t graph = nullptr;
  IS_SUCCESS(cudaStreamCreate(&blocking));
  IS_SUCCESS(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeGlobal));
  app::through<<<8, 128, 0, cudaStreamLegacy>>>(in, out, 1000);
  IS_REFUSED("a launch that a capture forbids", cudaGetLastError());
  IS_REFUSED("the capture's end", cudaStreamEndCapture(blocking, &graph));
  cudaGetLastError();
  IS_SUCCESS(cudaStreamDestroy(blocking));
}

// Launches that overlap in time each have a workspace of their own.
static void Workspaces() {
  constexpr int kStreams = 6;
  cudaStream_t streams[kStreams];
  float* results[kStreams];
  for (int s = 0; s < kStreams; ++s) {
    IS_SUCCESS(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
    IS_SUCCESS(cudaMalloc(&results[s], sizeof(float) * kSize));
  }
  TakeSeen();
  for (int round = 0; round < 40; ++round) {
    for (int s = 0; s < kStreams; ++s) {
      const int n = kSize - 1000 * ((round + s) % 7);
      app::through<<<(n + 255) / 256, 256, 0, streams[s]>>>(in, results[s], n);
    }
  }
  IS_SUCCESS(cudaDeviceSynchronize());
  for (int s = 0; s < kStreams; ++s) CHECK(Right(results[s], kSize - 7000, 3));
  const Seen counts = TakeSeen();
  CHECK(counts.through == (tuned ? 40 * kStreams : 0));
  CHECK(counts.original + counts.through == 40 * kStreams);
  for (int s = 0; s < kStreams; ++s) {
    IS_SUCCESS(cudaStreamDestroy(streams[s]));
    IS_SUCCESS(cudaFree(results[s]));
  }
}

// What was set and allocated is gone with the context.
static void AfterAReset() {
  IS_SUCCESS(cudaDeviceReset());
  Allocate();
  CHECK(Staged(4096, kEither) == cudaSuccess);
  // Whether consent outlives the context is the runtime's choice, too.
  Saw("64 KiB after a reset", Staged(64 * 1024, kEither));
  // The variant's limit was raised in the old context only.
  IS_SUCCESS(cudaFuncSetAttribute(app::staged, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024));
  for (int i = 0; i < 6; ++i) CHECK(Staged(64 * 1024, kEither) == cudaSuccess);
  IS_SUCCESS(cudaMemset(out, 0, sizeof(float) * kSize));
  app::through<<<8, 128>>>(in, out, 1000);
  IS_SUCCESS(cudaGetLastError());
  CHECK(Right(out, 1000, 3));
}

// A fault of the program's own stays what its launches report.
static void AfterAFault() {
  fault<<<1, 1>>>();
  IS_REFUSED("a fault", cudaDeviceSynchronize());
  app::staged<<<8, 128, 4096>>>(in, out, 1000);
  IS_REFUSED("staged after a fault", cudaGetLastError());
  app::through<<<8, 128>>>(in, out, 1000);
  IS_REFUSED("through after a fault", cudaGetLastError());
}

int main(int argc, char** argv) {
  tuned = argc > 1 && std::strcmp(argv[1], "tuned") == 0;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    std::printf("no device\n");
    return 3;
  }
  Allocate();
  IS_SUCCESS(cudaFuncSetAttribute(app::staged, cudaFuncAttributePreferredSharedMemoryCarveout, 77));
  BesideACapture();
  SharedMemory();
  OtherAttributes();
  IllegalLaunches();
  Workspaces();
  AfterAReset();
  AfterAFault();
  return 0;
}
