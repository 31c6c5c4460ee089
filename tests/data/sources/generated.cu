// corpus: swapped
// corpus: as generated files/kernel+1.gen.cu
// corpus: flags -I../tests -DOUT=1
// A source that the build itself writes, in a folder with a space in its name. It stands alone.
#include <cuda_runtime.h>

#include <cstdio>

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void generated(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += OUT;
}

int main() {
  int values[256] = {5}, *data = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&data), sizeof values);
  cudaMemcpy(data, values, sizeof values, cudaMemcpyHostToDevice);
  generated<<<4, 64>>>(data, 256);
  cudaMemcpy(values, data, sizeof values, cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", values[0], values[255]);
  cudaFree(data);
}
