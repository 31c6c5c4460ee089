// A sparse matrix in the usual form, and a kernel whose tag says what it is run on.
#include <cstdio>
#include <vector>

// cupilot: tune
__global__ void spmv(const int* begins, const int* columns, const float* values, const float* x,
                     float* y, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = begins[row]; k < begins[row + 1]; ++k) sum += values[k] * x[columns[k]];
  y[row] = sum;
}

// cupilot: tune
// cupilot: workload told grid=16 block=64 n=1024 in=normal[n] out=[n]
__global__ void twice(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}

template <class T>
T* OnDevice(const std::vector<T>& host) {
  T* device = nullptr;
  cudaMalloc(&device, host.size() * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}

int main() {
  const int rows = 2048;
  std::vector<int> begins = {0}, columns;
  for (int row = 0; row < rows; ++row) {
    for (int k = 0; k < row % 7; ++k) columns.push_back((row * 31 + k * 17) % rows);
    begins.push_back(int(columns.size()));
  }
  std::vector<float> values(columns.size()), x(rows), y(rows);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 10 == 0 ? 4711.25f : 0.0f;
  for (int i = 0; i < rows; ++i) x[std::size_t(i)] = 0.5f * float(i % 13);
  float* to = OnDevice(y);
  float* from = OnDevice(x);
  spmv<<<rows / 128, 128>>>(OnDevice(begins), OnDevice(columns), OnDevice(values), from, to, rows);
  for (int i = 0; i < 3; ++i) twice<<<rows / 64, 64>>>(from, to, rows);
  cudaMemcpy(y.data(), to, rows * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", double(y[5]));
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
