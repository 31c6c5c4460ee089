// Attention of one head: out = softmax(scale * Q K') V, one query a block, one element of the head a thread.
// The scores of a query are kept in shared memory (4 * keys bytes) between the three passes.
constexpr int kHead = 64;

__global__ void attention(const float* q, const float* k, const float* v, float* out, int keys,
                          float scale) {
  extern __shared__ float scores[];
  __shared__ float query[kHead];
  int row = blockIdx.x;
  query[threadIdx.x] = q[row * kHead + threadIdx.x];
  __syncthreads();

  for (int key = threadIdx.x; key < keys; key += kHead) {
    float dot = 0.0f;
    for (int i = 0; i < kHead; ++i) {
      dot += query[i] * k[key * kHead + i];
    }
    scores[key] = dot * scale;
  }
  __syncthreads();

  float largest = -INFINITY;
  for (int key = 0; key < keys; ++key) {
    largest = fmaxf(largest, scores[key]);
  }
  float sum = 0.0f;
  float result = 0.0f;
  for (int key = 0; key < keys; ++key) {
    float weight = expf(scores[key] - largest);
    sum += weight;
    result += weight * v[key * kHead + threadIdx.x];
  }
  out[row * kHead + threadIdx.x] = result / sum;
}
