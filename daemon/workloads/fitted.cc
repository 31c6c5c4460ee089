#include "workloads/fitted.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "records/json.h"

namespace cupilot::workloads {
namespace {

using device::ElementType;

// A share of zeros that is less than this beside what is drawn is not worth saying.
constexpr double kFewZeros = 0.01;

std::string Number(double value) { return records::CanonicalJson(records::Json(value)); }

// The components of a buffer.
struct Numbers {
  const std::byte* data = nullptr;
  std::size_t count = 0;
  ElementType type;

  double At(std::size_t i) const {
    return device::ReadNumber(data, static_cast<std::int64_t>(i), type);
  }
  template <class See>
  void ForEach(const See& see) const {
    std::array<double, 1024> values;
    for (std::size_t first = 0; first < count; first += values.size()) {
      const std::size_t some = std::min(values.size(), count - first);
      device::ReadNumbers(data, static_cast<std::int64_t>(first), static_cast<std::int64_t>(some),
                          type, values.data());
      for (std::size_t i = 0; i < some; ++i) see(values[i]);
    }
  }
  std::int64_t IntegerAt(std::size_t i) const {
    return device::ReadInteger(data, static_cast<std::int64_t>(i), type);
  }
};

// Of the finite ones, or of those that are not zero.
struct Moments {
  std::size_t count = 0;
  std::size_t zeros = 0;  // left out or not
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  double mean = 0;
  double stddev = 0;
  double kurtosis = 0;  // the fourth central moment in units of the squared variance
};

Moments MomentsOf(const Numbers& numbers, bool with_zeros) {
  Moments m;
  const auto counts = [&](double v) { return std::isfinite(v) && (with_zeros || v != 0); };
  long double sum = 0;  // of any doubles
  numbers.ForEach([&](double v) {
    m.zeros += v == 0 ? 1U : 0U;
    if (!counts(v)) return;
    ++m.count;
    m.low = std::min(m.low, v);
    m.high = std::max(m.high, v);
    sum += static_cast<long double>(v);
  });
  if (m.count == 0) return m;
  m.mean = static_cast<double>(sum / static_cast<long double>(m.count));
  // In units of the largest, whose fourth power is a number.
  const double largest = std::max(std::fabs(m.low), std::fabs(m.high));
  const double unit = largest > 0 ? largest : 1;
  double variance = 0, fourth = 0;
  numbers.ForEach([&](double v) {
    if (!counts(v)) return;
    const double difference = v / unit - m.mean / unit;
    const double square = difference * difference;
    variance += square;
    fourth += square * square;
  });
  variance /= static_cast<double>(m.count);
  fourth /= static_cast<double>(m.count);
  m.stddev = unit * std::sqrt(variance);
  if (variance > 0) m.kurtosis = fourth / variance / variance;
  return m;
}

// What is exact of integers, signed ones or not.
struct IntegerFacts {
  std::string low, high;   // as they are
  std::int64_t least = 0;  // as fills can say them
  std::int64_t greatest = 0;
  bool beyond = false;  // all are more than a fill can say
  bool sorted = true;
  bool counts = true;  // 0, 1, 2, ...
};

template <class Integer>
IntegerFacts FactsOf(const Numbers& numbers) {
  IntegerFacts facts;
  auto low = static_cast<Integer>(numbers.IntegerAt(0));
  Integer high = low, previous = low;
  for (std::size_t i = 0; i < numbers.count; ++i) {
    const auto v = static_cast<Integer>(numbers.IntegerAt(i));
    facts.sorted = facts.sorted && v >= previous;
    facts.counts = facts.counts && v == static_cast<Integer>(i);
    low = std::min(low, v);
    high = std::max(high, v);
    previous = v;
  }
  constexpr auto kMost = static_cast<Integer>(std::numeric_limits<std::int64_t>::max());
  facts.low = std::to_string(low);
  facts.high = std::to_string(high);
  facts.least = static_cast<std::int64_t>(std::min(low, kMost));
  facts.greatest = static_cast<std::int64_t>(std::min(high, kMost));
  facts.beyond = low > kMost;
  return facts;
}

bool IsPermutation(const Numbers& numbers) {
  std::vector<bool> seen(numbers.count);
  for (std::size_t i = 0; i < numbers.count; ++i) {
    const auto at = static_cast<std::uint64_t>(numbers.IntegerAt(i));
    if (at >= numbers.count || seen[at]) return false;
    seen[at] = true;
  }
  return true;
}

bool IsSorted(const Numbers& numbers) {
  for (std::size_t i = 0; i < numbers.count; ++i) {
    const double v = numbers.At(i);
    if (std::isnan(v) || (i > 0 && v < numbers.At(i - 1))) return false;
  }
  return true;
}

records::Fill Between(const char* kind, const std::string& low, const std::string& high) {
  records::Fill fill;
  fill.kind = kind;
  fill.low = low;
  fill.high = high;
  return fill;
}

// `zeros` is a share of all that are drawn; some of those that the bounds allow are zero by chance.
double ZerosBesideDrawn(double zeros, const IntegerFacts& facts) {
  const double range = static_cast<double>(facts.greatest) - static_cast<double>(facts.least) + 1;
  const double drawn = facts.least <= 0 && facts.greatest >= 0 ? 1 / range : 0;
  const double rest = drawn < 1 ? (zeros - drawn) / (1 - drawn) : 0;
  return zeros >= kSparse && rest >= kFewZeros ? rest : 0;
}

records::Fill IntegerFill(const Numbers& numbers, const IntegerFacts& facts, double zeros) {
  records::Fill fill;
  if (facts.counts || IsPermutation(numbers)) {
    fill.kind = facts.counts ? "iota" : "permutation";
    return fill;
  }
  if (facts.beyond) {
    fill.kind = "bits";
    return fill;
  }
  fill = Between(facts.sorted ? "sorted" : "integers", std::to_string(facts.least),
                 std::to_string(facts.greatest));
  if (!facts.sorted) fill.zeros = ZerosBesideDrawn(zeros, facts);
  return fill;
}

// The next number of the type: what is drawn stays below a range's upper end.
double Above(double value, const ElementType& type) {
  if (type.bytes > 8) return value;
  std::byte bytes[8] = {};
  device::WriteNumber(bytes, 0, type, value);
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes, static_cast<std::size_t>(type.bytes));
  // The bits of positive numbers grow with them, those of negative ones the other way round.
  if (value == 0) {
    bits = 1;
  } else {
    bits += value > 0 ? 1 : std::uint64_t{0} - 1;
  }
  std::memcpy(bytes, &bits, static_cast<std::size_t>(type.bytes));
  const double next = device::ReadNumber(bytes, 0, type);
  return std::isfinite(next) ? next : value;
}

records::Fill FloatFill(const Numbers& numbers, const Moments& all, double zeros, bool sorted) {
  if (sorted) return Between("sorted", Number(all.low), Number(all.high));
  const bool sparse = zeros >= kSparse;
  const Moments m = sparse ? MomentsOf(numbers, false) : all;
  const bool even = m.stddev == 0 || std::fabs(m.kurtosis - 1.8) < std::fabs(m.kurtosis - 3);
  records::Fill fill;
  if (even && std::isfinite(m.high - m.low)) {
    fill = Between("uniform", Number(m.low), Number(Above(m.high, numbers.type)));
  } else {
    fill.kind = "normal";
    fill.mean = m.mean;
    fill.stddev = m.stddev;
  }
  if (sparse) fill.zeros = zeros;
  return fill;
}

records::Fill Constant(const std::string& value) {
  records::Fill fill;
  fill.kind = "constant";
  fill.value = value;
  return fill;
}

records::Fill FillOfIntegers(const Numbers& numbers, double zeros, Distribution& distribution) {
  const bool large = numbers.type.number == device::Number::kUnsigned;
  const IntegerFacts facts =
      large ? FactsOf<std::uint64_t>(numbers) : FactsOf<std::int64_t>(numbers);
  distribution.low = facts.low;
  distribution.high = facts.high;
  distribution.sorted = facts.sorted;
  // Also of an unsigned one: a fill writes its bits.
  if (facts.low == facts.high) return Constant(std::to_string(numbers.IntegerAt(0)));
  return IntegerFill(numbers, facts, zeros);
}

records::Fill FillOfFloats(const Numbers& numbers, const Moments& all, double zeros,
                           Distribution& distribution) {
  if (all.count == 0) return Constant("0");  // none is a number
  distribution.low = Number(all.low);
  distribution.high = Number(all.high);
  distribution.sorted = IsSorted(numbers);
  if (all.low == all.high) return Constant(distribution.low);
  return FloatFill(numbers, all, zeros, distribution.sorted);
}

}  // namespace

Fitted Fit(std::string_view bytes, const ElementType& type) {
  Fitted fitted;
  fitted.fill.kind = "bits";
  fitted.distribution.kind = "bits";
  if (type.number == device::Number::kOpaque || type.bytes == 0) return fitted;
  Numbers numbers{reinterpret_cast<const std::byte*>(bytes.data()),
                  bytes.size() / static_cast<std::size_t>(type.bytes), type};
  numbers.type.lanes = 1;
  if (numbers.count == 0) return fitted;
  const Moments all = MomentsOf(numbers, true);
  Distribution& distribution = fitted.distribution;
  distribution.mean = all.mean;
  distribution.stddev = all.stddev;
  distribution.zeros = static_cast<double>(all.zeros) / static_cast<double>(numbers.count);
  distribution.finite = static_cast<double>(all.count) / static_cast<double>(numbers.count);
  fitted.fill = type.integer() ? FillOfIntegers(numbers, distribution.zeros, distribution)
                               : FillOfFloats(numbers, all, distribution.zeros, distribution);
  distribution.kind = fitted.fill.kind;
  return fitted;
}

}  // namespace cupilot::workloads
