// Rows that lie further apart than they are wide; what lies between them is somebody else's.
// cupilot: tune
// cupilot: workload frame grid=(3,37) block=(32) width=70 height=37 pitch=80 in=normal[pitch*height] out=inout normal[pitch*height]
__global__ void pitched(const float* in, float* out, int width, int height, int pitch) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width || y >= height) return;
  const float left = x > 0 ? in[y * pitch + x - 1] : 0.0f;
  out[y * pitch + x] = 0.5f * (left + in[y * pitch + x]);
}
