// What the programs here share: cases that report where a value differs, and buffers of the device.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace checks {

inline int& Failures() {
  static int failures = 0;
  return failures;
}
inline std::map<std::string, void (*)()>& Cases() {
  static std::map<std::string, void (*)()> cases;
  return cases;
}
struct Case {
  Case(const char* name, void (*run)()) { Cases()[name] = run; }
};

template <class A, class B>
void Same(const char* file, int line, const char* what, const A& actual, const B& expected) {
  if (actual == expected) return;
  ++Failures();
  std::cerr << file << ":" << line << ": " << what << " is " << actual << ", expected " << expected
            << "\n";
}

// The first element that differs.
template <class T>
void SameAll(const char* file, int line, const char* what, const std::vector<T>& actual,
             const std::vector<T>& expected) {
  if (actual == expected) return;
  Same(file, line, "size", actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size() && i < expected.size(); ++i) {
    if (actual[i] == expected[i]) continue;
    const std::string element = std::string(what) + "[" + std::to_string(i) + "]";
    return Same(file, line, element.c_str(), actual[i], expected[i]);
  }
}

// `count` elements on the device.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t count, T value = T()) : Buffer(std::vector<T>(count, value)) {}
  explicit Buffer(const std::vector<T>& values) : count_(values.size()) {
    cudaMalloc(&data_, count_ * sizeof(T));
    cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { cudaFree(data_); }
  operator T*() const { return data_; }
  std::vector<T> Read() const {
    std::vector<T> values(count_);
    cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost);
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

// f(0), f(1), ...
template <class T, class F>
std::vector<T> Make(std::size_t count, F f) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(f(static_cast<int>(i)));
  return values;
}

// All cases, or the one that is named.
inline int Main(int argc, char** argv) {
  int ran = 0;
  for (const auto& [name, run] : Cases()) {
    if (argc > 1 && name != argv[1]) continue;
    const int before = Failures();
    run();
    if (Failures() != before) std::cerr << "  in case " << name << "\n";
    ++ran;
  }
  if (Failures() == 0 && ran > 0) std::cout << "all cases hold\n";
  return Failures() == 0 && ran > 0 ? 0 : 1;
}

}  // namespace checks

#define CASE(name)                                    \
  static void name();                                 \
  static const checks::Case name##_case(#name, name); \
  static void name()
#define SAME(actual, expected) checks::Same(__FILE__, __LINE__, #actual, actual, expected)
#define SAME_ALL(actual, expected) checks::SameAll(__FILE__, __LINE__, #actual, actual, expected)
#define WORKS(call) SAME(std::string(cudaGetErrorName(call)), std::string("cudaSuccess"))
#define FAILS_WITH(error, call) SAME(std::string(cudaGetErrorName(call)), std::string(#error))
