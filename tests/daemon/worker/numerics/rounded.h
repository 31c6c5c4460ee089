// Candidates from the kernels, for both lists of subjects: what a kernel reads is rounded first.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/daemon/worker/numerics/kernels.h"

namespace cupilot::worker::numerics {

using Floats = Operands<float>;

// A function of the only input.
template <class Body>
Function<float> OfOne(Body body) {
  return [body](const Floats& in, Random& random) { return body(in[0], random); };
}

inline Function<float> Sums(std::size_t width, Sum<float> sum, Round<float> round = &Keep<float>) {
  return OfOne([=](const std::vector<float>& in, Random&) {
    return SumRows(Rounded(in, round), width, sum);
  });
}

inline Exact<double> ExactSums(std::size_t width) {
  return [width](const Operands<double>& in) { return SumRows(in[0], width, ByPairs<double>()); };
}

inline Shape RowsShape(std::int64_t rows, std::int64_t width, std::int64_t outputs,
                       const std::string& type = "float") {
  return {{{"in", rows * width}}, {{"count", rows}, {"width", width}}, outputs, type};
}

inline SubjectMaker<float> SumSubject(const std::string& name, std::size_t rows, std::size_t width,
                                      Sum<float> original) {
  const auto r = static_cast<std::int64_t>(rows), w = static_cast<std::int64_t>(width);
  SubjectMaker<float> maker(name, RowsShape(r, w, r));
  maker.Original(Sums(width, std::move(original))).Twin(ExactSums(width));
  return maker;
}

// An approximation as exact as the hardware's: the argument's product with log2(e) is rounded, and
// the power is 2^-22 off.
inline float FastExponential(float x) {
  const float scaled = x * 1.44269504f;
  const double error = std::sin(1e6 * static_cast<double>(x)) * 0x1p-22;
  return static_cast<float>(std::exp2(static_cast<double>(scaled)) * (1 + error));
}

inline Function<float> RoundedSoftmax(std::size_t width, Sum<float> sum,
                                      Round<float> round = &Keep<float>,
                                      Exponential<float> exponential = &Exp<float>) {
  return OfOne([=](const std::vector<float>& in, Random&) {
    return Softmax(Rounded(in, round), width, sum, exponential);
  });
}

inline Subject SoftmaxSubject(const std::string& name, std::size_t rows, std::size_t width,
                              Sum<float> original) {
  const auto r = static_cast<std::int64_t>(rows), w = static_cast<std::int64_t>(width);
  return SubjectMaker<float>(name, RowsShape(r, w, r * w))
      .Original(RoundedSoftmax(width, std::move(original)))
      .Twin(
          [width](const Operands<double>& in) { return Softmax(in[0], width, ByPairs<double>()); })
      .Good("block of 256", RoundedSoftmax(width, ByBlock<float>(256)))
      .Good("in order", RoundedSoftmax(width, InOrder<float>()))
      .Good("one pass", OfOne([width](const std::vector<float>& in, Random&) {
              return SoftmaxOnline(in, width);
            }))
      .Either("fast exponential",
              RoundedSoftmax(width, ByBlock<float>(256), &Keep<float>, &FastExponential))
      .Bad("half inputs", RoundedSoftmax(width, ByBlock<float>(256), &ToHalf))
      .Bad("bfloat16 inputs", RoundedSoftmax(width, ByBlock<float>(256), &ToBfloat))
      .Bad("half accumulators", RoundedSoftmax(width, ByBlock<float>(256, &ToHalf)))
      .Take();
}

inline Function<float> RoundedScan(std::size_t width, std::size_t block, Round<float> round) {
  return OfOne([=](const std::vector<float>& in, Random&) {
    return ScanRows(Rounded(in, round), width, block);
  });
}

inline Subject ScanSubject(const std::string& name, std::size_t original_block) {
  constexpr std::size_t kWidth = 8192;
  return SubjectMaker<float>(name, RowsShape(32, kWidth, 32 * kWidth))
      .Original(RoundedScan(kWidth, original_block, &Keep<float>))
      .Twin([](const Operands<double>& in) { return ScanRows(in[0], kWidth, 0); })
      .Good("blocks of 256", RoundedScan(kWidth, 256, &Keep<float>))
      .Good("in order", RoundedScan(kWidth, 0, &Keep<float>))
      .Bad("half inputs", RoundedScan(kWidth, 256, &ToHalf))
      .Bad("bfloat16 inputs", RoundedScan(kWidth, 256, &ToBfloat))
      .Take();
}

inline Function<float> RoundedLayerNorm(std::size_t width, Sum<float> sum,
                                        Round<float> round = &Keep<float>, bool one_pass = false) {
  return OfOne([=](const std::vector<float>& in, Random&) {
    return LayerNorm(Rounded(in, round), width, sum, one_pass);
  });
}

inline Subject LayerNormSubject(const std::string& name, std::size_t width, Sum<float> original) {
  const auto w = static_cast<std::int64_t>(width);
  const Sum<float> block = ByBlock<float>(256);
  return SubjectMaker<float>(name, RowsShape(32, w, 32 * w))
      .Original(RoundedLayerNorm(width, std::move(original)))
      .Twin([width](const Operands<double>& in) {
        return LayerNorm(in[0], width, ByPairs<double>());
      })
      .Good("block of 256", RoundedLayerNorm(width, block))
      .Add("in order", width <= 512 ? Quality::kGood : Quality::kEither,
           RoundedLayerNorm(width, InOrder<float>()))
      .Bad("one-pass variance", RoundedLayerNorm(width, block, &Keep<float>, true))
      .Bad("half inputs", RoundedLayerNorm(width, block, &ToHalf))
      .Bad("bfloat16 inputs", RoundedLayerNorm(width, block, &ToBfloat))
      .Take();
}

// Storage in a short type, sums in float: what storing the result loses is no error of either.
inline Subject ShortStorage(const std::string& name, const std::string& type, Round<float> round) {
  constexpr std::size_t kWidth = 4096;
  const auto pairs = [round](const std::vector<float>& in, Random&) {
    std::vector<float> halves;
    for (std::size_t i = 0; i < in.size(); i += 2) halves.push_back(round(in[i] + in[i + 1]));
    return SumRows(halves, kWidth / 2, ByBlock<float>(128));
  };
  const auto in_short = [round](const float* values, std::size_t count) {
    return AddInOrder(values, count, round);
  };
  return SubjectMaker<float>(name, RowsShape(64, kWidth, 64, type))
      .Original(Sums(kWidth, InOrder<float>()))
      .Twin(ExactSums(kWidth))
      .Good("block of 256", Sums(kWidth, ByBlock<float>(256)))
      .Good("in order", Sums(kWidth, InOrder<float>()))
      .Bad("sum in short", Sums(kWidth, in_short))
      .Bad("tree in short", Sums(kWidth, ByBlock<float>(256, round)))
      .Bad("pairs in short", OfOne(pairs))
      .Bad("eight-bit inputs", Sums(kWidth, ByBlock<float>(256), &ToQuarter))
      .Take();
}

}  // namespace cupilot::worker::numerics
