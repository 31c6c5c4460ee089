// The residual of the Poisson equation on a box grid, and the bits of the greatest of its absolute values (a NaN counts as
// greater than all).
__device__ double residual_at(const double* x, const double* b, int at, int nx, int ny, double hx, double hy, double hz) {
  const double c = 2.0 * x[at];
  const double product = (c - x[at - 1] - x[at + 1]) / (hx * hx) + (c - x[at - nx] - x[at + nx]) / (hy * hy) +
                         (c - x[at - nx * ny] - x[at + nx * ny]) / (hz * hz);
  return b[at] - product;
}

// cupilot: tune
// cupilot: workload tall grid=(3,5,8) block=(8,4,2) nx=20 ny=18 nz=16 hx=0.1 hy=0.2 hz=0.4 x=normal[nx*ny*nz] b=normal[nx*ny*nz] r=[nx*ny*nz] worst=inout integers(0,0)[1]
// cupilot: workload wide grid=(3,5,8) block=(8,4,2) nx=20 ny=18 nz=16 hx=0.4 hy=0.2 hz=0.1 x=normal[nx*ny*nz] b=normal[nx*ny*nz] r=[nx*ny*nz] worst=inout integers(0,0)[1]
__global__ void residual_norm(const double* x, const double* b, double* r, unsigned long long* worst, int nx, int ny, int nz, double hx, double hy, double hz) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  const int k = blockIdx.z * blockDim.z + threadIdx.z;
  if (i >= nx || j >= ny || k >= nz) return;
  const int at = (k * ny + j) * nx + i;
  if (i == 0 || j == 0 || k == 0 || i == nx - 1 || j == ny - 1 || k == nz - 1) {
    r[at] = 0.0;
    return;
  }
  const double v = residual_at(x, b, at, nx, ny, hx, hy, hz);
  r[at] = v;
  atomicMax(worst, (unsigned long long)__double_as_longlong(fabs(v)));
}
