// What programs do with the nodes of a captured graph: read a kernel's launch, change some of it,
// set it again. The text stands in two objects, the one of the kernel and one that knows nothing of
// it.
#pragma once
#if defined(CUPILOT_HOST_ABI_VERSION)
#include "host_graphs.h"
#else
#include <cuda.h>
#include <cuda_runtime.h>
#endif

// Another launch of app::scale(float factor, const float* in, float* out, int n).
struct Change {
  float factor;
  int n;
  unsigned times;  // as many blocks as there were
};

// The only node of a graph, or the node in its only child.
static cudaGraphNode_t OnlyNode(cudaGraph_t graph) {
  cudaGraphNode_t node = nullptr;
  cudaGraphNodeType type;
  std::size_t count = 1;
  if (cudaGraphGetNodes(graph, &node, &count) != cudaSuccess || count != 1 ||
      cudaGraphNodeGetType(node, &type) != cudaSuccess) {
    return nullptr;
  }
  if (type != cudaGraphNodeTypeGraph) return node;
  cudaGraph_t child;
  return cudaGraphChildGraphNodeGetGraph(node, &child) == cudaSuccess ? OnlyNode(child) : nullptr;
}

template <class parameters_type>
struct Changed {
  Change change;
  parameters_type parameters;
  void* arguments[4];

  // What is not changed is what the node says.
  void Apply() {
    arguments[0] = &change.factor;
    arguments[1] = parameters.kernelParams[1];
    arguments[2] = parameters.kernelParams[2];
    arguments[3] = &change.n;
    parameters.kernelParams = arguments;
  }
};

// Without `instance` the node itself is changed.
static bool SetByRuntime(cudaGraphNode_t node, cudaGraphExec_t instance, const Change& change) {
  Changed<cudaKernelNodeParams> changed = {change, {}, {}};
  if (cudaGraphKernelNodeGetParams(node, &changed.parameters) != cudaSuccess) return false;
  changed.Apply();
  changed.parameters.gridDim.x *= change.times;
  return (instance == nullptr ? cudaGraphKernelNodeSetParams(node, &changed.parameters)
                              : cudaGraphExecKernelNodeSetParams(
                                    instance, node, &changed.parameters)) == cudaSuccess;
}

#if defined(CUPILOT_HOST_ABI_VERSION)
constexpr auto SetByDriver = SetByRuntime;  // there is no driver
#else
// A function of the driver, without its library.
template <class function>
function Driver(const char* name) {
  void* entry = nullptr;
#if CUDART_VERSION >= 12050
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion(name, &entry, 12000, cudaEnableDefault, &found);
#else
  cudaGetDriverEntryPoint(name, &entry, cudaEnableDefault);
#endif
  return reinterpret_cast<function>(entry);
}

static bool SetByDriver(cudaGraphNode_t node, cudaGraphExec_t instance, const Change& change) {
  const auto get = Driver<decltype(&cuGraphKernelNodeGetParams)>("cuGraphKernelNodeGetParams");
  const auto set = Driver<decltype(&cuGraphKernelNodeSetParams)>("cuGraphKernelNodeSetParams");
  const auto set_in =
      Driver<decltype(&cuGraphExecKernelNodeSetParams)>("cuGraphExecKernelNodeSetParams");
  Changed<CUDA_KERNEL_NODE_PARAMS> changed = {change, {}, {}};
  if (get == nullptr || set == nullptr || set_in == nullptr ||
      get(node, &changed.parameters) != CUDA_SUCCESS) {
    return false;
  }
  changed.Apply();
  changed.parameters.gridDimX *= change.times;
  return (instance == nullptr ? set(node, &changed.parameters)
                              : set_in(instance, node, &changed.parameters)) == CUDA_SUCCESS;
}
#endif

// The same in the other object.
bool SetByRuntimeElsewhere(cudaGraphNode_t node, cudaGraphExec_t instance, const Change& change);
bool SetByDriverElsewhere(cudaGraphNode_t node, cudaGraphExec_t instance, const Change& change);
