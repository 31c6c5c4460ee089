// A matrix product as first written: a tuner has something to find in it.
__global__ void product(const float* a, const float* b, float* c, int size) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < size && column < size) {
    float sum = 0.0f;
    for (int i = 0; i < size; ++i) sum += a[row * size + i] * b[i * size + column];
    c[row * size + column] = sum;
  }
}
