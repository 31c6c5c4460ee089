// corpus: swapped
// corpus: nvcc-only (the host device has no launch attributes)
// cudaLaunchKernelEx, and a cooperative launch by address.
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void add_one(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 1;
}

int main() {
  support::Array<int> array(256, 1, 1);
  int* data = array.get();
  int n = 256;
  cudaLaunchConfig_t configuration = {};
  configuration.gridDim = dim3(4);
  configuration.blockDim = dim3(64);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  configuration.attrs = &attribute;
  configuration.numAttrs = 1;
  support::Check(cudaLaunchKernelEx(&configuration, add_one, data, n));
  void* arguments[] = {&data, &n};
  support::Check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&add_one), dim3(4), dim3(64),
                                             arguments, 0, 0));
  add_one<<<4, 64>>>(data, n);
  support::Show("data", array);
}
