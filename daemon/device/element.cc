#include "device/element.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

namespace cupilot::device {
namespace {

struct NamedType {
  std::string_view name;
  Number number;
  std::int64_t bytes;
};

constexpr NamedType kScalars[] = {
    {"float", Number::kFloat32, 4},
    {"double", Number::kFloat64, 8},
    {"__half", Number::kFloat16, 2},
    {"half", Number::kFloat16, 2},
    {"__nv_bfloat16", Number::kBFloat16, 2},
    {"bool", Number::kUnsigned, 1},
    {"char", Number::kSigned, 1},
    {"signed char", Number::kSigned, 1},
    {"unsigned char", Number::kUnsigned, 1},
    {"short", Number::kSigned, 2},
    {"unsigned short", Number::kUnsigned, 2},
    {"int", Number::kSigned, 4},
    {"unsigned int", Number::kUnsigned, 4},
    {"unsigned", Number::kUnsigned, 4},
    {"long", Number::kSigned, 8},
    {"unsigned long", Number::kUnsigned, 8},
    {"long long", Number::kSigned, 8},
    {"unsigned long long", Number::kUnsigned, 8},
};

// Vector types: these and one digit, 1 to 4.
constexpr NamedType kVectors[] = {
    {"float", Number::kFloat32, 4},
    {"double", Number::kFloat64, 8},
    {"char", Number::kSigned, 1},
    {"uchar", Number::kUnsigned, 1},
    {"short", Number::kSigned, 2},
    {"ushort", Number::kUnsigned, 2},
    {"int", Number::kSigned, 4},
    {"uint", Number::kUnsigned, 4},
    {"long", Number::kSigned, 8},
    {"ulong", Number::kUnsigned, 8},
    {"longlong", Number::kSigned, 8},
    {"ulonglong", Number::kUnsigned, 8},
    {"__half", Number::kFloat16, 2},
    {"half", Number::kFloat16, 2},
    {"__nv_bfloat16", Number::kBFloat16, 2},
};

std::string_view WithoutQualifiers(std::string_view name) {
  for (std::string_view prefix : {"const ", "volatile ", "struct ", "const "}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  for (std::string_view suffix : {" const", " volatile"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  if (name.starts_with("::")) name.remove_prefix(2);
  return name;
}

ElementType Known(std::string_view name) {
  for (const NamedType& type : kScalars) {
    if (type.name == name) return {type.number, type.bytes, 1};
  }
  if (name.empty() || name.back() < '1' || name.back() > '4') return {};
  const std::int64_t lanes = name.back() - '0';
  name.remove_suffix(1);
  for (const NamedType& type : kVectors) {
    if (type.name == name) return {type.number, type.bytes, lanes};
  }
  return {};
}

template <class T>
T Load(const std::byte* data, std::int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T>
void Store(std::byte* data, std::int64_t index, T value) {
  std::memcpy(data + index * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

// A binary format with `mantissa` explicit bits and an exponent bias, in 16 bits.
double Decode16(std::uint16_t bits, int mantissa, int bias) {
  const int exponent_bits = 15 - mantissa;
  const int exponent = (bits >> mantissa) & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << mantissa) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - mantissa);
  return sign * std::ldexp(fraction + (1 << mantissa), exponent - bias - mantissa);
}

std::uint16_t Encode16(double value, int mantissa, int bias) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const int top = (1 << (15 - mantissa)) - 1;
  const auto infinity = static_cast<std::uint16_t>(top << mantissa);
  if (std::isnan(value)) return static_cast<std::uint16_t>(infinity | 1u << (mantissa - 1));
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return static_cast<std::uint16_t>(sign | infinity);
  int exponent = magnitude == 0 ? 1 - bias : std::ilogb(magnitude);
  if (exponent < 1 - bias) exponent = 1 - bias;
  // In units of the last place, rounded to even by the default rounding mode.
  const double units = std::nearbyint(std::ldexp(magnitude, mantissa - exponent));
  auto encoded = static_cast<std::int64_t>(units);
  encoded += static_cast<std::int64_t>(exponent + bias - 1) << mantissa;
  if (encoded >= infinity) encoded = infinity;
  return static_cast<std::uint16_t>(sign | encoded);
}

std::uint64_t Saturated(double value, const ElementType& type) {
  if (std::isnan(value)) return 0;
  const int bits = static_cast<int>(type.bytes * 8);
  if (type.number == Number::kUnsigned) {
    if (value <= 0) return 0;
    if (value >= std::ldexp(1.0, bits)) return ~std::uint64_t{0} >> (64 - bits);
    return static_cast<std::uint64_t>(value);
  }
  const double limit = std::ldexp(1.0, bits - 1);
  if (value >= limit) return (std::uint64_t{1} << (bits - 1)) - 1;
  if (value < -limit) return std::uint64_t{1} << (bits - 1);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

}  // namespace

ElementType ElementTypeOf(std::string_view canonical, std::int64_t element_bytes) {
  const ElementType known = Known(WithoutQualifiers(canonical));
  const bool fits = element_bytes == 0 || known.size() == element_bytes;
  if (known.number != Number::kOpaque && fits) return known;
  return {Number::kOpaque, element_bytes > 0 ? element_bytes : 1, 1};
}

ElementType Widened(const ElementType& type) {
  if (type.number == Number::kFloat64) {
    return {Number::kExtended, static_cast<std::int64_t>(sizeof(long double)), type.lanes};
  }
  return type.floating() ? ElementType{Number::kFloat64, 8, type.lanes} : type;
}

double Roundoff(const ElementType& type) {
  switch (type.number) {
    case Number::kFloat16:
      return std::ldexp(1.0, -11);
    case Number::kBFloat16:
      return std::ldexp(1.0, -8);
    case Number::kFloat32:
      return std::ldexp(1.0, -24);
    case Number::kFloat64:
      return std::ldexp(1.0, -53);
    default:
      return 0;
  }
}

double SmallestNormal(const ElementType& type) {
  switch (type.number) {
    case Number::kFloat16:
      return std::ldexp(1.0, -14);
    case Number::kBFloat16:
    case Number::kFloat32:
      return std::ldexp(1.0, -126);
    case Number::kFloat64:
      return std::numeric_limits<double>::min();
    default:
      return 0;
  }
}

double ReadNumber(const std::byte* data, std::int64_t index, const ElementType& type) {
  switch (type.number) {
    case Number::kFloat16:
      return Decode16(Load<std::uint16_t>(data, index), 10, 15);
    case Number::kBFloat16:
      return Decode16(Load<std::uint16_t>(data, index), 7, 127);
    case Number::kFloat32:
      return Load<float>(data, index);
    case Number::kFloat64:
      return Load<double>(data, index);
    case Number::kExtended:
      return static_cast<double>(Load<long double>(data, index));
    case Number::kSigned:
      return static_cast<double>(ReadInteger(data, index, type));
    case Number::kUnsigned:
      return static_cast<double>(static_cast<std::uint64_t>(ReadInteger(data, index, type)));
    case Number::kOpaque:
      return 0;
  }
  return 0;
}

std::int64_t ReadInteger(const std::byte* data, std::int64_t index, const ElementType& type) {
  const bool is_signed = type.number == Number::kSigned;
  switch (type.bytes) {
    case 1:
      return is_signed ? Load<std::int8_t>(data, index)
                       : std::int64_t{Load<std::uint8_t>(data, index)};
    case 2:
      return is_signed ? Load<std::int16_t>(data, index)
                       : std::int64_t{Load<std::uint16_t>(data, index)};
    case 4:
      return is_signed ? Load<std::int32_t>(data, index)
                       : std::int64_t{Load<std::uint32_t>(data, index)};
    default:
      return Load<std::int64_t>(data, index);
  }
}

void WriteNumber(std::byte* data, std::int64_t index, const ElementType& type, double value) {
  switch (type.number) {
    case Number::kFloat16:
      return Store(data, index, Encode16(value, 10, 15));
    case Number::kBFloat16:
      return Store(data, index, Encode16(value, 7, 127));
    case Number::kFloat32:
      return Store(data, index, static_cast<float>(value));
    case Number::kFloat64:
      return Store(data, index, value);
    case Number::kExtended:
      return Store(data, index, static_cast<long double>(value));
    case Number::kSigned:
    case Number::kUnsigned: {
      const auto bits = static_cast<std::int64_t>(Saturated(std::floor(value), type));
      return WriteInteger(data, index, type, bits);
    }
    case Number::kOpaque:
      return;
  }
}

void WriteInteger(std::byte* data, std::int64_t index, const ElementType& type,
                  std::int64_t value) {
  if (type.floating()) return WriteNumber(data, index, type, static_cast<double>(value));
  switch (type.bytes) {
    case 1:
      return Store(data, index, static_cast<std::uint8_t>(value));
    case 2:
      return Store(data, index, static_cast<std::uint16_t>(value));
    case 4:
      return Store(data, index, static_cast<std::uint32_t>(value));
    case 8:
      return Store(data, index, value);
    default:
      return;
  }
}

namespace {

template <class T>
void LoadAll(const std::byte* data, std::int64_t first, std::int64_t count, double* values) {
  for (std::int64_t i = 0; i < count; ++i)
    values[i] = static_cast<double>(Load<T>(data, first + i));
}

template <class T>
void StoreAll(std::byte* data, std::int64_t first, std::int64_t count, const double* values) {
  for (std::int64_t i = 0; i < count; ++i) Store(data, first + i, static_cast<T>(values[i]));
}

}  // namespace

void ReadNumbers(const std::byte* data, std::int64_t first, std::int64_t count,
                 const ElementType& type, double* values) {
  if (type.number == Number::kFloat32) return LoadAll<float>(data, first, count, values);
  if (type.number == Number::kFloat64) return LoadAll<double>(data, first, count, values);
  if (type.number == Number::kSigned && type.bytes == 4) {
    return LoadAll<std::int32_t>(data, first, count, values);
  }
  for (std::int64_t i = 0; i < count; ++i) values[i] = ReadNumber(data, first + i, type);
}

void WriteNumbers(std::byte* data, std::int64_t first, std::int64_t count, const ElementType& type,
                  const double* values) {
  if (type.number == Number::kFloat32) return StoreAll<float>(data, first, count, values);
  if (type.number == Number::kFloat64) return StoreAll<double>(data, first, count, values);
  for (std::int64_t i = 0; i < count; ++i) WriteNumber(data, first + i, type, values[i]);
}

void ReadParts(const std::byte* data, std::int64_t first, std::int64_t count,
               const ElementType& type, double* values, double* rests) {
  if (type.number != Number::kExtended) {
    std::fill_n(rests, count, 0.0);
    return ReadNumbers(data, first, count, type, values);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const auto value = Load<long double>(data, first + i);
    values[i] = static_cast<double>(value);
    rests[i] = std::isfinite(values[i]) ? static_cast<double>(value - values[i]) : 0;
  }
}

void WriteParts(std::byte* data, std::int64_t first, std::int64_t count, const ElementType& type,
                const double* values, const double* rests) {
  if (type.number != Number::kExtended) return WriteNumbers(data, first, count, type, values);
  for (std::int64_t i = 0; i < count; ++i) {
    Store(data, first + i, static_cast<long double>(values[i]) + rests[i]);
  }
}

records::ElementValue ShowNumber(const std::byte* data, std::int64_t index,
                                 const ElementType& type) {
  using Value = records::ElementValue;
  if (type.number == Number::kOpaque) {
    std::string text = "0x";
    for (std::int64_t i = 0; i < type.bytes && i < 16; ++i) {
      char digits[3];
      std::snprintf(digits, sizeof digits, "%02x",
                    static_cast<unsigned>(data[index * type.bytes + i]));
      text += digits;
    }
    return Value(text);
  }
  if (type.number == Number::kSigned) {
    return Value(std::to_string(ReadInteger(data, index, type)));
  }
  if (type.number == Number::kUnsigned) {
    return Value(std::to_string(static_cast<std::uint64_t>(ReadInteger(data, index, type))));
  }
  char text[40];
  const int digits = type.number == Number::kFloat64 ? 17 : 9;
  std::snprintf(text, sizeof text, "%.*g", digits, ReadNumber(data, index, type));
  return Value(text);
}

}  // namespace cupilot::device
