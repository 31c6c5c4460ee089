// What the toolkit's own libraries take for four of the examples: CUB's reduction and histogram, a device copy
// for the transpose, cuBLAS (fp32, no tensor cores) for the matrix product. The yardstick on a GPU.
//   toolkit_calls [JSON-FILE]
#include <cublas_v2.h>

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>

#include "gallery.h"

namespace {

void CheckBlas(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "toolkit_calls: %s: error %d\n", what, static_cast<int>(status));
  std::exit(3);
}

void Expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "toolkit_calls: %s: the result is wrong\n", what);
  std::exit(3);
}

// The time of a CUB call; `call(storage, bytes)` asks for its storage when that is null.
template <class Call>
double CubMicroseconds(const Options& options, Call call) {
  std::size_t bytes = 0;
  Check(call(nullptr, bytes), "CUB");
  DeviceBuffer<unsigned char> storage(bytes == 0 ? 1 : bytes);
  return MedianMicroseconds(options, [] {}, [&] { Check(call(storage.get(), bytes), "CUB"); });
}

double Reduction(const Options& options) {
  const int n = kReductionElements;
  const std::vector<float> in(n, 0.5f);
  DeviceBuffer<float> device_in(in), device_out(1);
  const double time = CubMicroseconds(options, [&](void* storage, std::size_t& bytes) {
    return cub::DeviceReduce::Sum(storage, bytes, device_in.get(), device_out.get(), n);
  });
  Expect(device_out.Get()[0] == 0.5f * n, "reduction");
  return time;
}

double Histogram(const Options& options) {
  const int n = kHistogramElements;
  std::mt19937 generator(19);
  const auto data =
      Values<unsigned char>(n, [&] { return static_cast<unsigned char>(generator() >> 11); });
  DeviceBuffer<unsigned char> device_data(data);
  DeviceBuffer<unsigned int> bins(256);
  const double time = CubMicroseconds(options, [&](void* storage, std::size_t& bytes) {
    return cub::DeviceHistogram::HistogramEven(storage, bytes, device_data.get(), bins.get(), 257, 0,
                                               256, n);
  });
  const std::vector<unsigned int> counts = bins.Get();
  std::size_t sum = 0;
  for (const unsigned int count : counts) sum += count;
  Expect(sum == data.size(), "histogram");
  return time;
}

double Copy(const Options& options) {
  const std::vector<float> in = NormalValues(kTransposeWidth * kTransposeWidth, 3);
  DeviceBuffer<float> from(in), to(in.size());
  const double time = MedianMicroseconds(options, [] {}, [&] { to.CopyFrom(from); });
  Expect(to.Get() == in, "copy");
  return time;
}

double Product(const Options& options) {
  const int size = kMatmulSize;
  const std::vector<float> a = NormalValues(size * size, 13), b(a.size(), 1.0f);
  DeviceBuffer<float> device_a(a), device_b(b), device_c(a.size());
  cublasHandle_t handle;
  CheckBlas(cublasCreate(&handle), "cublasCreate");
  CheckBlas(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");
  const float one = 1.0f, zero = 0.0f;
  // Rows of ours are columns there: C' = B' A'.
  const double time = MedianMicroseconds(options, [] {}, [&] {
    CheckBlas(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &one, device_b.get(),
                          size, device_a.get(), size, &zero, device_c.get(), size),
              "cublasSgemm");
  });
  cublasDestroy(handle);
  double sum = 0;
  for (int i = 0; i < size; ++i) sum += a[i];
  Expect(std::fabs(device_c.Get()[0] - sum) < 1e-3 * size, "matrix product");
  return time;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options;
  const std::string text = "{\n  \"reduction\": " + std::to_string(Reduction(options)) +
                           ",\n  \"histogram\": " + std::to_string(Histogram(options)) +
                           ",\n  \"transpose\": " + std::to_string(Copy(options)) +
                           ",\n  \"matmul\": " + std::to_string(Product(options)) + "\n}\n";
  std::fputs(text.c_str(), stdout);
  if (argc > 1) WriteBytes(argv[1], text.data(), text.size());
  return 0;
}
