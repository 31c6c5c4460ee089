// corpus: swapped
// corpus: kernels 2
// corpus: nvcc-only (the host device has no graphs)
// Launches, captured ones, and a graph's kernel node that is given other arguments.
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n] by=3
__global__ void add(int* data, int by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += by;
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void twice(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= 2;
}

int main() {
  support::Array<int> array(256, 1, 1);
  int* data = array.get();
  int n = 256;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  support::Check(cudaStreamCreate(&stream));
  add<<<4, 64, 0, stream>>>(data, 1, n);
  twice<<<4, 64, 0, stream>>>(data, n);
  support::Check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<4, 64, 0, stream>>>(data, 1, n);
  twice<<<4, 64, 0, stream>>>(data, n);
  support::Check(cudaStreamEndCapture(stream, &graph));
#if CUDART_VERSION < 12000
  support::Check(cudaGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
#else
  support::Check(cudaGraphInstantiate(&ready, graph, 0));
#endif
  support::Check(cudaGraphLaunch(ready, stream));
  cudaGraphNode_t nodes[2];
  size_t count = 2;
  support::Check(cudaGraphGetNodes(graph, nodes, &count));
  cudaKernelNodeParams parameters;
  support::Check(cudaGraphKernelNodeGetParams(nodes[0], &parameters));
  int by = 10;
  void* arguments[] = {&data, &by, &n};
  parameters.kernelParams = arguments;
  support::Check(cudaGraphExecKernelNodeSetParams(ready, nodes[0], &parameters));
  support::Check(cudaGraphLaunch(ready, stream));
  support::Check(cudaStreamSynchronize(stream));
  support::Show("data", array);
}
