// Cross entropy of logits and labels, one warp a row; rows of one label are left out.
// cupilot: tune
// cupilot: workload batch grid=(25) block=(128) rows=99 classes=250 ignore=7 logits=normal(0,3)[rows*classes] label=indices(0,250)[rows] loss=[rows] kept=inout integers(0,1000)[1]
__global__ void cross_entropy(const float* logits, const int* label, float* loss, int* kept, int rows, int classes,
                              int ignore) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  if (label[row] == ignore) {
    if (lane == 0) loss[row] = 0.0f;
    return;
  }
  const float* from = logits + row * classes;
  float top = from[0];
  for (int i = lane; i < classes; i += 32) top = fmaxf(top, from[i]);
  for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
  float sum = 0.0f;
  for (int i = lane; i < classes; i += 32) sum += expf(from[i] - top);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (lane == 0) {
    loss[row] = logf(sum) + (top - from[label[row]]);
    atomicAdd(kept, 1);
  }
}
