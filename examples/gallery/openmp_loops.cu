// Three of the examples as hand-written OpenMP loops: the same arithmetic, compiler, flags and threads
// as the kernels on the host device. The yardstick that says what a CPU can be expected to do.
//   openmp_loops [JSON-FILE]
#include <chrono>

#include "gallery.h"

namespace {

template <class Body>
double MedianOf(Body body) {
  std::vector<double> times;
  for (int i = 0; i <= 15; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    if (i > 0) times.push_back(time.count());
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

void Saxpy(int n, float a, const float* x, float* y) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}

void Hotspot(const float* temperature, const float* power, float* result, int columns, int rows,
             float rx, float ry, float rz, float step, float ambient) {
#pragma omp parallel for
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < columns; ++x) {
      int i = y * columns + x;
      float center = temperature[i];
      float west = x > 0 ? temperature[i - 1] : center;
      float east = x < columns - 1 ? temperature[i + 1] : center;
      float north = y > 0 ? temperature[i - columns] : center;
      float south = y < rows - 1 ? temperature[i + columns] : center;
      result[i] = center + step * (power[i] + (south + north - 2.0f * center) * ry +
                                   (east + west - 2.0f * center) * rx + (ambient - center) * rz);
    }
  }
}

void Matmul(const float* a, const float* b, float* c, int m, int n, int k) {
#pragma omp parallel for
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      float sum = 0.0f;
      for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
      c[row * n + column] = sum;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int n = 1 << 20, columns = 1024, rows = 512, size = 256;
  std::vector<float> x = NormalValues(n, 1), y = NormalValues(n, 2);
  const std::vector<float> temperature = NormalValues(columns * rows, 11, 300.0f, 10.0f);
  const std::vector<float> power = NormalValues(columns * rows, 12, 0.5f, 0.1f);
  std::vector<float> result(power.size());
  const std::vector<float> a = NormalValues(size * size, 13), b = NormalValues(size * size, 14);
  std::vector<float> c(a.size());
  const double saxpy = MedianOf([&] { Saxpy(n, 2.5f, x.data(), y.data()); });
  const double hotspot = MedianOf([&] {
    Hotspot(temperature.data(), power.data(), result.data(), columns, rows, 0.1f, 0.2f, 0.01f, 0.5f,
            80.0f);
  });
  const double matmul = MedianOf([&] { Matmul(a.data(), b.data(), c.data(), size, size, size); });
  const std::string text = "{\n  \"saxpy\": " + std::to_string(saxpy) +
                           ",\n  \"hotspot\": " + std::to_string(hotspot) +
                           ",\n  \"matmul\": " + std::to_string(matmul) + "\n}\n";
  std::fputs(text.c_str(), stdout);
  if (argc > 1) WriteBytes(argv[1], text.data(), text.size());
  return 0;
}
