// What a kernel's machine code is, so that the code in a user's object can be compared with the
// code of our own text of that kernel, compiled by the same command. Equal text is not enough:
// tables and strings that it reads have values, and functions that it calls have code of their own.
// Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupilot::source {

struct KernelCode {
  // Something that the code names: a function, a table, a string.
  struct Reference {
    std::uint64_t at = 0;  // where in the code
    std::string how;       // kind of relocation and addend
    std::string name;      // without what differs from file to file; empty: a literal, a function
    std::string content;   // hash of code or initial bytes; empty: defined elsewhere
    std::string words;     // for people: "the table 'taps'", "the text \"big\""
    bool operator==(const Reference&) const = default;
  };
  int registers = 0;
  std::int64_t shared_bytes = 0;     // static
  std::int64_t parameter_bytes = 0;  // of constant bank 0
  // Hash of the instructions. Offsets into the table of addresses (constant bank 4), which depend
  // on a file's other kernels, are taken out: references say what stands there.
  std::string instructions;
  std::vector<Reference> references;
  // __constant__ variables that the code may read at fixed offsets: of an image that is linked.
  std::vector<Reference> constants;
};

// The code of the one kernel in the image whose mangled name `names` says yes to. `architecture`:
// 90. kNotFound: there is none. kUnsupported: not a CUDA device image, or several are named.
base::Result<KernelCode> KernelCodeOf(std::string cubin, int architecture,
                                      const std::function<bool(const std::string& mangled)>& names);

// What tells the kernel of the object from ours, as the end of a sentence that begins with "the
// object's kernel": "uses 40 registers, the one that is tuned 32". Empty: they are equal.
std::string WhyCodeDiffers(const KernelCode& object, const KernelCode& ours);

// How many bytes of other __constant__ variables stand before ours in the object, which move all of
// ours by as much. 0: none, or that is not all there is.
std::int64_t ConstantsBefore(const KernelCode& object, const KernelCode& ours);

}  // namespace cupilot::source
