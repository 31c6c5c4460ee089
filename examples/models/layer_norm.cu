// Layer normalisation: one thread a row.
__global__ void layer_norm(const float* in, const float* gain, const float* bias, float* out,
                           int rows, int columns, float epsilon) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;

  float mean = 0.0f;
  for (int i = 0; i < columns; ++i) {
    mean += in[row * columns + i];
  }
  mean /= columns;

  float variance = 0.0f;
  for (int i = 0; i < columns; ++i) {
    float d = in[row * columns + i] - mean;
    variance += d * d;
  }
  variance /= columns;

  float scale = 1.0f / sqrtf(variance + epsilon);
  for (int i = 0; i < columns; ++i) {
    out[row * columns + i] = (in[row * columns + i] - mean) * scale * gain[i] + bias[i];
  }
}
