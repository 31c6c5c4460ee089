// Kernel nodes of captured graphs that a program recognises, reads, changes and sets again: what it computes must not
// depend on whether the kernel is tuned. `graph_updates tuned|original`; -DREADER makes the other object. Prints what
// does not hold; exit 3 without a device.
#include "graph_reader.h"

#if defined(READER)
bool SetByRuntimeElsewhere(cudaGraphNode_t node, cudaGraphExec_t instance, const Change& change) {
  return SetByRuntime(node, instance, change);
}
bool SetByDriverElsewhere(cudaGraphNode_t node, cudaGraphExec_t instance, const Change& change) {
  return SetByDriver(node, instance, change);
}
#else
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

__device__ int seen[2];  // [0]: originals, [1]: variants

namespace app {
__global__ void scale(float factor, const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) atomicAdd(&seen[0], 1);
  if (i < n) out[i] = factor * in[i];
}
}  // namespace app

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) std::printf("line %d: %s\n", __LINE__, #condition); \
  } while (false)
#define IS_SUCCESS(call)                                                                         \
  do {                                                                                           \
    const cudaError_t error_ = (call);                                                           \
    if (error_ != cudaSuccess) std::printf("line %d: %s\n", __LINE__, cudaGetErrorName(error_)); \
  } while (false)

constexpr int kSize = 4096;
constexpr int kCaptured = 1000;  // even: a variant's size
constexpr Change kOdd = {7, 2001, 2};  // none of a variant's, and more than the captured grid reaches
static float* in;

// A stream, results of its own and a graph of one launch.
class Graph {
 public:
  Graph() {
    IS_SUCCESS(cudaMalloc(&out_, sizeof(float) * kSize));
    IS_SUCCESS(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    IS_SUCCESS(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    app::scale<<<8, 128, 0, stream_>>>(5, in, out_, kCaptured);
    IS_SUCCESS(cudaGetLastError());
    IS_SUCCESS(cudaStreamEndCapture(stream_, &graph_));
  }
  ~Graph() {
    IS_SUCCESS(cudaGraphDestroy(graph_));
    IS_SUCCESS(cudaStreamDestroy(stream_));
    IS_SUCCESS(cudaFree(out_));
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  cudaGraph_t get() const { return graph_; }
  cudaGraphNode_t node() const { return OnlyNode(graph_); }

  // Replays and compares everything, also what is not to be written.
  bool Gives(cudaGraphExec_t instance, float factor, int n) {
    std::vector<float> result(kSize);
    IS_SUCCESS(cudaMemsetAsync(out_, 0, sizeof(float) * kSize, stream_));
    IS_SUCCESS(cudaGraphLaunch(instance, stream_));
    IS_SUCCESS(cudaMemcpyAsync(result.data(), out_, sizeof(float) * kSize, cudaMemcpyDeviceToHost, stream_));
    IS_SUCCESS(cudaStreamSynchronize(stream_));
    for (int i = 0; i < kSize; ++i) {
      if (result[static_cast<std::size_t>(i)] != (i < n ? factor * static_cast<float>(i) : 0.0f)) return false;
    }
    return true;
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  float* out_ = nullptr;
};

class Instance {
 public:
#if CUDART_VERSION < 12000
  explicit Instance(cudaGraph_t graph) {
    IS_SUCCESS(cudaGraphInstantiate(&instance_, graph, nullptr, nullptr, 0));
  }
#else
  explicit Instance(cudaGraph_t graph) { IS_SUCCESS(cudaGraphInstantiate(&instance_, graph, 0)); }
#endif
  ~Instance() { IS_SUCCESS(cudaGraphExecDestroy(instance_)); }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  cudaGraphExec_t get() const { return instance_; }

 private:
  cudaGraphExec_t instance_ = nullptr;
};

using Set = bool (*)(cudaGraphNode_t, cudaGraphExec_t, const Change&);

static void InTheGraph(Set set) {
  Graph graph;
  const Instance before(graph.get());
  CHECK(set(graph.node(), nullptr, kOdd));
  const Instance after(graph.get());
  CHECK(graph.Gives(before.get(), 5, kCaptured));
  CHECK(graph.Gives(after.get(), kOdd.factor, kOdd.n));
  // Once more: what is read now is what was set.
  CHECK(set(graph.node(), nullptr, {3, 4001, 2}));
  CHECK(graph.Gives(Instance(graph.get()).get(), 3, 4001));
}

static void InTheInstance(Set set) {
  Graph graph;
  const Instance instance(graph.get());
  CHECK(set(graph.node(), instance.get(), kOdd));
  CHECK(graph.Gives(instance.get(), kOdd.factor, kOdd.n));
  CHECK(set(graph.node(), instance.get(), {3, 999, 1}));
  CHECK(graph.Gives(instance.get(), 3, 999));
}

static void InACloneAndAChild(Set set) {
  Graph graph;
  cudaGraph_t clone = nullptr, parent = nullptr;
  cudaGraphNode_t cloned, child;
  IS_SUCCESS(cudaGraphClone(&clone, graph.get()));
  IS_SUCCESS(cudaGraphNodeFindInClone(&cloned, graph.node(), clone));
  CHECK(set(cloned, nullptr, kOdd));
  CHECK(graph.Gives(Instance(clone).get(), kOdd.factor, kOdd.n));
  CHECK(graph.Gives(Instance(graph.get()).get(), 5, kCaptured));
  IS_SUCCESS(cudaGraphCreate(&parent, 0));
  IS_SUCCESS(cudaGraphAddChildGraphNode(&child, parent, nullptr, 0, graph.get()));
  const Instance instance(parent);
  CHECK(set(OnlyNode(parent), nullptr, kOdd));
  CHECK(graph.Gives(Instance(parent).get(), kOdd.factor, kOdd.n));
  CHECK(graph.Gives(instance.get(), 5, kCaptured));
  IS_SUCCESS(cudaGraphDestroy(clone));
  IS_SUCCESS(cudaGraphDestroy(parent));
}

static void UpdatedAsAWhole(Set set) {
  Graph graph;
  const Instance instance(graph.get());
  CHECK(set(graph.node(), nullptr, kOdd));
#if CUDART_VERSION >= 12000
  cudaGraphExecUpdateResultInfo info;
  IS_SUCCESS(cudaGraphExecUpdate(instance.get(), graph.get(), &info));
#else
  cudaGraphNode_t at;
  cudaGraphExecUpdateResult result;
  IS_SUCCESS(cudaGraphExecUpdate(instance.get(), graph.get(), &at, &result));
#endif
  CHECK(graph.Gives(instance.get(), kOdd.factor, kOdd.n));
}

// Programs look for the node of a kernel by its function, and know how they launched it.
static void IsRecognised() {
  Graph graph;
  cudaKernelNodeParams captured = {}, own = {}, made = {};
  IS_SUCCESS(cudaGraphKernelNodeGetParams(graph.node(), &captured));
  CHECK(captured.gridDim.x == 8 && captured.blockDim.x == 128 && captured.sharedMemBytes == 0);
  cudaGraph_t other;
  cudaGraphNode_t node;
  own = captured;
  own.func = reinterpret_cast<void*>(app::scale);
  IS_SUCCESS(cudaGraphCreate(&other, 0));
  IS_SUCCESS(cudaGraphAddKernelNode(&node, other, nullptr, 0, &own));
  IS_SUCCESS(cudaGraphKernelNodeGetParams(node, &made));
  CHECK(made.func == captured.func);
  IS_SUCCESS(cudaGraphDestroy(other));
}

int main(int argc, char** argv) {
  const bool tuned = argc > 1 && std::strcmp(argv[1], "tuned") == 0;
  if (cudaMalloc(&in, sizeof(float) * kSize) != cudaSuccess) {
    std::printf("no device\n");
    return 3;
  }
  std::vector<float> host(kSize);
  for (int i = 0; i < kSize; ++i) host[static_cast<std::size_t>(i)] = static_cast<float>(i);
  IS_SUCCESS(cudaMemcpy(in, host.data(), sizeof(float) * kSize, cudaMemcpyHostToDevice));
  IS_SUCCESS(cudaDeviceSynchronize());  // a copy from pageable memory may still be under way
  IsRecognised();
  for (const Set set : {SetByRuntime, SetByRuntimeElsewhere, SetByDriver, SetByDriverElsewhere}) {
    InTheGraph(set);
    InTheInstance(set);
    InACloneAndAChild(set);
    UpdatedAsAWhole(set);
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 20; ++i) InTheInstance(i % 2 == 0 ? SetByRuntime : SetByDriverElsewhere);
    });
  }
  for (std::thread& thread : threads) thread.join();
  // Outside of captures variants run, also on a stream that could capture: the checks above are of a tuned kernel.
  int counts[2];
  IS_SUCCESS(cudaMemcpyFromSymbol(counts, seen, sizeof counts));
  CHECK(counts[1] == 0);
  float* out;
  cudaStream_t stream;
  IS_SUCCESS(cudaMalloc(&out, sizeof(float) * kSize));
  IS_SUCCESS(cudaStreamCreate(&stream));
  app::scale<<<8, 128, 0, stream>>>(5, in, out, kCaptured);
  app::scale<<<8, 128>>>(5, in, out, kCaptured);
  IS_SUCCESS(cudaDeviceSynchronize());
  IS_SUCCESS(cudaMemcpyFromSymbol(counts, seen, sizeof counts));
  CHECK(counts[1] == (tuned ? 2 : 0));
  CHECK(cudaGetLastError() == cudaSuccess);
  return 0;
}
#endif
