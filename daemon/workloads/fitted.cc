#include "workloads/fitted.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "records/json.h"

namespace cupilot::workloads {
namespace {

using device::ElementType;

std::string Number(double value) { return records::CanonicalJson(records::Json(value)); }

struct Moments {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  double mean = 0;
  double variance = 0;
  double fourth = 0;  // central
  double zeros = 0;   // share
  bool sorted = true;
  bool counts = true;  // 0, 1, 2, ...
};

template <class Value>
Moments MomentsOf(std::size_t count, const Value& value) {
  Moments m;
  std::size_t finite = 0;
  double previous = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < count; ++i) {
    const double v = value(i);
    m.sorted = m.sorted && v >= previous;
    m.counts = m.counts && v == static_cast<double>(i);
    previous = v;
    m.zeros += v == 0 ? 1 : 0;
    if (!std::isfinite(v)) continue;
    ++finite;
    m.low = std::min(m.low, v);
    m.high = std::max(m.high, v);
    m.mean += (v - m.mean) / static_cast<double>(finite);
  }
  if (finite == 0) return Moments{0, 0, 0, 0, 0, 0, false, false};
  for (std::size_t i = 0; i < count; ++i) {
    const double v = value(i);
    if (!std::isfinite(v)) continue;
    const double square = (v - m.mean) * (v - m.mean);
    m.variance += square / static_cast<double>(finite);
    m.fourth += square * square / static_cast<double>(finite);
  }
  m.zeros /= static_cast<double>(count);
  return m;
}

template <class Value>
bool IsPermutation(std::size_t count, const Value& value) {
  std::vector<bool> seen(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double v = value(i);
    if (v < 0 || v >= static_cast<double>(count)) return false;
    const auto at = static_cast<std::size_t>(v);
    if (seen[at]) return false;
    seen[at] = true;
  }
  return true;
}

records::Fill Between(const char* kind, double low, double high) {
  records::Fill fill;
  fill.kind = kind;
  fill.low = Number(low);
  fill.high = Number(high);
  return fill;
}

records::Fill IntegerFill(const Moments& m, bool permutation) {
  records::Fill fill;
  const auto whole = [](double value) { return std::to_string(static_cast<std::int64_t>(value)); };
  fill.kind = m.counts ? "iota" : permutation ? "permutation" : m.sorted ? "sorted" : "integers";
  if (fill.kind == "iota" || fill.kind == "permutation") return fill;
  fill.low = whole(m.low);
  fill.high = whole(m.high);
  return fill;
}

records::Fill FloatFill(const Moments& m) {
  if (m.sorted) return Between("sorted", m.low, m.high);
  const double square = m.variance * m.variance;
  if (std::abs(m.fourth - 1.8 * square) < std::abs(m.fourth - 3 * square)) {
    return Between("uniform", m.low, m.high);
  }
  records::Fill fill;
  fill.kind = "normal";
  fill.mean = m.mean;
  fill.stddev = std::sqrt(m.variance);
  return fill;
}

}  // namespace

Fitted Fit(std::string_view bytes, const ElementType& type) {
  Fitted fitted;
  fitted.fill.kind = "bits";
  if (type.number == device::Number::kOpaque || type.bytes == 0) return fitted;
  const std::size_t count = bytes.size() / static_cast<std::size_t>(type.bytes);
  if (count == 0) return fitted;
  ElementType one = type;
  one.lanes = 1;
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  const auto value = [&](std::size_t i) {
    return static_cast<double>(device::ReadNumber(data, static_cast<std::int64_t>(i), one));
  };
  const Moments m = MomentsOf(count, value);
  fitted.zeros = m.zeros;
  if (m.low == m.high) {
    fitted.fill.kind = "constant";
    fitted.fill.value = Number(m.low);
  } else if (type.integer()) {
    fitted.fill = IntegerFill(m, IsPermutation(count, value));
  } else {
    fitted.fill = FloatFill(m);
  }
  return fitted;
}

}  // namespace cupilot::workloads
