// Parameter packs of a function whose packs' lengths are known, written out: parameters
// (`Ts... xs`, which become
// xs_0, xs_1, ...), expansions (`f(xs)...`), folds and `sizeof...`. Text to text, by tokens. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupilot::source {

struct Pack {
  std::string name;                   // "Ts"
  std::vector<std::string> elements;  // what stands for its elements
};

// kUnsupported for a use of a pack that is none of these.
base::Result<std::string> ExpandPacks(std::string_view text, const std::vector<Pack>& packs);

}  // namespace cupilot::source
