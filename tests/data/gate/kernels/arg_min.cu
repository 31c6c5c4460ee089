// The first place of each row's least value.
// cupilot: tune
// cupilot: workload rows grid=(64) block=(32) count=64 width=200 in=normal[count*width] place=[count]
__global__ void arg_min(const float* in, int* place, int count, int width) {
  __shared__ float values[32];
  __shared__ int places[32];
  const float* row = in + blockIdx.x * width;
  float least = INFINITY;
  int where = width;
  for (int i = threadIdx.x; i < width; i += 32) {
    if (row[i] < least) {
      least = row[i];
      where = i;
    }
  }
  values[threadIdx.x] = least;
  places[threadIdx.x] = where;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int t = 1; t < 32; ++t) {
    if (values[t] < least || (values[t] == least && places[t] < where)) {
      least = values[t];
      where = places[t];
    }
  }
  place[blockIdx.x] = where;
}
