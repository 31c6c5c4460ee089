// From functions on vectors of float or double to a subject: reads inputs, rounds outputs, and
// draws what the double twin draws.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/daemon/worker/numerics/subject.h"
#include "worker/reach.h"

namespace cupilot::worker::numerics {

template <class F>
using Operands = std::vector<std::vector<F>>;
template <class F>
using Function = std::function<std::vector<F>(const Operands<F>& inputs, Random& random)>;
template <class W>
using Exact = std::function<std::vector<W>(const Operands<W>& inputs)>;
// Wide enough that its own rounding is no error of F.
template <class F>
using Wide = std::conditional_t<std::is_same_v<F, float>, double, long double>;

struct Shape {
  std::vector<std::pair<std::string, std::int64_t>> inputs;    // name and elements
  std::vector<std::pair<std::string, std::int64_t>> integers;  // parameters
  std::int64_t outputs = 0;
  std::string type;       // of the elements: "float"
  double arithmetic = 0;  // u_a, where it is not that of F
};

template <class T>
Operands<T> ReadOperands(const Layout& layout, const Contents& contents) {
  Operands<T> operands;
  for (std::size_t r = 0; r + 1 < layout.regions.size(); ++r) {
    const Region& region = layout.regions[r];
    std::vector<double> stretch(1 << 12);
    std::vector<T>& values = operands.emplace_back(static_cast<std::size_t>(region.count));
    for (std::int64_t begin = 0; begin < region.count;) {
      const auto n = std::min<std::int64_t>(region.count - begin, std::ssize(stretch));
      device::ReadNumbers(contents[r].data(), begin, n, region.type, stretch.data());
      for (std::int64_t i = 0; i < n; ++i) {
        values[static_cast<std::size_t>(begin + i)] =
            static_cast<T>(stretch[static_cast<std::size_t>(i)]);
      }
      begin += n;
    }
  }
  return operands;
}

inline Layout MakeLayout(const Shape& shape) {
  Layout layout;
  const std::int64_t bytes = device::ElementTypeOf(shape.type, 0).bytes;
  for (const auto& [name, count] : shape.inputs) {
    Region region;
    region.name = name;
    region.count = count;
    region.type = device::ElementTypeOf(shape.type, bytes);
    region.input = region.declared = true;
    region.fill.emplace();
    region.fill->kind =
        region.type.integer() ? device::FillKind::kIntegers : device::FillKind::kNormal;
    region.fill->integer_low = -1000;
    region.fill->integer_high = 1000;
    layout.Add(region);
  }
  Region output;
  output.name = "out";
  output.count = shape.outputs;
  output.type = device::ElementTypeOf(shape.type, bytes);
  output.output = true;
  layout.Add(output);
  return layout;
}

// The draws of a twin in W (worker/twin_run.h).
template <class W>
class TwinDraws {
 public:
  TwinDraws(const Layout& layout, Exact<W> exact, double roundoff)
      : layout_(layout), exact_(std::move(exact)), roundoff_(roundoff) {}

  Expected Run(const Contents& contents, std::uint64_t seed, double reach) const {
    const Operands<W> inputs = ReadOperands<W>(layout_, contents);
    const std::vector<W> d = exact_(inputs);
    std::vector<W> squares(d.size());
    Operands<W> moved = inputs;
    for (int draw = 0; draw < kDraws; ++draw) {
      std::uint64_t state = seed * kDraws + static_cast<std::uint64_t>(draw);
      for (std::size_t r = 0; r < inputs.size(); ++r) {
        for (std::size_t i = 0; i < inputs[r].size(); ++i) {
          moved[r][i] = inputs[r][i] * (W(1) + W(roundoff_ * Noise(state)));
        }
      }
      const std::vector<W> other = exact_(moved);
      for (std::size_t i = 0; i < d.size(); ++i) {
        const W difference = other[i] - d[i];
        if (std::isfinite(difference)) squares[i] += difference * difference;
      }
    }
    Expected expected = UnitsOf(d, squares);
    expected.reach = reach;
    if (HasManyZeros(layout_, contents)) {
      for (auto& values : moved) std::fill(values.begin(), values.end(), W(0));
      std::vector<double> terms = Narrow(exact_(moved));
      if (!IsBalanced(layout_, contents)) ShiftInputs(inputs, expected, terms);
      CountEqualTerms(terms, reach, roundoff_, expected);
    }
    return expected;
  }

  double Reach(const Contents& contents) const {
    const Operands<W> inputs = ReadOperands<W>(layout_, contents);
    double components = 0;
    for (const auto& values : inputs) components += static_cast<double>(values.size());
    const std::vector<double> before = Narrow(exact_(inputs));
    std::uint64_t stream = 0;
    const auto reach = MeasureReach(components, [&](double density) {
      Operands<W> moved;
      for (const auto& values : inputs) {
        std::vector<double> some = Narrow(values);
        MoveSome(some.data(), 0, std::ssize(some), ++stream, density);
        moved.emplace_back(some.begin(), some.end());
      }
      return std::vector<double>{ShareMoved(before, Narrow(exact_(moved)))};
    });
    return reach.value_or(std::vector<double>{1})[0];
  }

 private:
  static constexpr int kDraws = 8;

  void ShiftInputs(const Operands<W>& inputs, const Expected& expected,
                   std::vector<double>& terms) const {
    for (std::size_t r = 0; r < inputs.size(); ++r) {
      Operands<W> shifted = inputs;
      for (W& x : shifted[r]) x += 1;
      KeepUnshifted(expected.exact, Narrow(exact_(shifted)), terms);
    }
  }

  // Uniform in [-sqrt 3, sqrt 3].
  static double Noise(std::uint64_t& state) {
    std::uint64_t x = state += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    x ^= x >> 31;
    return (static_cast<double>(static_cast<std::int64_t>(x >> 11)) * 0x1p-53 - 0.5) *
           3.4641016151377544;
  }

  static std::vector<double> Narrow(const std::vector<W>& values) {
    return {values.begin(), values.end()};
  }

  Expected UnitsOf(const std::vector<W>& d, const std::vector<W>& squares) const {
    const device::ElementType& type = layout_.regions.back().type;
    Expected expected;
    DescribeRounding(type, roundoff_, expected);
    expected.exact = Narrow(d);
    for (std::size_t i = 0; i < d.size(); ++i) {
      if (!std::is_same_v<W, double>) {
        expected.rest.push_back(static_cast<double>(d[i] - static_cast<W>(expected.exact[i])));
      }
      expected.unit.push_back(UnitOf(static_cast<double>(std::sqrt(squares[i] / kDraws)),
                                     expected.exact[i], roundoff_, type));
    }
    return expected;
  }

  const Layout layout_;
  const Exact<W> exact_;
  const double roundoff_;
};

template <class F>
class SubjectMaker {
 public:
  SubjectMaker(std::string name, const Shape& shape) : arithmetic_(shape.arithmetic) {
    subject_.name = std::move(name);
    subject_.layout = MakeLayout(shape);
    for (const auto& [parameter, value] : shape.integers) {
      subject_.environment.integers[parameter] = value;
    }
  }

  SubjectMaker& Original(Function<F> function) {
    subject_.original = Stored(std::move(function));
    return *this;
  }
  SubjectMaker& Good(const std::string& name, Function<F> function) {
    return Add(name, Quality::kGood, std::move(function));
  }
  SubjectMaker& Bad(const std::string& name, Function<F> function) {
    return Add(name, Quality::kBad, std::move(function));
  }
  SubjectMaker& Either(const std::string& name, Function<F> function) {
    return Add(name, Quality::kEither, std::move(function));
  }
  SubjectMaker& Add(const std::string& name, Quality quality, Function<F> function) {
    subject_.candidates.push_back({name, quality, Stored(std::move(function))});
    return *this;
  }
  SubjectMaker& Twin(Exact<Wide<F>> exact) {
    const auto twin =
        std::make_shared<const TwinDraws<Wide<F>>>(subject_.layout, std::move(exact), Roundoff());
    subject_.expected = [twin](const Contents& contents, std::uint64_t seed, double reach) {
      return twin->Run(contents, seed, reach);
    };
    subject_.reach = [twin](const Contents& contents) { return twin->Reach(contents); };
    return *this;
  }
  Subject Take() { return std::move(subject_); }

 private:
  double Roundoff() const {
    if (arithmetic_ != 0) return arithmetic_;
    return std::is_same_v<F, float> ? 0x1p-24 : 0x1p-53;
  }

  // With the result rounded to the output's type.
  std::function<std::vector<double>(const Contents&, Random&)> Stored(Function<F> function) const {
    return [layout = subject_.layout, function = std::move(function)](const Contents& contents,
                                                                      Random& random) {
      const std::vector<F> results = function(ReadOperands<F>(layout, contents), random);
      const device::ElementType& type = layout.regions.back().type;
      const std::vector<double> values(results.begin(), results.end());
      std::vector<std::byte> stored(values.size() * static_cast<std::size_t>(type.bytes));
      device::WriteNumbers(stored.data(), 0, std::ssize(values), type, values.data());
      std::vector<double> read(values.size());
      device::ReadNumbers(stored.data(), 0, std::ssize(values), type, read.data());
      return read;
    };
  }

  Subject subject_;
  const double arithmetic_;
};

}  // namespace cupilot::worker::numerics
