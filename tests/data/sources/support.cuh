// What the programs of this folder share: arrays on the device, and showing what is in them.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace support {

inline void Check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorString(error));
  std::exit(1);
}

template <class T>
class Array {
 public:
  // Values that begin at `first` and differ by `step`, a few of them a round.
  explicit Array(int count, double first = 0, double step = 0)
      : count_(count), values_(new T[count]), data_(0) {
    for (int i = 0; i < count; ++i) values_[i] = T(first + step * (i % 61));
    Check(cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)));
    Check(cudaMemcpy(data_, values_, count * sizeof(T), cudaMemcpyHostToDevice));
  }
  Array(const Array&) = delete;
  ~Array() {
    cudaFree(data_);
    delete[] values_;
  }

  T* get() const { return data_; }
  int count() const { return count_; }
  const T* Read() const {
    Check(cudaGetLastError());
    Check(cudaDeviceSynchronize());
    Check(cudaMemcpy(values_, data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values_;
  }

 private:
  int count_;
  T* values_;
  T* data_;
};

// A sum that knows the order, and some values.
template <class T>
void Show(const char* name, const Array<T>& array) {
  const T* values = array.Read();
  const int count = array.count();
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += double(i % 97 + 1) * double(values[i]);
  std::printf("%s: %.9g %.9g %.9g, sum %.9g\n", name, double(values[0]), double(values[count / 2]),
              double(values[count - 1]), sum);
}

}  // namespace support
