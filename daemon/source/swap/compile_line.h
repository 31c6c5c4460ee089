// What a compiler's command line, as CMake writes it for a CUDA source, does.
#pragma once

#include <string>
#include <vector>

namespace cupilot::source {

struct CompileLine {
  // One CUDA source to one object. If false nothing else is set: not a command that we touch.
  bool compiles = false;
  std::vector<std::string> arguments;  // compiler first, response files expanded
  std::string source_word;             // the source as it stands in the words given
  std::string source;                  // absolute
  std::string object;                  // absolute
  // Why it is compiled as it is ("-G: device debugging"); empty: it may be tuned.
  std::string left_alone;
};

// `words`: compiler first. Reads response files (--options-file, -optf, @file) relative to
// `folder`.
CompileLine ReadCompileLine(const std::vector<std::string>& words, const std::string& folder);

}  // namespace cupilot::source
