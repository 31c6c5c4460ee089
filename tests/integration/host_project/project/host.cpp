// Compiled by the C++ compiler: only the runtime's C interface.
#include <cuda_runtime.h>

#include <vector>

std::vector<float> ToHost(const float* device, int n) {
  std::vector<float> values(static_cast<std::size_t>(n));
  cudaMemcpy(values.data(), device, values.size() * sizeof(float), cudaMemcpyDeviceToHost);
  return values;
}
