// One leapfrog step of the acoustic wave equation with a fixed rim and a damping field.
// cupilot: tune
// cupilot: workload step grid=(5,8) block=(16,8) nx=75 ny=61 courant=0.25 before=normal[nx*ny] now=normal[nx*ny] speed=uniform(0.5,1.5)[nx*ny] damping=uniform(0,0.1)[nx*ny] after=[nx*ny]
__global__ void wave_step(const float* before, const float* now, const float* speed, const float* damping, float* after, int nx, int ny, float courant) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  const int at = y * nx + x;
  if (x == 0 || y == 0 || x == nx - 1 || y == ny - 1) {
    after[at] = 0.0f;
    return;
  }
  const float c = now[at];
  const float laplacian = now[at - 1] + now[at + 1] + now[at - nx] + now[at + nx] - 4.0f * c;
  const float k = courant * speed[at] * speed[at];
  const float d = damping[at];
  after[at] = (2.0f * c - (1.0f - d) * before[at] + k * laplacian) / (1.0f + d);
}
