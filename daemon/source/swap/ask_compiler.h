// Runs the preprocessing of a recorded command as its compiler does it: the oracle for what a
// source says (which macros are predefined, which headers are read, what the options mean).
// The compiler lists what it runs (-dryrun); its preprocessing is run from that list, so that no
// table of options of ours stands between. nvcc preprocesses once for the host and once for each
// architecture; cupilot-nvcc once. Takes 6 to 13 % of the compile.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/compile_command.h"
#include "records/compiler_text.h"

namespace cupilot::source {

struct CompilerAnswer {
  records::CompilerSetup setup;
  std::vector<records::CompilerPass> passes;  // the host's first
  std::vector<std::string> files;             // of the user that were entered, absolute, each once
};

// In the command's folder, with its environment variables. kUnavailable: the compiler cannot be
// run. kToolFailed: it does not accept the command or the source, with its first words. Blocks the
// calling thread; nothing but the compiler's own temporary files is written.
base::Result<CompilerAnswer> AskCompiler(const records::CompileCommand& command);

// The lines of the user in preprocessed text (with line markers, as -E -dD prints it): without
// markers, #define and #undef. `is_system(name)`: whether the file of a marker is not the user's;
// names in angle brackets are the compiler's own.
struct UserLines {
  std::string text;
  std::map<std::string, std::string> macros;  // of the user, live at the end
  std::vector<std::string> files;             // as named in markers, in the order of entering
};
UserLines UserLinesOf(std::string_view preprocessed,
                      const std::function<bool(const std::string&)>& is_system);

}  // namespace cupilot::source
