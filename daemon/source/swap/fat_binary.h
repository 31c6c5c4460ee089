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
  int architecture = 0;  // 90
  std::string cubin;     // unpacked
};

// The ELF entries of all containers in these bytes, which lie one behind the other. kUnsupported:
// another layout, or a compression that we cannot undo.
base::Result<std::vector<FatEntry>> ReadFatBinary(std::string_view bytes);

}  // namespace cupilot::source
