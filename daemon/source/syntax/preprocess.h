// A source as the compiler sees it after preprocessing, by clang's preprocessor in this process,
// with what is lost on the way kept beside the text: tag comments, macros, where each token came
// from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "source/syntax/parse.h"

namespace cupilot::source {

struct PreprocessOptions {
  std::string file_name;  // absolute
  std::string directory;  // what relative paths in the command are relative to
  std::string standard = "gnu++17";
  std::vector<std::string> include_folders;  // -I and -isystem of the user, in the compiler's order
  std::vector<std::string> quote_folders;    // -iquote
  std::vector<std::string> toolkit_folders;  // searched after them; their headers are the system's
  // Where the compiler was asked: its own macros, and all folders, in its order, in the place of
  // those above and of clang's; `system_folders` of them are the system's (real paths).
  std::vector<std::string> predefined;  // "-DNAME=value"; empty: clang's
  std::vector<std::string> compiler_folders;
  std::vector<std::string> system_folders;
  std::vector<std::string> forced_macros;  // -imacros, in order
  std::vector<std::string> macros;         // "-DNAME=value" and "-UNAME", in order
  std::vector<std::string> includes;       // -include, in order; "cuda_runtime.h" among them
  std::string resource_dir;                // empty: FindResourceDir()
};

// A comment of user text that holds "cupilot:".
struct TagComment {
  std::string file;  // presumed (after #line)
  int line = 0;      // of its first line
  std::string text;  // without the comment's own marks
};

// Where a stretch of the text came from; only user text has stretches.
struct Stretch {
  std::uint32_t begin = 0;  // in the text
  std::uint32_t end = 0;
  std::int32_t file = 0;  // index into Preprocessed::files
  std::uint32_t file_begin = 0;
  std::uint32_t file_end = 0;  // of a macro's expansion: the whole invocation
};

// An #if ... #endif whose condition names __CUDA_ARCH__.
struct ArchitectureBranch {
  std::int32_t file = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// Where a macro was expanded whose value depends on the place (__LINE__, __COUNTER__) or on the
// time of the compile (__TIME__, __DATE__).
struct PlaceMacro {
  std::int32_t file = 0;
  std::uint32_t offset = 0;  // of the outermost invocation
  bool of_time = false;
};

struct UserMacro {
  std::string name;
  std::string definition;     // "#define NAME(args) tokens"
  std::string value;          // the tokens
  bool under_ifndef = false;  // an #ifndef NAME stands in user text
};

// A definition of a macro in user text, or that it is taken away.
struct MacroChange {
  std::string name;
  std::string definition;    // "#define NAME(args) tokens"; empty: #undef
  std::uint32_t offset = 0;  // in the text
};

struct Preprocessed {
  // Line markers (flag 3: headers of the toolkit and the compiler; those of the user's -isystem
  // folders are user text), #pragma lines, tokens; no comments, no other directives.
  std::string text;
  std::vector<Stretch> stretches;  // in order
  std::vector<TagComment> comments;
  std::vector<UserMacro> macros;  // of user text, live at the end of the file, as they were defined
  std::vector<std::string>
      system_includes;               // that user text asks for, as written: "cmath"; each once
  std::vector<std::string> files;    // user files read, absolute; the source first
  std::vector<std::string> headers;  // all others that were read
  std::vector<ArchitectureBranch> branches;
  std::vector<MacroChange> macro_changes;  // in order
  std::vector<PlaceMacro> place_macros;
  // "file:line: NAME": a macro that has another value where the source is included by another one;
  // empty: user text asks for none.
  std::string asks_for_outermost;
  std::vector<Diagnostic> errors;  // a missing header, a bad directive
};

// `text` stands for the content of file_name, whatever is on the disk. Fails only if clang cannot
// be run; what is wrong with the source is in `errors`. Takes 10 to 300 ms; thread-safe.
base::Result<Preprocessed> Preprocess(std::string_view text, const PreprocessOptions& options);

}  // namespace cupilot::source
