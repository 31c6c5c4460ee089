// Softmax of each row: one block a row, maximum and sum by trees in shared memory.
constexpr int kThreads = 256;

__global__ void row_softmax(const float* in, float* out, int columns) {
  __shared__ float scratch[kThreads];
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
