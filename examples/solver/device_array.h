// Memory of the device, and errors of the runtime, which end the program with exit code 3.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace solver {

inline void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "solver: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(3);
}

// Zeros at first. Movable, so that two arrays can be swapped.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    Check(cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)), "cudaMalloc");
    Clear();
  }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~DeviceArray() { cudaFree(data_); }

  T* get() { return data_; }
  const T* get() const { return data_; }
  std::size_t count() const { return count_; }

  void Clear() { Check(cudaMemsetAsync(data_, 0, count_ * sizeof(T)), "cudaMemsetAsync"); }
  void Upload(const std::vector<T>& values) {
    Check(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), "upload");
  }
  std::vector<T> Download() const {
    std::vector<T> values(count_);
    Check(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "download");
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

}  // namespace solver
