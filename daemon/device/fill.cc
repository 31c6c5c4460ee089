#include "device/fill.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "blobs/blob_store.h"
#include "device/parallel.h"
#include "device/philox.h"

namespace cupilot::device {
namespace {

constexpr int kExactBits = 14;
constexpr std::int64_t kExactNonzeros = std::int64_t{1} << 16;

// Draws of one argument.
class Draws {
 public:
  explicit Draws(const FillSource& source)
      : key_{static_cast<std::uint32_t>(source.seed), NameHash(source.name)},
        seed_high_(static_cast<std::uint32_t>(source.seed >> 32)),
        stream_(source.stream) {}

  struct Words {
    std::uint64_t first, second;
  };
  Words At(std::int64_t index) const {
    const PhiloxCounter words =
        Philox4x32({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                    seed_high_, stream_},
                   key_);
    return {std::uint64_t{words[1]} << 32 | words[0], std::uint64_t{words[3]} << 32 | words[2]};
  }

 private:
  static std::uint32_t NameHash(const std::string& name) {
    std::uint32_t value = 0;
    const std::string hex = base::HashHex(name);
    for (int i = 0; i < 8; ++i) {
      const char digit = hex[static_cast<std::size_t>(i)];
      value =
          value << 4 | static_cast<std::uint32_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
    }
    return value;
  }

  PhiloxKey key_;
  std::uint32_t seed_high_;
  std::uint32_t stream_;
};

double Unit(std::uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }  // [0, 1)

// Which components are zero whatever is drawn for them.
class Zeros {
 public:
  Zeros(double share, FillSource source) : share_(share), draws_(OfZeros(std::move(source))) {}
  bool At(std::int64_t i) const { return share_ > 0 && Unit(draws_.At(i).first) < share_; }

 private:
  static Draws OfZeros(FillSource source) {
    source.stream |= std::uint32_t{1} << 31;
    return Draws(source);
  }
  double share_;
  Draws draws_;
};

double Normal(const Draws::Words& words) {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - Unit(words.first)));
  return radius * std::cos(2.0 * std::numbers::pi * Unit(words.second));
}

// An integer of [low, high], both inclusive.
std::int64_t Within(std::uint64_t word, std::int64_t low, std::int64_t high) {
  const std::uint64_t range =
      static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  if (range == 0) return static_cast<std::int64_t>(word);
  const auto scaled =
      static_cast<std::uint64_t>(static_cast<unsigned __int128>(word) * range >> 64);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + scaled);
}

// Writes value(index) to every component, a stretch at a time: one loop computes, one converts.
template <class Value>
void Each(std::byte* data, std::int64_t components, const ElementType& type, Value value) {
  InParallel(components, [=](std::int64_t begin, std::int64_t end) {
    std::array<double, 1024> values;
    const auto stretch = static_cast<std::int64_t>(values.size());
    for (std::int64_t first = begin; first < end; first += stretch) {
      const std::int64_t count = std::min(stretch, end - first);
      for (std::int64_t i = 0; i < count; ++i) {
        values[static_cast<std::size_t>(i)] = value(first + i);
      }
      WriteNumbers(data, first, count, type, values.data());
    }
  });
}

template <class Value>
void EachInteger(std::byte* data, std::int64_t components, const ElementType& type, Value value) {
  InParallel(components, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) WriteInteger(data, i, type, value(i));
  });
}

// Rounding to the type must not reach `high`, which is exclusive.
double BelowHigh(double value, double low, double high, const ElementType& type) {
  std::byte rounded[8];
  WriteNumber(rounded, 0, type, value);
  if (ReadNumber(rounded, 0, type) < high || high <= low) return value;
  return std::max(low, high - (std::fabs(high) + SmallestNormal(type)) * 2 * Roundoff(type));
}

void FillUniform(std::byte* data, std::int64_t components, const ElementType& type,
                 const FillRecipe& recipe, const Draws& draws, const Zeros& zeros) {
  const double low = recipe.low, high = recipe.high;
  Each(data, components, type, [=](std::int64_t i) {
    if (zeros.At(i)) return 0.0;
    return BelowHigh(low + (high - low) * Unit(draws.At(i).first), low, high, type);
  });
}

void FillWide(std::byte* data, std::int64_t components, const ElementType& type,
              const Draws& draws) {
  // Sums of what half precision holds must not leave its range in one order and stay in it in
  // another.
  const double span = type.number == Number::kFloat16 ? 6 : 12;
  Each(data, components, type, [=](std::int64_t i) {
    const Draws::Words words = draws.At(i);
    const double magnitude = std::exp2(-span + 2 * span * Unit(words.first));
    return (words.second & 1) != 0 ? -magnitude : magnitude;
  });
}

// Zeros, but for at most `places` components of each row, one at random in each of as many equal
// stretches of the row, so that they differ by construction.
template <class Value>
void FillRows(std::byte* data, std::int64_t components, const ElementType& type, std::int64_t row,
              std::int64_t places, const Draws& draws, const Draws& of_places, Value value) {
  std::memset(data, 0, static_cast<std::size_t>(components * type.bytes));
  if (row <= 0 || row > components) row = components;
  if (row == 0) return;
  const std::int64_t rows = components / row;
  InParallel(rows * std::min(places, row), [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t per_row = std::min(places, row);
      const std::int64_t first = i / per_row * row;
      // One position out of each of per_row equal stretches: different by construction.
      const std::int64_t k = i % per_row;
      const std::int64_t from = row * k / per_row, to = row * (k + 1) / per_row;
      const std::int64_t at = first + Within(of_places.At(i).first, from, to - 1);
      WriteNumber(data, at, type, value(draws.At(i).second));
    }
  });
}

double SparseValue(std::uint64_t word, double scale) {
  const double magnitude = scale * (1.0 + Unit(word));
  return (word & 1) != 0 ? -magnitude : magnitude;
}

// As FillRows(), but each value is followed by its opposite.
void FillPairs(std::byte* data, std::int64_t components, const ElementType& type,
               const FillRecipe& recipe, const Draws& draws, const Draws& of_places) {
  std::memset(data, 0, static_cast<std::size_t>(components * type.bytes));
  const std::int64_t row = recipe.row <= 0 || recipe.row > components ? components : recipe.row;
  const std::int64_t pairs = std::min(recipe.nonzeros, row) / 2;
  if (pairs == 0) return;
  InParallel(components / row * pairs, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t k = i % pairs, from = row * k / pairs, to = row * (k + 1) / pairs;
      const std::int64_t at = i / pairs * row + Within(of_places.At(i).first, from, to - 2);
      const double value = SparseValue(draws.At(i).second, recipe.scale);
      WriteNumber(data, at, type, value);
      WriteNumber(data, at + 1, type, -value);
    }
  });
}

double ExactValue(std::uint64_t word) {
  const std::int64_t low = std::int64_t{1} << (kExactBits - 2);
  const auto odd = static_cast<double>(Within(word, low, 2 * low - 1) * 2 + 1);
  return (word & 1) != 0 ? -odd : odd;
}

// Types with few bits cannot hold 14: their values stay exact by being small.
double TernaryValue(std::uint64_t word) { return static_cast<double>(Within(word, -1, 1)); }

void FillPermutation(std::byte* data, std::int64_t components, const ElementType& type,
                     const Draws& draws) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(components));
  for (std::int64_t i = 0; i < components; ++i) values[static_cast<std::size_t>(i)] = i;
  for (std::int64_t i = components - 1; i > 0; --i) {
    const std::int64_t other = Within(draws.At(i).first, 0, i);
    std::swap(values[static_cast<std::size_t>(i)], values[static_cast<std::size_t>(other)]);
  }
  for (std::int64_t i = 0; i < components; ++i) {
    WriteInteger(data, i, type, values[static_cast<std::size_t>(i)]);
  }
}

void FillOffsets(std::byte* data, std::int64_t components, const ElementType& type,
                 std::int64_t total, const Draws& draws) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(components));
  for (std::int64_t i = 0; i < components; ++i) {
    values[static_cast<std::size_t>(i)] = Within(draws.At(i).first, 0, total);
  }
  if (!values.empty()) values.front() = 0;
  if (values.size() > 1) values.back() = total;
  std::sort(values.begin(), values.end());
  for (std::int64_t i = 0; i < components; ++i) {
    WriteInteger(data, i, type, values[static_cast<std::size_t>(i)]);
  }
}

void FillSorted(std::byte* data, std::int64_t components, const ElementType& type,
                const FillRecipe& recipe, const Draws& draws) {
  if (type.floating()) {
    std::vector<double> values(static_cast<std::size_t>(components));
    for (std::int64_t i = 0; i < components; ++i) {
      values[static_cast<std::size_t>(i)] =
          recipe.low + (recipe.high - recipe.low) * Unit(draws.At(i).first);
    }
    std::sort(values.begin(), values.end());
    for (std::int64_t i = 0; i < components; ++i) {
      WriteNumber(data, i, type, values[static_cast<std::size_t>(i)]);
    }
    return;
  }
  std::vector<std::int64_t> values(static_cast<std::size_t>(components));
  for (std::int64_t i = 0; i < components; ++i) {
    values[static_cast<std::size_t>(i)] =
        Within(draws.At(i).first, recipe.integer_low, recipe.integer_high);
  }
  std::sort(values.begin(), values.end());
  for (std::int64_t i = 0; i < components; ++i) {
    WriteInteger(data, i, type, values[static_cast<std::size_t>(i)]);
  }
}

void FillBits(std::byte* data, std::int64_t bytes, const Draws& draws) {
  InParallel((bytes + 15) / 16, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Draws::Words words = draws.At(i);
      const auto size = static_cast<std::size_t>(std::clamp<std::int64_t>(bytes - i * 16, 0, 16));
      std::memcpy(data + i * 16, &words, size);
    }
  });
}

base::Result<> FillFromFile(std::byte* data, std::int64_t bytes, const std::string& path) {
  TRY_ASSIGN(const std::string content, blobs::ReadFillFile(path));
  if (static_cast<std::int64_t>(content.size()) < bytes) {
    return base::Fail(base::InvalidArgument(path + ": has " + std::to_string(content.size()) +
                                            " bytes, the argument needs " + std::to_string(bytes)));
  }
  std::memcpy(data, content.data(), static_cast<std::size_t>(bytes));
  return {};
}

base::Result<> CheckFits(const ElementType& type, const FillRecipe& recipe) {
  const bool zero =
      recipe.kind == FillKind::kConstant && recipe.integer_value == 0 && recipe.value == 0;
  if (type.number == Number::kOpaque && !zero && recipe.kind != FillKind::kBits &&
      recipe.kind != FillKind::kFile) {
    return base::Fail(base::InvalidArgument(
        "elements of this type can be filled with 'bits', a file or a constant 0 only"));
  }
  const bool integers_only =
      recipe.kind == FillKind::kIntegers || recipe.kind == FillKind::kIndices;
  const bool range = integers_only || (recipe.kind == FillKind::kSorted && type.integer());
  if (range && recipe.integer_low > recipe.integer_high) {
    return base::Fail(base::InvalidArgument("the range of integers is empty"));
  }
  if (recipe.kind == FillKind::kOffsets && recipe.total < 0) {
    return base::Fail(base::InvalidArgument("the total of offsets is negative"));
  }
  return {};
}

}  // namespace

base::Result<FillKind> FillKindOf(std::string_view name) {
  static constexpr std::pair<std::string_view, FillKind> kNames[] = {
      {"normal", FillKind::kNormal},     {"uniform", FillKind::kUniform},
      {"integers", FillKind::kIntegers}, {"constant", FillKind::kConstant},
      {"iota", FillKind::kIota},         {"permutation", FillKind::kPermutation},
      {"offsets", FillKind::kOffsets},   {"indices", FillKind::kIndices},
      {"sorted", FillKind::kSorted},     {"bits", FillKind::kBits},
      {"file", FillKind::kFile}};
  for (const auto& [known, kind] : kNames) {
    if (known == name) return kind;
  }
  return base::Fail(base::InvalidArgument("unknown fill '" + std::string(name) + "'"));
}

base::Result<> FillBuffer(std::byte* data, std::int64_t count, const ElementType& type,
                          const FillRecipe& recipe, const FillSource& source) {
  TRY(CheckFits(type, recipe));
  const Draws draws(source);
  const Zeros zeros(recipe.zeros, source);
  const std::int64_t components = count * type.lanes;
  switch (recipe.kind) {
    case FillKind::kNormal:
      Each(data, components, type, [=, mean = recipe.mean, stddev = recipe.stddev](std::int64_t i) {
        return zeros.At(i) ? 0.0 : mean + stddev * Normal(draws.At(i));
      });
      break;
    case FillKind::kUniform:
      FillUniform(data, components, type, recipe, draws, zeros);
      break;
    case FillKind::kIntegers:
    case FillKind::kIndices:
      EachInteger(data, components, type,
                  [=, low = recipe.integer_low, high = recipe.integer_high](std::int64_t i) {
                    return zeros.At(i) ? 0 : Within(draws.At(i).first, low, high);
                  });
      break;
    case FillKind::kConstant:
      if (type.number == Number::kOpaque) {
        std::memset(data, 0, static_cast<std::size_t>(count * type.size()));
      } else if (type.floating()) {
        Each(data, components, type, [value = recipe.value](std::int64_t) { return value; });
      } else {
        EachInteger(data, components, type,
                    [value = recipe.integer_value](std::int64_t) { return value; });
      }
      break;
    case FillKind::kIota:
      EachInteger(data, components, type, [](std::int64_t i) { return i; });
      break;
    case FillKind::kPermutation:
      FillPermutation(data, components, type, draws);
      break;
    case FillKind::kOffsets:
      FillOffsets(data, components, type, recipe.total, draws);
      break;
    case FillKind::kSorted:
      FillSorted(data, components, type, recipe, draws);
      break;
    case FillKind::kBits:
      FillBits(data, count * type.size(), draws);
      break;
    case FillKind::kFile:
      return FillFromFile(data, count * type.size(), recipe.path);
    case FillKind::kWide:
      FillWide(data, components, type, draws);
      break;
    case FillKind::kSparse: {
      const Draws of_places({source.seed, "", source.stream});
      if (recipe.pairs) {
        FillPairs(data, components, type, recipe, draws, of_places);
      } else {
        FillRows(data, components, type, recipe.row, recipe.nonzeros, draws, of_places,
                 [scale = recipe.scale](std::uint64_t word) { return SparseValue(word, scale); });
      }
      break;
    }
    case FillKind::kExact:
      FillRows(data, components, type, recipe.row, kExactNonzeros, draws, draws,
               Roundoff(type) > 0x1p-14 ? TernaryValue : ExactValue);
      break;
    case FillKind::kTernary:
      Each(data, components, type, [=](std::int64_t i) { return TernaryValue(draws.At(i).first); });
      break;
  }
  return {};
}

}  // namespace cupilot::device
