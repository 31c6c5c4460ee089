// A program that has subscribed to CUPTI before its first call of CUDA, as profilers do.
#include <cuda_runtime.h>
#include <cupti.h>

#include <cstdio>

__global__ void set(int* value) { *value = 7; }

namespace {
void OnCallback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}
}  // namespace

int main() {
  CUpti_SubscriberHandle subscriber;
  const CUptiResult subscribed = cuptiSubscribe(&subscriber, &OnCallback, nullptr);
  int* device = nullptr;
  int host = 0;
  cudaMalloc(&device, sizeof *device);
  set<<<1, 1>>>(device);
  cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", static_cast<int>(subscribed), host);
}
