// One step of a heat simulation: a five-point stencil with a source of power at each cell.
#include "gallery.h"

// cupilot: tune
#ifdef GALLERY_LARGE
// cupilot: workload 2048x2048 grid=(128,128) block=(16,16) columns=2048 rows=2048 rx=0.1 ry=0.2 rz=0.01 step=0.5 ambient=80 temperature=normal(300,10)[rows*columns] power=uniform(0,1)[rows*columns] result=[rows*columns]
#else
// cupilot: workload 1024x512 grid=(64,32) block=(16,16) columns=1024 rows=512 rx=0.1 ry=0.2 rz=0.01 step=0.5 ambient=80 temperature=normal(300,10)[rows*columns] power=uniform(0,1)[rows*columns] result=[rows*columns]
#endif
__global__ void hotspot(const float* temperature, const float* power, float* result, int columns,
                        int rows, float rx, float ry, float rz, float step, float ambient) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= columns || y >= rows) return;
  int i = y * columns + x;
  float center = temperature[i];
  float west = x > 0 ? temperature[i - 1] : center;
  float east = x < columns - 1 ? temperature[i + 1] : center;
  float north = y > 0 ? temperature[i - columns] : center;
  float south = y < rows - 1 ? temperature[i + columns] : center;
  result[i] = center + step * (power[i] + (south + north - 2.0f * center) * ry +
                               (east + west - 2.0f * center) * rx + (ambient - center) * rz);
}

Timing RunHotspot(const Options& options) {
  const int columns = kLarge ? 2048 : 1024, rows = kLarge ? 2048 : 512;
  const std::vector<float> temperature = NormalValues(columns * rows, 11, 300.0f, 10.0f);
  const std::vector<float> power = NormalValues(columns * rows, 12, 0.5f, 0.1f);
  DeviceBuffer<float> device_temperature(temperature), device_power(power), device_result(power.size());
  const dim3 block(16, 16);
  const dim3 grid((columns + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
  const double time = MedianMicroseconds(options, [] {}, [&] {
    hotspot<<<grid, block>>>(device_temperature.get(), device_power.get(), device_result.get(),
                             columns, rows, 0.1f, 0.2f, 0.01f, 0.5f, 80.0f);
  });
  WriteOutput(options, "hotspot", device_result.Get());
  auto exact = [&](const Inputs& source, auto& out, int y) {
    const double rx = 0.1f, ry = 0.2f, rz = 0.01f;
    const auto& t = source[0];
    for (int x = 0; x < columns; ++x) {
      const int i = y * columns + x;
      const double center = t[i];
      const double west = x > 0 ? t[i - 1] : center, east = x < columns - 1 ? t[i + 1] : center;
      const double north = y > 0 ? t[i - columns] : center;
      const double south = y < rows - 1 ? t[i + columns] : center;
      out[i] = center + 0.5 * (source[1][i] + (south + north - 2 * center) * ry +
                               (east + west - 2 * center) * rx + (80.0 - center) * rz);
    }
  };
  WriteReference(options, "hotspot", {temperature, power}, power.size(), 6, rows, exact);
  return {"hotspot", time};
}
