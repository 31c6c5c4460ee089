// Kernels without workloads: what they are run on is seen in a run.
#include <cstdio>
#include <vector>

struct View {
  float* data;
  int count;
};
__constant__ float factors[2];

// cupilot: tune
// cupilot: tolerance relative=1e-4
__global__ void squares(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = 0; i < columns; ++i) sum += in[i * rows + row] * in[i * rows + row];
  out[row] = sum;
}

// cupilot: tune
__global__ void scale(View view) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < view.count) view.data[i] = factors[0] * view.data[i] + factors[1];
}

// cupilot: tune
__global__ void batched(float** parts, int n) {
  int i = threadIdx.x;
  if (i < n) parts[blockIdx.x][i] += 1;
}

// cupilot: tune
// cupilot: workload parts=pointers(count, 4*n)
__global__ void summed(const float* const* parts, float* out, int n, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < count; ++k) sum += parts[k][i];
  out[i] = sum;
}

namespace way {
struct Down {};
}  // namespace way
namespace moved {
using way::Down;
// cupilot: tune
template <class T, int kSteps, class Direction>
__global__ void shift(T* data, T by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int k = 0; k < kSteps; ++k) data[i] -= by;
}
}  // namespace moved

__global__ void untold(float* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 1;
}

int main() {
  const int rows = 4096, most = 64;
  std::vector<float> host(rows * most);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = 0.25f * float(i % 37);
  const float values[2] = {0.5f, 3};
  float *in, *out, **parts;
  cudaMalloc(&in, host.size() * sizeof(float));
  cudaMalloc(&out, rows * sizeof(float));
  cudaMalloc(&parts, 2 * sizeof(float*));
  cudaMemcpy(in, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(factors, values, sizeof values);
  float* addresses[2] = {out, in};
  cudaMemcpy(parts, addresses, sizeof addresses, cudaMemcpyHostToDevice);
  for (int i = 0; i < 12; ++i) squares<<<rows / 128, 128>>>(in, out, rows, i % 3 == 0 ? most : 16);
  scale<<<rows / 128, 128>>>(View{out, rows});
  batched<<<2, 32>>>(parts, 32);
  summed<<<rows / 128, 128>>>(parts, in + rows, rows, 2);
  moved::shift<float, 3, way::Down><<<rows / 128, 128>>>(out, 0.5f, rows);
  moved::shift<float, 2, way::Down><<<rows / 128, 128>>>(out, 0.25f, rows);
  for (int i = 0; i < 3; ++i) untold<<<rows / 128, 128>>>(out, rows);
  cudaMemcpy(host.data(), out, rows * sizeof(float), cudaMemcpyDeviceToHost);
  double sum = 0;
  for (int i = 0; i < rows; ++i) sum += host[std::size_t(i)] * (i + 1);
  std::printf("%.17g\n", sum);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
