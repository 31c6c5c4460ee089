// Means of table rows over bags of ids; one id is padding and does not count.
// cupilot: tune
// cupilot: workload bags grid=(40) block=(64) width=40 pad=3 table=normal[6000*width] index=indices(0,6000)[160] start=offsets(160)[41] out=[40*width]
__global__ void embedding_bag(const float* table, const int* index, const int* start, float* out, int width, int pad) {
  const int bag = blockIdx.x;
  for (int j = threadIdx.x; j < width; j += blockDim.x) {
    float sum = 0.0f;
    int count = 0;
    for (int i = start[bag]; i < start[bag + 1]; ++i) {
      if (index[i] == pad) continue;
      sum += table[index[i] * width + j];
      ++count;
    }
    out[bag * width + j] = count > 0 ? sum / count : 0.0f;
  }
}
