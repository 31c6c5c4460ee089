// The element types of buffers as the gate sees them: how an element is read as a number and
// written from one. Vector types are `lanes` equal components. Types that are none of these are
// opaque bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "records/element_values.h"

namespace cupilot::device {

// kExtended is long double, which no buffer of a kernel has: double's twin.
enum class Number {
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kExtended,
  kSigned,
  kUnsigned,
  kOpaque
};

struct ElementType {
  Number number = Number::kOpaque;
  std::int64_t bytes = 1;  // of one component; kOpaque: of the element
  std::int64_t lanes = 1;

  bool floating() const { return number <= Number::kExtended; }
  bool integer() const { return number == Number::kSigned || number == Number::kUnsigned; }
  std::int64_t size() const { return bytes * lanes; }
  bool operator==(const ElementType&) const = default;
};

// From a canonical type name ("float", "const unsigned char", "float4", "__half", "ns::Point") and
// the size of an element in bytes, which decides where a name is not known (then kOpaque). A known
// name whose size differs from a non-zero `element_bytes` is kOpaque too.
ElementType ElementTypeOf(std::string_view canonical, std::int64_t element_bytes);

// The same element with components of type double, or long double where they are double: what the
// double twin has in its place.
ElementType Widened(const ElementType& type);

// A unit roundoff: half the distance of 1 and the next number. 0 for integers and opaque types.
double Roundoff(const ElementType& type);
// The smallest normal number; 0 for integers and opaque types.
double SmallestNormal(const ElementType& type);

// Component `index` (in components) of an array at `data`. Alignment is not needed.
double ReadNumber(const std::byte* data, std::int64_t index, const ElementType& type);
// Integers as they are: for unsigned 64-bit values the bits.
std::int64_t ReadInteger(const std::byte* data, std::int64_t index, const ElementType& type);
// Rounded once, to nearest even; integers saturate.
void WriteNumber(std::byte* data, std::int64_t index, const ElementType& type, double value);
void WriteInteger(std::byte* data, std::int64_t index, const ElementType& type, std::int64_t value);

// `count` components from `first` on, as the functions above one by one: one loop a type.
void ReadNumbers(const std::byte* data, std::int64_t first, std::int64_t count,
                 const ElementType& type, double* values);
void WriteNumbers(std::byte* data, std::int64_t first, std::int64_t count, const ElementType& type,
                  const double* values);

// The same in two parts, the value rounded to double and what that lost: 0 but for kExtended.
void ReadParts(const std::byte* data, std::int64_t first, std::int64_t count,
               const ElementType& type, double* values, double* rests);
// Of their sum, rounded once for kExtended; other types take `values` alone.
void WriteParts(std::byte* data, std::int64_t first, std::int64_t count, const ElementType& type,
                const double* values, const double* rests);

// "1.5", "-7", "nan": a component as text for a message.
records::ElementValue ShowNumber(const std::byte* data, std::int64_t index,
                                 const ElementType& type);

}  // namespace cupilot::device
