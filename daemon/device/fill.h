// Generated contents of buffers: a pure function of (seed, name of the argument, index), so that
// two runs are the same run. Component i of an argument is drawn from Philox4x32-10 with the key
//   { low half of the seed, first 32 bits of the hash of the name }
// and the counter { low half of i, high half of i, high half of the seed, stream }; stream 0 is the
// workload's own fill, other streams are redraws for the gate; with the stream's highest bit set,
// the same counter says which components are zero whatever is drawn (FillRecipe::zeros).
// `normal` is Box-Muller in double;
// every value is rounded once to the element's type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "device/element.h"

namespace cupilot::device {

enum class FillKind {
  // of workloads (design, section 4.1)
  kNormal,
  kUniform,
  kIntegers,
  kConstant,
  kIota,
  kPermutation,
  kOffsets,
  kIndices,
  kSorted,
  kBits,
  kFile,
  // of the gate only: see VerificationFill
  kWide,     // signed, magnitudes 2^-12 to 2^12 (half: 2^-6 to 2^6), uniform in the exponent
  kSparse,   // `nonzeros` values of magnitude `scale` to twice it in each row, else 0; those of one
             // seed and stream at the same places whatever the argument's name, so that products
             // of two arguments are not all zero
  kExact,    // odd multiples with 14 significant bits and random sign, at most 2^16 in each row
  kTernary,  // -1, 0, 1: what an exact operand is multiplied with
};

struct FillRecipe {
  FillKind kind = FillKind::kConstant;
  double zeros = 0;  // kNormal, kUniform, kIntegers: this share is zero, the rest is drawn
  double mean = 0;   // kNormal
  double stddev = 1;
  double low = 0;  // kUniform [low, high), kSorted of floating elements
  double high = 1;
  std::int64_t integer_low = 0;  // kIntegers, kIndices, kSorted of integers: both inclusive here
  std::int64_t integer_high = 0;
  double value = 0;                // kConstant, floating elements
  std::int64_t integer_value = 0;  // kConstant, integers
  std::int64_t total = 0;          // kOffsets
  std::string path;                // kFile, absolute
  std::int64_t row = 0;            // kSparse, kExact: components of a row; 0: all of them
  std::int64_t nonzeros = 1;       // kSparse
  double scale = 1;                // kSparse
  bool pairs = false;              // kSparse: neighbours x and -x, so that a row's mean is zero
};

struct FillSource {
  std::uint64_t seed = 1;
  std::string name;
  std::uint32_t stream = 0;
};

// The kind of a workload's "kind"; kInvalidArgument for others.
base::Result<FillKind> FillKindOf(std::string_view name);

// Fills `count` elements at `data`. Uses all processors for large buffers. kInvalidArgument where
// kind and type do not fit (opaque elements take kBits, kFile and a constant 0 only), kIo or
// kInvalidArgument for a file that is missing or too short.
base::Result<> FillBuffer(std::byte* data, std::int64_t count, const ElementType& type,
                          const FillRecipe& recipe, const FillSource& source);

}  // namespace cupilot::device
