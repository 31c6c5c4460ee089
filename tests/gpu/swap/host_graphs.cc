#include "host_graphs.h"

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

// A launch of app::scale, or a graph of its own.
struct HostNode {
  cudaKernelNodeParams parameters = {};
  std::array<std::array<char, 8>, 4> values = {};
  std::array<void*, 4> addresses = {};
  std::unique_ptr<CUgraph_st> child;

  // Copies the arguments: what is given may point to the old ones.
  void Set(const cudaKernelNodeParams& given) {
    constexpr std::array<std::size_t, 4> kBytes = {4, 8, 8, 4};  // float, const float*, float*, int
    std::array<std::array<char, 8>, 4> fresh = {};
    for (std::size_t i = 0; i < 4; ++i) {
      std::memcpy(fresh[i].data(), given.kernelParams[i], kBytes[i]);
      addresses[i] = values[i].data();
    }
    values = fresh;
    parameters = given;
    parameters.kernelParams = addresses.data();
  }
};
struct CUgraph_st {
  HostNode node;  // there is never another one
};
struct CUgraphExec_st {
  HostNode launch;
};

// The linker's names: --wrap sends the program's calls to __wrap_*.
extern "C" cudaError_t __real___cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t,
                                                 cudaStream_t);

namespace {

std::mutex lock;
std::map<cudaStream_t, cudaGraph_t> captures;

cudaGraph_t CaptureOf(cudaStream_t stream) {
  const std::lock_guard<std::mutex> held(lock);
  const auto found = captures.find(stream);
  return found == captures.end() ? nullptr : found->second;
}

const HostNode& KernelOf(const CUgraph_st& graph) {
  return graph.node.child == nullptr ? graph.node : KernelOf(*graph.node.child);
}

}  // namespace

extern "C" cudaError_t __wrap_cudaStreamIsCapturing(cudaStream_t stream,
                                                    cudaStreamCaptureStatus* status) {
  *status =
      CaptureOf(stream) == nullptr ? cudaStreamCaptureStatusNone : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

extern "C" cudaError_t __wrap___cudaLaunchKernel(const void* function, dim3 grid, dim3 block,
                                                 void** arguments, std::size_t shared,
                                                 cudaStream_t stream) {
  const cudaGraph_t graph = CaptureOf(stream);
  if (graph == nullptr) {
    return __real___cudaLaunchKernel(function, grid, block, arguments, shared, stream);
  }
  graph->node.Set({const_cast<void*>(function), grid, block, static_cast<unsigned>(shared),
                   arguments, nullptr});
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  const std::lock_guard<std::mutex> held(lock);
  captures[stream] = new CUgraph_st;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const std::lock_guard<std::mutex> held(lock);
  *graph = captures[stream];
  captures.erase(stream);
  return cudaSuccess;
}

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  *graph = new CUgraph_st;
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  *clone = new CUgraph_st;
  (*clone)->node.Set(graph->node.parameters);
  return cudaSuccess;
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t, cudaGraph_t clone) {
  *node = &clone->node;
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  nodes[0] = &graph->node;
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  *type = node->child == nullptr ? cudaGraphNodeTypeKernel : cudaGraphNodeTypeGraph;
  return cudaSuccess;
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  *graph = node->child.get();
  return cudaSuccess;
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t*, std::size_t, cudaGraph_t child) {
  cudaGraph_t clone = nullptr;
  cudaGraphClone(&clone, child);
  graph->node.child.reset(clone);
  *node = &graph->node;
  return cudaSuccess;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*,
                                   std::size_t, const cudaKernelNodeParams* parameters) {
  *node = &graph->node;
  return cudaGraphKernelNodeSetParams(*node, parameters);
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
  *parameters = node->parameters;
  return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams* parameters) {
  node->Set(*parameters);
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* instance, cudaGraph_t graph, unsigned long long) {
  *instance = new CUgraphExec_st;
  return cudaGraphExecUpdate(*instance, graph, nullptr);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t instance) {
  delete instance;
  return cudaSuccess;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t instance, cudaGraphNode_t,
                                             const cudaKernelNodeParams* parameters) {
  instance->launch.Set(*parameters);
  return cudaSuccess;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t instance, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo*) {
  instance->launch.Set(KernelOf(*graph).parameters);
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t instance, cudaStream_t stream) {
  const cudaKernelNodeParams& p = instance->launch.parameters;
  return __real___cudaLaunchKernel(p.func, p.gridDim, p.blockDim, p.kernelParams, p.sharedMemBytes,
                                   stream);
}
