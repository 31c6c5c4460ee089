// The container in which nvcc puts device images into an object: a header, and entries of PTX or
// ELF, compressed or not. The layout is read off what nvcc 11.8, 12 and 13 write; anything else
// is refused, never guessed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupilot::source {

struct FatEntry {
  enum class Kind { kMachineCode, kPtx, kIntermediate };  // the last: what -dlto leaves
  int architecture = 0;                                   // 90
  Kind kind = Kind::kMachineCode;
  std::string bytes;  // unpacked: a cubin, or PTX where that is asked for; else empty
};

// The entries of all containers in these bytes, which lie one behind the other. kUnsupported:
// another layout, or a compression that we cannot undo. PTX is unpacked only `with_ptx`: it takes
// longer than the rest, and who looks at machine code needs none.
base::Result<std::vector<FatEntry>> ReadFatBinary(std::string_view bytes, bool with_ptx = false);

}  // namespace cupilot::source
