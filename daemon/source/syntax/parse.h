// Text to tree, by clang. The only other header with a clang-backed implementation is preprocess.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "source/syntax/tree.h"

namespace cupilot::source {

struct ParseOptions {
  std::string file_name = "kernel.cu";
  std::string standard = "c++17";            // -std=
  std::vector<std::string> include_folders;  // for texts that still have #include (closure texts)
  std::vector<std::string> system_folders;  // toolkit or host_runtime, then the host compiler's own
  std::vector<std::string> defines;         // "A=1"
  std::string resource_dir;                 // clang's own headers; empty: FindResourceDir()
  // Preprocessed text (line markers, no directives): nothing is included or expanded.
  bool preprocessed = false;
  // A closure text is parsed after `#include <cuda_runtime.h>` of system_folders.
  bool include_runtime = false;
  // What the #include <...> lines declare that a text begins with is kept for the next text that
  // begins alike, until a header changes. The tree is the same without.
  bool keep_headers = true;
  // They are kept when a text begins so for the first time: another one is sure to come. Without
  // it the second one does that, since it costs more than parsing them.
  bool keep_at_once = false;
  // The part of the text, [begin, end), that ParseOutcome::expanded is of.
  std::uint32_t expand_begin = 0;
  std::uint32_t expand_end = 0;
};

struct Diagnostic {
  std::string file;  // presumed
  int line = 0;
  int column = 0;
  std::uint32_t offset = 0;
  std::string message;
};

struct ParseOutcome {
  Tree tree;
  std::vector<Diagnostic>
      errors;                 // of user text; a tree with errors is still usable for what parsed
  bool kept_headers = false;  // the headers did not have to be read
  // What the compiler sees of [expand_begin, expand_end): its tokens with all macros expanded, each
  // on the line on which it stands or its macro does; the operator _Pragma by its name alone.
  std::string expanded;
};

// CUDA host-side parse (kernel launches, attributes and device code in one tree). Fails only if
// clang cannot be run at all. Takes 10 to 400 ms, the most of it for headers that are not kept;
// thread-safe.
base::Result<ParseOutcome> Parse(const std::string& text, const ParseOptions& options);

// The folder of clang's own headers: share/cupilot/clang of the installation or of the build
// folder.
std::string FindResourceDir();

}  // namespace cupilot::source
