// Arithmetic of kernels, emulated: roundings to short types, and the orders in which a kernel may
// add up. Everything is computed in F (float or double) exactly as a device would.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace cupilot::worker::numerics {

using Random = std::mt19937_64;

template <class F>
using Round = F (*)(F);

template <class F>
F Keep(F x) {
  return x;
}

// To nearest even with `kBits` significant bits, float's range.
template <int kBits>
float RoundBits(float x) {
  constexpr int kDropped = 24 - kBits;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7f800000u) == 0x7f800000u) return x;
  bits += ((1u << (kDropped - 1)) - 1) + ((bits >> kDropped) & 1u);
  return std::bit_cast<float>(bits >> kDropped << kDropped);
}

inline float ToBfloat(float x) { return RoundBits<8>(x); }
inline float ToTf32(float x) { return RoundBits<11>(x); }

// With half's range: subnormal numbers below 2^-14, infinity above 65504.
inline float ToHalf(float x) {
  const float magnitude = std::fabs(x);
  if (magnitude < 0x1p-14f) return (x + 0.75f) - 0.75f;  // multiples of 2^-24
  return magnitude < 65520.0f ? RoundBits<11>(x) : x * HUGE_VALF;
}

// Rounds to half only what is small beside the values that random data have.
inline float ToHalfIfSmall(float x) { return std::fabs(x) < 0.25f ? ToHalf(x) : x; }
// Four significant bits: eight-bit floating types of tensor cores.
inline float ToQuarter(float x) { return RoundBits<4>(x); }

// Split in two or three bfloat16 parts: 16 or all 24 bits of a float.
inline float ToTwoBfloats(float x) { return ToBfloat(x) + ToBfloat(x - ToBfloat(x)); }
inline float ToThreeBfloats(float x) {
  const float rest = x - ToBfloat(x);
  return ToBfloat(x) + (ToBfloat(rest) + ToBfloat(rest - ToBfloat(rest)));
}

inline double ToSingle(double x) { return static_cast<float>(x); }
// Two floats for a double: 48 or 49 of its 53 bits.
inline double ToTwoSingles(double x) { return ToSingle(x) + ToSingle(x - ToSingle(x)); }

template <class F>
std::vector<F> Rounded(const std::vector<F>& values, Round<F> round) {
  std::vector<F> rounded(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) rounded[i] = round(values[i]);
  return rounded;
}

// An order of summation.
template <class F>
using Sum = std::function<F(const F* values, std::size_t count)>;

// Every addition is rounded by `round`.
template <class F>
F AddInOrder(const F* values, std::size_t count, Round<F> round = &Keep<F>) {
  F sum = 0;
  if (round == &Keep<F>) {
    for (std::size_t i = 0; i < count; ++i) sum += values[i];
  } else {
    for (std::size_t i = 0; i < count; ++i) sum = round(sum + values[i]);
  }
  return sum;
}

template <class F>
F AddTree(std::vector<F> values, Round<F> round = &Keep<F>) {
  while (values.size() > 1) {
    if (values.size() % 2 != 0) values.push_back(0);
    const std::size_t half = values.size() / 2;
    for (std::size_t i = 0; i < half; ++i) values[i] = round(values[i] + values[i + half]);
    values.resize(half);
  }
  return values.empty() ? F(0) : values[0];
}

template <class F>
Sum<F> InOrder() {
  return [](const F* values, std::size_t count) { return AddInOrder(values, count); };
}

// `threads` running sums over a stride of as many, then a tree: the usual block's reduction.
// `round`: of the tree's additions.
template <class F>
Sum<F> ByBlock(std::size_t threads, Round<F> round = &Keep<F>) {
  return [threads, round](const F* values, std::size_t count) {
    std::vector<F> sums(std::min(threads, std::max<std::size_t>(count, 1)));
    for (std::size_t begin = 0; begin < count; begin += sums.size()) {
      const std::size_t n = std::min(sums.size(), count - begin);
      for (std::size_t i = 0; i < n; ++i) sums[i] += values[begin + i];
    }
    for (F& sum : sums) sum = round(sum);
    return AddTree(std::move(sums), round);
  };
}

// A stretch a thread, as with vector loads or several blocks, then a tree.
template <class F>
Sum<F> ByChunks(std::size_t chunks) {
  return [chunks](const F* values, std::size_t count) {
    std::vector<F> sums;
    for (std::size_t i = 0; i < chunks; ++i) {
      const std::size_t begin = count * i / chunks, end = count * (i + 1) / chunks;
      sums.push_back(AddInOrder(values + begin, end - begin));
    }
    return AddTree(std::move(sums));
  };
}

// Pairs all the way down: the most exact of the usual orders.
template <class F>
F AddPairs(const F* values, std::size_t count) {
  if (count <= 32) return AddInOrder(values, count);
  return AddPairs(values, count / 2) + AddPairs(values + count / 2, count - count / 2);
}

template <class F>
Sum<F> ByPairs() {
  return [](const F* values, std::size_t count) { return AddPairs(values, count); };
}

// Kahan's compensation.
template <class F>
Sum<F> Compensated() {
  return [](const F* values, std::size_t count) {
    F sum = 0, lost = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const F x = values[i] - lost, next = sum + x;
      lost = (next - sum) - x;
      sum = next;
    }
    return sum;
  };
}

// Atomic additions in whatever order they come.
template <class F>
Sum<F> InRandomOrder(Random& random) {
  return [&random](const F* values, std::size_t count) {
    std::vector<F> order(values, values + count);
    std::shuffle(order.begin(), order.end(), random);
    return AddInOrder(order.data(), order.size());
  };
}

}  // namespace cupilot::worker::numerics
