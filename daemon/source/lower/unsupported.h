// What a text asks for that parses but that the host device cannot do. Pure.
#pragma once

#include <string>
#include <vector>

#include "source/syntax/tree.h"

namespace cupilot::source {

struct Unsupported {
  std::string place;      // "file:line", as the line markers of the text say
  std::string construct;  // "inline PTX (asm)"
};

// In the order of the text.
std::vector<Unsupported> FindUnsupported(const Tree& tree);

}  // namespace cupilot::source
