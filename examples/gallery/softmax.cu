// Softmax of each row: one block a row, maximum and sum by trees in shared memory.
#include "gallery.h"

constexpr int kSoftmaxThreads = 256;

// cupilot: tune
__global__ void row_softmax(const float* in, float* out, int columns) {
  __shared__ float scratch[kSoftmaxThreads];
  const float* row = in + blockIdx.x * columns;
  float* result = out + blockIdx.x * columns;

  float largest = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    largest = fmaxf(largest, row[i]);
  }
  scratch[threadIdx.x] = largest;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) {
      scratch[threadIdx.x] = fmaxf(scratch[threadIdx.x], scratch[threadIdx.x + step]);
    }
    __syncthreads();
  }
  largest = scratch[0];
  __syncthreads();

  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    sum += expf(row[i] - largest);
  }
  scratch[threadIdx.x] = sum;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) {
      scratch[threadIdx.x] += scratch[threadIdx.x + step];
    }
    __syncthreads();
  }
  sum = scratch[0];

  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    result[i] = expf(row[i] - largest) / sum;
  }
}

Timing RunSoftmax(const Options& options) {
  const int rows = kLarge ? 4096 : 256, columns = 1024;
  const std::vector<float> in = NormalValues(rows * columns, 4);
  DeviceBuffer<float> device_in(in), device_out(in.size());
  const double time = MedianMicroseconds(options, [] {}, [&] {
    row_softmax<<<rows, kSoftmaxThreads>>>(device_in.get(), device_out.get(), columns);
  });
  WriteOutput(options, "softmax", device_out.Get());
  WriteReference(options, "softmax", {in}, in.size(), columns, rows, [&](const Inputs& source, auto& out, int r) {
    const double* row = source[0].data() + r * columns;
    const double largest = *std::max_element(row, row + columns);
    double sum = 0;
    for (int i = 0; i < columns; ++i) sum += std::exp(row[i] - largest);
    for (int i = 0; i < columns; ++i) out[r * columns + i] = std::exp(row[i] - largest) / sum;
  });
  return {"softmax", time};
}
