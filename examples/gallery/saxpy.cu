// y = a x + y
#include "gallery.h"

// cupilot: tune
#ifdef GALLERY_LARGE
// cupilot: workload 4M grid=16384 block=256 n=4194304 a=2.5 x=normal[n] y=inout normal[n]
#else
// cupilot: workload 1M grid=4096 block=256 n=1048576 a=2.5 x=normal[n] y=inout normal[n]
#endif
__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

Timing RunSaxpy(const Options& options) {
  const int n = kLarge ? 1 << 22 : 1 << 20;
  const std::vector<float> x = NormalValues(n, 1), y = NormalValues(n, 2);
  DeviceBuffer<float> device_x(x), first_y(y), device_y(n);
  auto launch = [&] {
    saxpy<<<(n + 255) / 256, 256>>>(n, 2.5f, device_x.get(), device_y.get());
  };
  const double time = MedianMicroseconds(options, [&] { device_y.CopyFrom(first_y); }, launch);
  WriteOutput(options, "saxpy", device_y.Get());
  WriteReference(options, "saxpy", {x, y}, n, 2, n, [](const Inputs& in, auto& out, int i) {
    out[i] = 2.5 * in[0][i] + in[1][i];
  });
  return {"saxpy", time};
}
