// Layer normalisation: one thread a row.
#include "gallery.h"

// cupilot: tune
__global__ void layer_norm(const float* in, const float* gain, const float* bias, float* out,
                           int rows, int columns, float epsilon) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;

  float mean = 0.0f;
  for (int i = 0; i < columns; ++i) {
    mean += in[row * columns + i];
  }
  mean /= columns;

  float variance = 0.0f;
  for (int i = 0; i < columns; ++i) {
    float d = in[row * columns + i] - mean;
    variance += d * d;
  }
  variance /= columns;

  float scale = 1.0f / sqrtf(variance + epsilon);
  for (int i = 0; i < columns; ++i) {
    out[row * columns + i] = (in[row * columns + i] - mean) * scale * gain[i] + bias[i];
  }
}

Timing RunLayerNorm(const Options& options) {
  const int rows = kLarge ? 8192 : 4096, columns = kLarge ? 1024 : 512;
  const std::vector<float> in = NormalValues(rows * columns, 5);
  const std::vector<float> gain = NormalValues(columns, 6, 1.0f, 0.1f), bias = NormalValues(columns, 7);
  DeviceBuffer<float> device_in(in), device_gain(gain), device_bias(bias), device_out(in.size());
  const double time = MedianMicroseconds(options, [] {}, [&] {
    layer_norm<<<(rows + 127) / 128, 128>>>(device_in.get(), device_gain.get(), device_bias.get(),
                                            device_out.get(), rows, columns, 1e-5f);
  });
  WriteOutput(options, "layer_norm", device_out.Get());
  auto exact = [&](const Inputs& source, auto& out, int r) {
    const double* row = source[0].data() + r * columns;
    double mean = 0, variance = 0;
    for (int i = 0; i < columns; ++i) mean += row[i] / columns;
    for (int i = 0; i < columns; ++i) variance += (row[i] - mean) * (row[i] - mean) / columns;
    const double scale = 1.0 / std::sqrt(variance + double(1e-5f));
    for (int i = 0; i < columns; ++i) {
      out[r * columns + i] = (row[i] - mean) * scale * source[1][i] + source[2][i];
    }
  };
  WriteReference(options, "layer_norm", {in, gain, bias}, in.size(), columns, rows, exact);
  return {"layer_norm", time};
}
