// The accelerations of n bodies by direct summation, one body a thread.
#include "gallery.h"

// cupilot: tune
#ifdef GALLERY_LARGE
// cupilot: workload 32768 grid=128 block=256 n=32768 softening=0.01 x=normal[n] y=normal[n] z=normal[n] mass=uniform(0.5,1.5)[n] ax=[n] ay=[n] az=[n]
#else
// cupilot: workload 2048 grid=8 block=256 n=2048 softening=0.01 x=normal[n] y=normal[n] z=normal[n] mass=uniform(0.5,1.5)[n] ax=[n] ay=[n] az=[n]
#endif
__global__ void nbody(const float* x, const float* y, const float* z, const float* mass, float* ax,
                      float* ay, float* az, int n, float softening) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float px = x[i], py = y[i], pz = z[i];
  float sum_x = 0.0f, sum_y = 0.0f, sum_z = 0.0f;
  for (int j = 0; j < n; ++j) {
    float dx = x[j] - px;
    float dy = y[j] - py;
    float dz = z[j] - pz;
    float distance = sqrtf(dx * dx + dy * dy + dz * dz + softening);
    float factor = mass[j] / (distance * distance * distance);
    sum_x += dx * factor;
    sum_y += dy * factor;
    sum_z += dz * factor;
  }
  ax[i] = sum_x;
  ay[i] = sum_y;
  az[i] = sum_z;
}

Timing RunNbody(const Options& options) {
  const int n = kLarge ? 32768 : 2048;
  const std::vector<float> x = NormalValues(n, 15), y = NormalValues(n, 16), z = NormalValues(n, 17);
  const std::vector<float> mass = NormalValues(n, 18, 1.0f, 0.1f);
  DeviceBuffer<float> device_x(x), device_y(y), device_z(z), device_mass(mass);
  DeviceBuffer<float> ax(n), ay(n), az(n);
  const double time = MedianMicroseconds(options, [] {}, [&] {
    nbody<<<(n + 255) / 256, 256>>>(device_x.get(), device_y.get(), device_z.get(),
                                    device_mass.get(), ax.get(), ay.get(), az.get(), n, 0.01f);
  });
  std::vector<float> all = ax.Get();
  for (auto* part : {&ay, &az}) {
    const std::vector<float> values = part->Get();
    all.insert(all.end(), values.begin(), values.end());
  }
  WriteOutput(options, "nbody", all);
  WriteReference(options, "nbody", {x, y, z, mass}, 3 * n, 4 * n, n, [&](const Inputs& in, auto& out, int i) {
    double sum[3] = {0, 0, 0};
    for (int j = 0; j < n; ++j) {
      double d[3], square = double(0.01f);
      for (int c = 0; c < 3; ++c) {
        d[c] = in[c][j] - in[c][i];
        square += d[c] * d[c];
      }
      const double factor = in[3][j] / (square * std::sqrt(square));
      for (int c = 0; c < 3; ++c) sum[c] += d[c] * factor;
    }
    for (int c = 0; c < 3; ++c) out[c * n + i] = sum[c];
  });
  return {"nbody", time};
}
