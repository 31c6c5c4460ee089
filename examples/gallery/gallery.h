// What the examples share: sizes, device buffers, timing, and writing of results to files.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "results.h"

// Sizes for a GPU (GALLERY_LARGE) exceed its caches; the others suit a few CPU cores. Each kernel's
// tag says the same sizes as the launch below it.
#ifdef GALLERY_LARGE
constexpr bool kLarge = true;
#else
constexpr bool kLarge = false;
#endif

// Sizes that toolkit_calls.cu times the toolkit's libraries with, too.
constexpr int kReductionElements = kLarge ? 1 << 23 : 1 << 18;
constexpr int kHistogramElements = kLarge ? 1 << 24 : 1 << 20;
constexpr int kTransposeWidth = kLarge ? 2048 : 1024;
constexpr int kMatmulSize = kLarge ? 2048 : 256;

struct Timing {
  std::string name;
  double microseconds = 0;
};

inline void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "gallery: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(3);
}

template <class T>
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t count) : count_(count) {
    Check(cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)), "cudaMalloc");
  }
  explicit DeviceBuffer(const std::vector<T>& values) : DeviceBuffer(values.size()) { Set(values); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() { cudaFree(data_); }
  void Set(const std::vector<T>& values) {
    Check(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), "upload");
  }
  // Another buffer of the same size, copied on the device.
  void CopyFrom(const DeviceBuffer& other) {
    Check(cudaMemcpy(data_, other.data_, count_ * sizeof(T), cudaMemcpyDeviceToDevice), "copy");
  }
  std::vector<T> Get() const {
    std::vector<T> values(count_);
    Check(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "download");
    return values;
  }
  T* get() { return data_; }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

// Values made by `next`; beyond a million they repeat, so that large inputs are there at once.
template <class T, class Next>
std::vector<T> Values(std::size_t count, Next next) {
  constexpr std::size_t kPeriod = std::size_t{1} << 20;
  std::vector<T> values(count);
  for (std::size_t i = 0; i < std::min(count, kPeriod); ++i) values[i] = next();
  for (std::size_t done = kPeriod; done < count; done += kPeriod) {
    std::copy_n(values.begin(), std::min(kPeriod, count - done), values.begin() + done);
  }
  return values;
}

inline std::vector<float> NormalValues(std::size_t count, unsigned seed, float mean = 0,
                                       float deviation = 1) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> distribution(mean, deviation);
  return Values<float>(count, [&] { return distribution(generator); });
}

// Median time of `launch`, after one that warms up; `reset` runs before each, untimed. On a GPU a
// memory is cleared before: it empties the caches, and keeps the GPU busy until event and launch
// are queued behind it, so that the time between them is the kernel's.
template <class Reset, class Launch>
double MedianMicroseconds(const Options& options, Reset reset, Launch launch) {
  cudaEvent_t begin, end;
  Check(cudaEventCreate(&begin), "cudaEventCreate");
  Check(cudaEventCreate(&end), "cudaEventCreate");
  constexpr std::size_t kBusyBytes = kLarge ? std::size_t{128} << 20 : 1;
  DeviceBuffer<unsigned char> busy(kBusyBytes);
  std::vector<double> times;
  for (int i = 0; i <= options.repeat; ++i) {
    reset();
    if (kLarge) Check(cudaMemsetAsync(busy.get(), 0, kBusyBytes), "cudaMemsetAsync");
    Check(cudaEventRecord(begin), "cudaEventRecord");
    launch();
    Check(cudaGetLastError(), "launch");
    Check(cudaEventRecord(end), "cudaEventRecord");
    Check(cudaEventSynchronize(end), "kernel");
    float milliseconds = 0;
    Check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
    if (i > 0) times.push_back(1000.0 * milliseconds);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

template <class T>
void WriteOutput(const Options& options, const char* name, const std::vector<T>& values) {
  if (!options.outputs.empty()) {
    WriteBytes(options.outputs + "/" + name + ".bin", values.data(), values.size() * sizeof(T));
  }
}

Timing RunSaxpy(const Options& options);
Timing RunTranspose(const Options& options);
Timing RunSoftmax(const Options& options);
Timing RunLayerNorm(const Options& options);
Timing RunReduction(const Options& options);
Timing RunConvolution(const Options& options);
Timing RunHotspot(const Options& options);
Timing RunMatmul(const Options& options);
Timing RunNbody(const Options& options);
Timing RunHistogram(const Options& options);
