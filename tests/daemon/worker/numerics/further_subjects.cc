// What the reference's table does not have: other element types, sizes, and further ways to cheat.
#include <cmath>
#include <utility>

#include "tests/daemon/worker/numerics/rounded.h"

namespace cupilot::worker::numerics {
namespace {

// Only values far from zero lose bits, which is no help where values are small.
float ToHalfIfLarge(float x) { return std::fabs(x) < 0.25f ? x : ToHalf(x); }

Function<float> RoundedDot(Sum<float> sum, Round<float> a, Round<float> b) {
  return [=](const Floats& in, Random&) { return Dot(Rounded(in[0], a), Rounded(in[1], b), sum); };
}

Subject DotSubject() {
  constexpr std::int64_t kCount = 1 << 20;
  const Round<float> keep = &Keep<float>;
  const auto half_products = [](const Floats& in, Random&) {
    std::vector<float> products(in[0].size());
    for (std::size_t i = 0; i < products.size(); ++i) products[i] = ToHalf(in[0][i] * in[1][i]);
    return std::vector<float>{ByBlock<float>(256)(products.data(), products.size())};
  };
  return SubjectMaker<float>("dot 2^20",
                             {{{"a", kCount}, {"b", kCount}}, {{"n", kCount}}, 1, "float"})
      .Original(RoundedDot(InOrder<float>(), keep, keep))
      .Twin([](const Operands<double>& in) { return Dot(in[0], in[1], ByPairs<double>()); })
      .Good("block of 256", RoundedDot(ByBlock<float>(256), keep, keep))
      .Good("Kahan", RoundedDot(Compensated<float>(), keep, keep))
      .Bad("half, a only", RoundedDot(ByBlock<float>(256), &ToHalf, keep))
      .Bad("half, b only", RoundedDot(ByBlock<float>(256), keep, &ToHalf))
      .Bad("small ones in half", RoundedDot(ByBlock<float>(256), &ToHalfIfSmall, keep))
      .Bad("large ones in half", RoundedDot(ByBlock<float>(256), &ToHalfIfLarge, keep))
      .Bad("half products", half_products)
      .Take();
}

// Mean and squares in one pass, corrected as they go; `threads` of them, joined in pairs.
struct Moments {
  float count = 0, mean = 0, squares = 0;

  void Add(float x) {
    count += 1;
    const float before = x - mean;
    mean += before / count;
    squares += before * (x - mean);
  }
  void Join(const Moments& other) {
    const float all = count + other.count, apart = other.mean - mean;
    if (other.count == 0) return;
    mean += apart * (other.count / all);
    squares += other.squares + apart * apart * (count * (other.count / all));
    count = all;
  }
};

float Welford(const float* row, std::size_t width, std::size_t threads) {
  std::vector<Moments> parts(threads);
  for (std::size_t i = 0; i < width; ++i) parts[i % threads].Add(row[i]);
  for (std::size_t half = threads / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) parts[i].Join(parts[i + half]);
  }
  return parts[0].squares / static_cast<float>(width);
}

// An original of two passes: one pass is no honest form of it. In order over thousands of values
// the corrections' roundings are all alike on some data, which is as bad as half precision there.
Subject TwoPassVariance(std::size_t width) {
  const auto of = [width](bool one_pass, Sum<float> sum, Round<float> round) {
    return OfOne([=](const std::vector<float>& in, Random&) {
      return VarianceRows(Rounded(in, round), width, sum, one_pass);
    });
  };
  const auto welford = [width](std::size_t threads) {
    return OfOne([=](const std::vector<float>& in, Random&) {
      return SumRows<float>(in, width, [threads](const float* row, std::size_t count) {
        return Welford(row, count, threads);
      });
    });
  };
  const auto shifted = [width](const std::vector<float>& in, Random&) {
    return SumRows<float>(in, width, [](const float* row, std::size_t count) {
      std::vector<float> moved(row, row + count);
      for (float& x : moved) x -= row[0];
      return Variance<float>(moved.data(), count, ByBlock<float>(256), true);
    });
  };
  const Round<float> keep = &Keep<float>;
  const Sum<float> block = ByBlock<float>(256);
  const auto w = static_cast<std::int64_t>(width);
  const Quality in_order = width <= 256 ? Quality::kGood : Quality::kEither;
  return SubjectMaker<float>("variance " + std::to_string(width), RowsShape(32, w, 32))
      .Original(of(false, block, keep))
      .Twin([width](const Operands<double>& in) {
        return VarianceRows(in[0], width, ByPairs<double>(), false);
      })
      .Add("two passes in order", in_order, of(false, InOrder<float>(), keep))
      .Good("Welford, 64 threads", welford(64))
      .Add("Welford in order", in_order, welford(1))
      .Either("one pass, shifted", OfOne(shifted))
      .Bad("one pass", of(true, block, keep))
      .Bad("half inputs", of(false, block, &ToHalf))
      .Take();
}

// The mean of squares: positive terms, which no exact fill makes exact.
Subject MeanSquares() {
  constexpr std::size_t kWidth = 8192;
  const auto of = [](Sum<float> sum, Round<float> round) {
    return OfOne([=](const std::vector<float>& in, Random&) {
      return SumRows<float>(Rounded(in, round), kWidth, [&](const float* row, std::size_t width) {
        return MeanSquare(row, width, 0.0f, sum);
      });
    });
  };
  return SubjectMaker<float>("mean of squares", RowsShape(32, kWidth, 32))
      .Original(of(ByBlock<float>(256), &Keep<float>))
      .Twin([](const Operands<double>& in) {
        return SumRows<double>(in[0], kWidth, [](const double* row, std::size_t width) {
          return MeanSquare(row, width, 0.0, ByPairs<double>());
        });
      })
      .Good("64 stretches", of(ByChunks<float>(64), &Keep<float>))
      .Good("in order", of(InOrder<float>(), &Keep<float>))
      .Bad("half inputs", of(ByBlock<float>(256), &ToHalf))
      .Bad("tf32 inputs", of(ByBlock<float>(256), &ToTf32))
      .Take();
}

// One level of Strassen's products: its errors are those of the whole block, not of the element.
std::vector<float> Strassen(const std::vector<float>& a, const std::vector<float>& b,
                            std::size_t n) {
  const std::size_t h = n / 2;
  using Block = std::vector<float>;
  const auto part = [&](const std::vector<float>& from, std::size_t r, std::size_t c) {
    Block block(h * h);
    for (std::size_t i = 0; i < h * h; ++i) block[i] = from[(r * h + i / h) * n + c * h + i % h];
    return block;
  };
  const auto add = [](const Block& x, const Block& y, float sign) {
    Block sum(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) sum[i] = x[i] + sign * y[i];
    return sum;
  };
  const auto times = [&](const Block& x, const Block& y) { return Matmul(x, y, {h, h, h}, 1); };
  const Block a1 = part(a, 0, 0), a2 = part(a, 0, 1), a3 = part(a, 1, 0), a4 = part(a, 1, 1);
  const Block b1 = part(b, 0, 0), b2 = part(b, 0, 1), b3 = part(b, 1, 0), b4 = part(b, 1, 1);
  const Block m1 = times(add(a1, a4, 1), add(b1, b4, 1)), m2 = times(add(a3, a4, 1), b1);
  const Block m3 = times(a1, add(b2, b4, -1)), m4 = times(a4, add(b3, b1, -1));
  const Block m5 = times(add(a1, a2, 1), b4), m6 = times(add(a3, a1, -1), add(b1, b2, 1));
  const Block m7 = times(add(a2, a4, -1), add(b3, b4, 1));
  const Block c[] = {add(add(m1, m4, 1), add(m7, m5, -1), 1), add(m3, m5, 1), add(m2, m4, 1),
                     add(add(m1, m2, -1), add(m3, m6, 1), 1)};
  std::vector<float> out(n * n);
  for (std::size_t i = 0; i < n * n; ++i) {
    const std::size_t r = i / n, k = i % n;
    out[i] = c[(r / h) * 2 + k / h][(r % h) * h + k % h];
  }
  return out;
}

Subject SmallMatmul() {
  constexpr std::size_t kSide = 64;
  const auto matmul = [](Round<float> a, Round<float> b) {
    return [=](const Floats& in, Random&) {
      return Matmul(Rounded(in[0], a), Rounded(in[1], b), {kSide, kSide, kSide}, 4);
    };
  };
  const std::int64_t side = kSide;
  const Shape shape{{{"a", side * side}, {"b", side * side}},
                    {{"m", side}, {"k", side}, {"n", side}},
                    side * side,
                    "float"};
  return SubjectMaker<float>("matmul 64", shape)
      .Original(matmul(&Keep<float>, &Keep<float>))
      .Twin(
          [](const Operands<double>& in) { return Matmul(in[0], in[1], {kSide, kSide, kSide}, 1); })
      .Good("three bfloat16", matmul(&ToThreeBfloats, &ToThreeBfloats))
      .Bad("two bfloat16", matmul(&ToTwoBfloats, &ToTwoBfloats))
      .Bad("tf32, b only", matmul(&Keep<float>, &ToTf32))
      .Either("Strassen, one level",
              [](const Floats& in, Random&) { return Strassen(in[0], in[1], kSide); })
      .Take();
}

// Elements that have an input each: associations, and what a fast-math option does.
Subject Elementwise() {
  constexpr std::int64_t kCount = 20000;
  const auto each = [](auto body) {
    return [body](const auto& in, auto&...) {
      auto out = in[0];
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = body(in[0][i], in[1][i]);
      return out;
    };
  };
  const auto sigmoid = [](auto x, auto y) { return 2 * x / (1 + std::exp(-x)) + y * x * 3; };
  return SubjectMaker<float>("elements",
                             {{{"x", kCount}, {"y", kCount}}, {{"n", kCount}}, kCount, "float"})
      .Original(each(sigmoid))
      .Twin(each(sigmoid))
      .Good("factored", each([](float x, float y) { return x * (2 / (1 + std::exp(-x)) + y * 3); }))
      .Good("fused",
            each([](float x, float y) { return std::fma(y * 3, x, 2 * x / (1 + std::exp(-x))); }))
      .Either("fast exponential",
              each([](float x, float y) { return 2 * x / (1 + FastExponential(-x)) + y * x * 3; }))
      .Either("fast reciprocal", each([](float x, float y) {
                const float root = 1 + std::exp(-x);  // an approximation's 2^-23 is off
                return 2 * x * (1 / root * (1 + 0x1p-23f)) + y * x * 3;
              }))
      .Bad("half, y only",
           each([](float x, float y) { return 2 * x / (1 + std::exp(-x)) + ToHalf(y) * x * 3; }))
      .Take();
}

// Arithmetic in a short type: the original rounds each sum.
Subject ShortArithmetic(const std::string& name, const std::string& type, double roundoff,
                        Round<float> round, Round<float> shorter) {
  constexpr std::size_t kWidth = 256;
  const auto in_order = [](Round<float> to) {
    return Sums(kWidth, [to](const float* values, std::size_t count) {
      return AddInOrder(values, count, to);
    });
  };
  Shape shape = RowsShape(64, kWidth, 64, type);
  shape.arithmetic = roundoff;
  return SubjectMaker<float>(name, shape)
      .Original(in_order(round))
      .Twin(ExactSums(kWidth))
      .Good("tree", Sums(kWidth, ByBlock<float>(64, round)))
      .Good("in float", Sums(kWidth, InOrder<float>()))
      .Bad("shorter sums", in_order(shorter))
      .Bad("shorter inputs", Sums(kWidth, InOrder<float>(), shorter))
      .Take();
}

using Doubles = Operands<double>;

Function<double> DoubleSums(std::size_t width, Sum<double> sum,
                            Round<double> round = &Keep<double>) {
  return [=](const Doubles& in, Random&) { return SumRows(Rounded(in[0], round), width, sum); };
}

Subject DoubleRows(const std::string& name, std::int64_t rows, std::int64_t width) {
  const auto w = static_cast<std::size_t>(width);
  return SubjectMaker<double>(name, RowsShape(rows, width, rows, "double"))
      .Original(DoubleSums(w, InOrder<double>()))
      .Twin([w](const Operands<long double>& in) {
        return SumRows(in[0], w, ByPairs<long double>());
      })
      .Good("block of 256", DoubleSums(w, ByBlock<double>(256)))
      .Good("Kahan", DoubleSums(w, Compensated<double>()))
      .Bad("float inputs", DoubleSums(w, InOrder<double>(), &ToSingle))
      .Bad("float accumulators", DoubleSums(w, ByBlock<double>(256, &ToSingle)))
      .Either("two floats", DoubleSums(w, ByBlock<double>(256), &ToTwoSingles))
      .Take();
}

Subject DoublePolynomial() {
  constexpr std::int64_t kCount = 10000;
  static constexpr double kTerms[] = {1.0, 0.3, -0.7, 0.11, 0.023, -0.0041};
  const auto horner = [](Round<double> round) {
    return [round](const auto& in, auto&...) {
      auto out = in[0];
      for (auto& x : out) {
        auto sum = x * 0;
        for (int i = 5; i >= 0; --i) sum = sum * x + round(kTerms[i]);
        x = sum;
      }
      return out;
    };
  };
  const auto even_and_odd = [](const Doubles& in, Random&) {
    std::vector<double> out = in[0];
    for (double& x : out) {
      const double s = x * x;
      x = (kTerms[0] + s * (kTerms[2] + s * kTerms[4])) +
          x * (kTerms[1] + s * (kTerms[3] + s * kTerms[5]));
    }
    return out;
  };
  return SubjectMaker<double>("double polynomial",
                              {{{"x", kCount}}, {{"n", kCount}}, kCount, "double"})
      .Original(horner(&Keep<double>))
      .Twin(horner(&Keep<double>))
      .Good("even and odd", even_and_odd)
      .Bad("float terms", horner(&ToSingle))
      .Take();
}

// Integers are exact: the original's bits, or none of them.
Subject IntegerRows() {
  constexpr std::size_t kWidth = 8192;
  const auto sums = [](Sum<double> sum) { return DoubleSums(kWidth, std::move(sum)); };
  const auto in_float = [](const double* values, std::size_t count) {
    float sum = 0x1p24f;  // as if there were more of them
    for (std::size_t i = 0; i < count; ++i) sum += static_cast<float>(values[i]);
    return static_cast<double>(sum - 0x1p24f);
  };
  const auto in_sixteen_bits = [](const double* values, std::size_t count) {
    std::int16_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      sum = static_cast<std::int16_t>(sum + static_cast<std::int16_t>(values[i]));
    }
    return static_cast<double>(sum);
  };
  return SubjectMaker<double>("integers", RowsShape(64, kWidth, 64, "int"))
      .Original(sums(InOrder<double>()))
      .Good("block of 256", sums(ByBlock<double>(256)))
      .Bad("in float", sums(in_float))
      .Bad("sixteen bits", sums(in_sixteen_bits))
      .Take();
}

}  // namespace

std::vector<Subject> FurtherSubjects() {
  std::vector<Subject> subjects;
  subjects.push_back(SoftmaxSubject("softmax 500, tree", 24, 500, ByBlock<float>(64)));
  subjects.push_back(SoftmaxSubject("softmax 8192, tree", 8, 8192, ByBlock<float>(256)));
  subjects.push_back(ScanSubject("scan, blocks", 256));
  subjects.push_back(DotSubject());
  for (const std::size_t width : {256, 4096, 32768}) subjects.push_back(TwoPassVariance(width));
  subjects.push_back(LayerNormSubject("layer norm 512", 512, ByBlock<float>(64)));
  subjects.push_back(LayerNormSubject("layer norm, tree", 4096, ByBlock<float>(256)));
  subjects.push_back(MeanSquares());
  subjects.push_back(SmallMatmul());
  subjects.push_back(Elementwise());
  subjects.push_back(ShortStorage("bfloat16 storage", "__nv_bfloat16", &ToBfloat));
  subjects.push_back(ShortArithmetic("half sums", "__half", 0x1p-11, &ToHalf, &ToQuarter));
  subjects.push_back(
      ShortArithmetic("bfloat16 sums", "__nv_bfloat16", 0x1p-8, &ToBfloat, &RoundBits<3>));
  subjects.push_back(DoubleRows("double rows", 64, 8192));
  subjects.push_back(DoubleRows("double 2^18", 1, 1 << 18));
  subjects.push_back(DoublePolynomial());
  subjects.push_back(IntegerRows());
  return subjects;
}

std::vector<Subject> SumsOf(std::int64_t count) {
  const auto width = static_cast<std::size_t>(count);
  std::vector<Subject> subjects;
  for (const bool tree : {false, true}) {
    const std::string name = "sum " + std::to_string(count) + (tree ? ", tree" : "");
    subjects.push_back(
        SumSubject(name, 1, width, tree ? ByBlock<float>(256) : InOrder<float>())
            // Hundreds of thousands of alike values in order: each addition loses the same.
            .Add("in order", tree && width > 1 << 16 ? Quality::kEither : Quality::kGood,
                 Sums(width, InOrder<float>()))
            .Good("block of 256", Sums(width, ByBlock<float>(256)))
            .Good("1024 stretches",
                  Sums(width, ByChunks<float>(std::min<std::size_t>(1024, width))))
            .Bad("half inputs", Sums(width, ByBlock<float>(256), &ToHalf))
            .Bad("tf32 inputs", Sums(width, ByBlock<float>(256), &ToTf32))
            .Bad("bfloat16 inputs", Sums(width, ByBlock<float>(256), &ToBfloat))
            .Bad("half accumulators", Sums(width, ByBlock<float>(256, &ToHalf)))
            .Take());
  }
  return subjects;
}

}  // namespace cupilot::worker::numerics
