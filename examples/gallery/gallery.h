// What the examples share: device buffers, timing, and writing of results to files.
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

struct Options {
  int repeat = 15;         // launches that are timed; the median counts
  std::string outputs;     // folder for <name>.bin, or empty
  std::string references;  // folder for <name>.reference, or empty
  std::string only;        // one example's name, or empty
};

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

inline std::vector<float> NormalValues(std::size_t count, unsigned seed, float mean = 0,
                                       float deviation = 1) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> distribution(mean, deviation);
  std::vector<float> values(count);
  for (float& value : values) value = distribution(generator);
  return values;
}

// Median time of `launch`, after one that warms up; `reset` runs before each, untimed.
template <class Reset, class Launch>
double MedianMicroseconds(const Options& options, Reset reset, Launch launch) {
  cudaEvent_t begin, end;
  Check(cudaEventCreate(&begin), "cudaEventCreate");
  Check(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<double> times;
  for (int i = 0; i <= options.repeat; ++i) {
    reset();
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

inline void WriteBytes(const std::string& path, const void* data, std::size_t bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr || std::fwrite(data, 1, bytes, file) != bytes || std::fclose(file) != 0) {
    std::fprintf(stderr, "gallery: cannot write %s\n", path.c_str());
    std::exit(3);
  }
}

template <class T>
void WriteOutput(const Options& options, const char* name, const std::vector<T>& values) {
  if (!options.outputs.empty()) {
    WriteBytes(options.outputs + "/" + name + ".bin", values.data(), values.size() * sizeof(T));
  }
}

// Writes what a result may be judged by: the exact result d (computed in double) and, per element,
// the unit in which rounding is counted: kappa + 2^-24 |d| + smallest normal number, where kappa is
// the rms change of d when each input moves within its own rounding (8 draws). File: doubles
// [inputs of one output, count, d..., unit...].
template <class Compute>
void WriteReference(const Options& options, const char* name,
                    const std::vector<std::vector<float>>& inputs, std::size_t outputs,
                    double inputs_per_output, Compute compute) {
  if (options.references.empty()) return;
  constexpr double kRoundoff = 1.0 / (1 << 24);
  std::vector<std::vector<double>> exact;
  for (const auto& input : inputs) exact.emplace_back(input.begin(), input.end());
  std::vector<double> d(outputs), moved(outputs), sum(outputs, 0.0);
  compute(exact, d);
  std::mt19937_64 generator(7);
  std::uniform_real_distribution<double> xi(-1.7320508075688772, 1.7320508075688772);
  constexpr int kDraws = 8;
  for (int draw = 0; draw < kDraws; ++draw) {
    auto perturbed = exact;
    for (auto& input : perturbed) {
      for (double& value : input) value *= 1.0 + kRoundoff * xi(generator);
    }
    compute(perturbed, moved);
    for (std::size_t i = 0; i < outputs; ++i) sum[i] += (moved[i] - d[i]) * (moved[i] - d[i]);
  }
  std::vector<double> file = {inputs_per_output, static_cast<double>(outputs)};
  file.insert(file.end(), d.begin(), d.end());
  for (std::size_t i = 0; i < outputs; ++i) {
    file.push_back(std::sqrt(sum[i] / kDraws) + kRoundoff * std::fabs(d[i]) + 1.1754943508222875e-38);
  }
  WriteBytes(options.references + "/" + name + ".reference", file.data(),
             file.size() * sizeof(double));
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
