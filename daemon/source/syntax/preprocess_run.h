// One run of clang's preprocessor, of which `preprocess.h` says what comes of it, and what it
// leaves to a run that goes on behind it. Of this folder only.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "source/syntax/preprocess.h"

namespace cupilot::source {

struct GivenFile {
  std::string path;
  std::string text;
};

// What is there at the end of a text.
struct LeftBehind {
  struct Macro {
    std::string name;
    std::string line;   // its definition, or that there is none any more
    std::string value;  // the tokens
  };
  // Those of files. The command line's and the compiler's the next run has, too.
  std::vector<Macro> macros;
  std::unordered_set<std::string> names;  // that were read, outside of what was skipped
  bool once = false;                      // a file was read that says that it is to be read once
  bool users = false;                     // a macro is of a file that is no header of the system
};

// `given`: files that are there whatever is on the disk, besides the source's own. `left` may be
// null.
base::Result<Preprocessed> RunPreprocessor(std::string_view text, const PreprocessOptions& options,
                                           const std::vector<GivenFile>& given, LeftBehind* left);

}  // namespace cupilot::source
