// What the compiler of a recorded command makes of its source before it translates it
// (source/swap/ask_compiler.h asks it). The user's text is what lies outside the folders of the
// toolkit and of the compiler.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "records/json.h"

namespace cupilot::records {

// How the compiler reads a source; our own parser takes it over.
struct CompilerSetup {
  std::vector<std::string> predefined;      // the compiler's own macros: "-DNAME=VALUE"
  std::vector<std::string> macros;          // of the command, in order: "-DNAME=VALUE", "-UNAME"
  std::vector<std::string> forced;          // files of -include, in order
  std::vector<std::string> forced_macros;   // files of -imacros, in order
  std::vector<std::string> quote_folders;   // searched for #include "..." only; absolute
  std::vector<std::string> folders;         // searched for all others, in order; absolute
  std::vector<std::string> system_folders;  // of the toolkit and the compiler; real paths

  bool operator==(const CompilerSetup&) const = default;
};

// One preprocessing of the source: a compile has one for the host and one for each architecture.
struct CompilerPass {
  std::string name;                           // "host", or the value of __CUDA_ARCH__: "800"
  std::string text;                           // the user's lines: tokens and #pragma
  std::map<std::string, std::string> macros;  // the user's, live at the end: definitions by name
};

// A declaration, a directive or a scope of a pass, without its text.
struct TextPiece {
  std::vector<std::string> names;  // that it may declare; more rather than fewer
  std::string hash;                // of its tokens and of the scope that it stands in
  bool always = false;             // it may change the meaning of others, whatever its names are
  bool scope = false;              // opens a namespace: opening it once more says nothing new
};
struct PassSummary {
  std::string name;
  std::vector<TextPiece> pieces;              // in order
  std::map<std::string, std::string> macros;  // hashes of the definitions by name
};

}  // namespace cupilot::records
