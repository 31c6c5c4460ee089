#include "workloads/fitted.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <limits>
#include <vector>

#include "records/json.h"

namespace cupilot::workloads {
namespace {

using device::ElementType;

// A share of zeros from which on data counts as sparse.
constexpr double kSparse = 0.2;

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

std::string Trimmed(std::string text) {
  for (const std::string word : {"const", "volatile", "__restrict", "restrict"}) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word)) {
      text.erase(at, word.size());
    }
  }
  const std::size_t begin = text.find_first_not_of(' ');
  const std::size_t end = text.find_last_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

// What a pointer of this canonical type leads to.
ElementType ElementBehind(const std::string& pointer, std::int64_t element_bytes) {
  const std::size_t star = pointer.rfind('*');
  if (star == std::string::npos) return {};
  return device::ElementTypeOf(Trimmed(pointer.substr(0, star)), element_bytes);
}

class Synthesis {
 public:
  Synthesis(Captured& captured, const blobs::BlobStore& blobs)
      : captured_(captured), blobs_(blobs) {}

  base::Result<> Run() {
    for (records::Case& one : captured_.cases) {
      for (std::size_t i = 0; i < one.arguments.size(); ++i) {
        records::Argument& argument = one.arguments[i];
        TRY(Replace(one.name, argument.name, argument.fill, TypeOf(i, argument.count)));
      }
      for (records::Buffer& buffer : one.buffers) {
        if (!buffer.pointers.empty()) {  // what is no pointer there may be a null one
          buffer.fill.emplace();
          buffer.fill->kind = "constant";
          buffer.fill->value = "0";
          continue;
        }
        TRY(Replace(one.name, buffer.name, buffer.fill, TypeBehind(one, buffer)));
      }
      for (records::Global& global : one.globals) {
        const auto type = [&global](std::int64_t bytes) {
          return device::ElementTypeOf(Trimmed(global.type), bytes / std::stoll(global.count));
        };
        TRY(Replace(one.name, global.symbol, global.fill, type));
      }
    }
    captured_.after.clear();
    captured_.replays.clear();
    captured_.synthetic = true;
    return {};
  }

 private:
  // Of so many bytes.
  using TypeFor = std::function<ElementType(std::int64_t)>;

  // The type of an array of `count` elements once its bytes are known.
  TypeFor TypeOf(std::size_t parameter, const records::Size& count) const {
    return [this, parameter, count](std::int64_t bytes) {
      const std::int64_t elements =
          count.empty() ? 1 : std::max<std::int64_t>(1, std::stoll(count));
      return ElementBehind(captured_.parameters[parameter], bytes / elements);
    };
  }

  static bool LeadsTo(const records::Buffer& table, const std::string& buffer) {
    return std::any_of(table.pointers.begin(), table.pointers.end(),
                       [&](const records::PointerInBytes& p) { return p.buffer == buffer; });
  }

  // By the first argument that leads there, or the first table of pointers.
  TypeFor TypeBehind(const records::Case& one, const records::Buffer& buffer) const {
    return [this, &one, &buffer](std::int64_t) {
      for (std::size_t i = 0; i < one.arguments.size(); ++i) {
        if (one.arguments[i].buffer == buffer.name)
          return ElementBehind(captured_.parameters[i], 0);
      }
      for (const records::Buffer& table : one.buffers) {
        if (!LeadsTo(table, buffer.name)) continue;
        for (std::size_t i = 0; i < one.arguments.size(); ++i) {
          const std::string& type = captured_.parameters[i];
          if (one.arguments[i].buffer != table.name || type.find('*') == type.rfind('*')) continue;
          return ElementBehind(type.substr(0, type.rfind('*')), 0);
        }
      }
      return ElementType{};
    };
  }

  base::Result<> Replace(const std::string& in_case, const std::string& name,
                         std::optional<records::Fill>& fill, const TypeFor& type_for) {
    if (!fill || fill->path.rfind(blobs::kBlobScheme, 0) != 0) return {};
    TRY_ASSIGN(const std::string bytes, blobs_.Get(fill->path.substr(blobs::kBlobScheme.size())));
    const Fitted fitted = Fit(bytes, type_for(static_cast<std::int64_t>(bytes.size())));
    fill = fitted.fill;
    if (fitted.zeros < kSparse || fill->kind == "constant") return {};
    char share[40];
    std::snprintf(share, sizeof share, "%.0f %%", 100 * fitted.zeros);
    captured_.notes.push_back(in_case + ": " + share + " of " + name +
                              " is zero, which its fill cannot say");
    return {};
  }

  Captured& captured_;
  const blobs::BlobStore& blobs_;
};

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

base::Result<> MakeSynthetic(Captured& captured, const blobs::BlobStore& blobs) {
  return Synthesis(captured, blobs).Run();
}

}  // namespace cupilot::workloads
