// A kernel without a workload, in a program that needs an argument.
#include <cstdio>
#include <cstdlib>
#include <vector>

// cupilot: tune
// cupilot: tolerance relative=1e-4
__global__ void squares(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = 0; i < columns; ++i) sum += in[i * rows + row] * in[i * rows + row];
  out[row] = sum;
}

int main(int argc, char** argv) {
  const int rows = 4096, columns = argc > 1 ? std::atoi(argv[1]) : 0;
  if (columns <= 0) return 2;
  std::vector<float> host(rows * columns);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = 0.25f * float(i % 37);
  float *in, *out;
  cudaMalloc(&in, host.size() * sizeof(float));
  cudaMalloc(&out, rows * sizeof(float));
  cudaMemcpy(in, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  squares<<<rows / 128, 128>>>(in, out, rows, columns);
  cudaMemcpy(host.data(), out, rows * sizeof(float), cudaMemcpyDeviceToHost);
  double sum = 0;
  for (int i = 0; i < rows; ++i) sum += host[std::size_t(i)] * (i + 1);
  std::printf("%.17g\n", sum);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
