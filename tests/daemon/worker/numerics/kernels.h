// The kernels themselves: functions of inputs, an order of summation and a rounding of what they
// read. W is F for a candidate and a wider type for the twin.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "tests/daemon/worker/numerics/make_subject.h"

namespace cupilot::worker::numerics {

template <class T>
using Exponential = T (*)(T);

template <class T>
T Exp(T x) {
  return std::exp(x);
}

template <class T>
std::vector<T> SumRows(const std::vector<T>& in, std::size_t width, const Sum<T>& sum) {
  std::vector<T> out;
  for (std::size_t begin = 0; begin < in.size(); begin += width) {
    out.push_back(sum(in.data() + begin, width));
  }
  return out;
}

template <class T>
std::vector<T> Softmax(const std::vector<T>& in, std::size_t width, const Sum<T>& sum,
                       Exponential<T> exponential = &Exp<T>) {
  std::vector<T> out(in.size()), shares(width);
  for (std::size_t begin = 0; begin < in.size(); begin += width) {
    const T* row = in.data() + begin;
    const T most = *std::max_element(row, row + width);
    for (std::size_t i = 0; i < width; ++i) shares[i] = exponential(row[i] - most);
    const T all = sum(shares.data(), width);
    for (std::size_t i = 0; i < width; ++i) out[begin + i] = shares[i] / all;
  }
  return out;
}

// The greatest value and the sum in one pass, corrected as they go.
template <class T>
std::vector<T> SoftmaxOnline(const std::vector<T>& in, std::size_t width) {
  std::vector<T> out(in.size());
  for (std::size_t begin = 0; begin < in.size(); begin += width) {
    T most = -std::numeric_limits<T>::infinity(), all = 0;
    for (std::size_t i = begin; i < begin + width; ++i) {
      const T next = std::max(most, in[i]);
      all = all * std::exp(most - next) + std::exp(in[i] - next);
      most = next;
    }
    for (std::size_t i = begin; i < begin + width; ++i) out[i] = std::exp(in[i] - most) / all;
  }
  return out;
}

template <class T>
T Mean(const T* row, std::size_t width, const Sum<T>& sum) {
  return sum(row, width) / static_cast<T>(width);
}

// Of the squares of row - shift.
template <class T>
T MeanSquare(const T* row, std::size_t width, T shift, const Sum<T>& sum) {
  std::vector<T> squares(width);
  for (std::size_t i = 0; i < width; ++i) squares[i] = (row[i] - shift) * (row[i] - shift);
  return Mean(squares.data(), width, sum);
}

template <class T>
T Variance(const T* row, std::size_t width, const Sum<T>& sum, bool one_pass) {
  const T mean = Mean(row, width, sum);
  if (one_pass) return MeanSquare(row, width, T(0), sum) - mean * mean;
  return MeanSquare(row, width, mean, sum);
}

template <class T>
std::vector<T> VarianceRows(const std::vector<T>& in, std::size_t width, const Sum<T>& sum,
                            bool one_pass) {
  std::vector<T> out;
  for (std::size_t begin = 0; begin < in.size(); begin += width) {
    out.push_back(Variance(in.data() + begin, width, sum, one_pass));
  }
  return out;
}

template <class T>
std::vector<T> LayerNorm(const std::vector<T>& in, std::size_t width, const Sum<T>& sum,
                         bool one_pass = false) {
  std::vector<T> out(in.size());
  for (std::size_t begin = 0; begin < in.size(); begin += width) {
    const T* row = in.data() + begin;
    const T mean = Mean(row, width, sum);
    const T variance = std::max(T(0), Variance(row, width, sum, one_pass));
    const T scale = std::sqrt(variance + T(1e-5f));
    for (std::size_t i = 0; i < width; ++i) out[begin + i] = (row[i] - mean) / scale;
  }
  return out;
}

// Running sums; `block` 0: in order, else of blocks, whose sums are added to what follows.
template <class T>
std::vector<T> ScanRows(const std::vector<T>& in, std::size_t width, std::size_t block) {
  std::vector<T> out(in.size());
  const std::size_t step = block == 0 ? width : block;
  for (std::size_t row = 0; row < in.size(); row += width) {
    T before = 0;
    for (std::size_t begin = row; begin < row + width; begin += step) {
      T sum = 0;
      const std::size_t end = std::min(begin + step, row + width);
      for (std::size_t i = begin; i < end; ++i) {
        sum += in[i];
        out[i] = before + sum;
      }
      before += sum;
    }
  }
  return out;
}

struct MatmulShape {
  std::size_t m, k, n;
};

// One stretch of the inner side, in order.
template <class T>
void AddProducts(const std::vector<T>& a, const std::vector<T>& b, const MatmulShape& s,
                 std::size_t from, std::size_t to, std::vector<T>& c) {
  for (std::size_t i = 0; i < s.m; ++i) {
    T* row = c.data() + i * s.n;
    for (std::size_t k = from; k < to; ++k) {
      const T x = a[i * s.k + k];
      const T* other = b.data() + k * s.n;
      for (std::size_t j = 0; j < s.n; ++j) row[j] += x * other[j];
    }
  }
}

template <class T>
std::vector<T> Matmul(const std::vector<T>& a, const std::vector<T>& b, const MatmulShape& s,
                      std::size_t splits) {
  std::vector<T> c(s.m * s.n);
  for (std::size_t part = 0; part < splits; ++part) {
    std::vector<T> sums(s.m * s.n);
    AddProducts(a, b, s, s.k * part / splits, s.k * (part + 1) / splits, sums);
    for (std::size_t i = 0; i < c.size(); ++i) c[i] += sums[i];
  }
  return c;
}

// Each factor in two parts of 11 bits, three of their four products: as tensor cores do it where
// single precision is wanted.
inline std::vector<float> MatmulThreeTf32(const std::vector<float>& a, const std::vector<float>& b,
                                          const MatmulShape& s) {
  const auto rest = [](float x) { return ToTf32(x - ToTf32(x)); };
  const std::vector<float> a1 = Rounded<float>(a, &ToTf32), a2 = Rounded<float>(a, +rest);
  const std::vector<float> b1 = Rounded<float>(b, &ToTf32), b2 = Rounded<float>(b, +rest);
  std::vector<float> c(s.m * s.n), one(s.m * s.n);
  for (std::size_t k = 0; k < s.k; ++k) {
    std::fill(one.begin(), one.end(), 0.0f);
    AddProducts(a2, b1, s, k, k + 1, one);
    AddProducts(a1, b2, s, k, k + 1, one);
    AddProducts(a1, b1, s, k, k + 1, one);
    for (std::size_t i = 0; i < c.size(); ++i) c[i] += one[i];
  }
  return c;
}

template <class T>
std::vector<T> Dot(const std::vector<T>& a, const std::vector<T>& b, const Sum<T>& sum) {
  std::vector<T> products(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) products[i] = a[i] * b[i];
  return {sum(products.data(), products.size())};
}

}  // namespace cupilot::worker::numerics
