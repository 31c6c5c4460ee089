// Finds the __global__ functions of a variant's source without a parser: a lexer that knows
// comments, literals, directives and balanced brackets is enough, because the gate's whitelist (no
// directives, no function templates of other shapes) has passed the text before.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupilot::source {

struct EntryBody {
  std::string name;
  // Bytes of the body: [begin, end), from its "{" to behind its "}". Both 0: a declaration only.
  std::size_t begin = 0;
  std::size_t end = 0;
};

// In the order of the text. kInvalidArgument: unbalanced brackets or an unfinished literal.
base::Result<std::vector<EntryBody>> FindEntryBodies(std::string_view source);

}  // namespace cupilot::source
