// corpus: swapped
// corpus: flags --default-stream per-thread
// Streams of each thread by default.
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void add(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 3;
}

int main() {
  support::Array<int> data(256, 1, 1);
  cudaStream_t streams[2];
  for (int k = 0; k < 2; ++k) support::Check(cudaStreamCreateWithFlags(&streams[k], cudaStreamNonBlocking));
  add<<<2, 64, 0, streams[0]>>>(data.get(), 128);
  add<<<2, 64, 0, streams[1]>>>(data.get() + 128, 128);
  for (int k = 0; k < 2; ++k) support::Check(cudaStreamSynchronize(streams[k]));
  for (int k = 0; k < 2; ++k) support::Check(cudaStreamDestroy(streams[k]));
  add<<<4, 64, 0, cudaStreamPerThread>>>(data.get(), 256);
  add<<<4, 64>>>(data.get(), 256);
  support::Check(cudaStreamSynchronize(0));
  support::Show("data", data);
}
