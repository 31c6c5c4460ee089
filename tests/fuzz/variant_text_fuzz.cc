#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "records/source_text.h"
#include "source/syntax/lexer.h"
#include "source/whitelist_words.h"
#include "tests/fuzz/fuzz_targets.h"

namespace cupilot::fuzz {
namespace {

// Tokens, one a line; blanks in what is left of directives do not count.
std::string TokensOf(std::string_view text) {
  std::string tokens;
  for (const source::Token& token : source::Lex(text)) {
    for (const char c : source::Spelling(text, token)) {
      const bool blank = token.kind == source::TokenKind::kDirective && (c == ' ' || c == '\t');
      if (!blank) tokens += c;
    }
    tokens += '\n';
  }
  return tokens;
}

// Names that mean something to the preprocessor by themselves, and characters that it prints in
// another way.
bool IsPrintedOtherwise(std::string_view text) {
  for (const source::Token& token : source::Lex(text)) {
    const std::string_view word = source::Spelling(text, token);
    if (token.kind == source::TokenKind::kIdentifier && word.starts_with("_")) return true;
    for (const char c : word) {
      if ((static_cast<unsigned char>(c) & 0x80u) != 0) return true;
    }
  }
  return false;
}

// What g++ makes of it, with trigraphs, as the oldest standards have them.
std::string Preprocessed(const std::string& text) {
  static const std::string path =
      std::filesystem::temp_directory_path() / ("cupilot-text-" + std::to_string(getpid()));
  if (!base::WriteFileAtomically(path + ".cc", text)) return "cannot be written";
  const std::string command =
      "g++ -E -P -undef -trigraphs -w -x c++ '" + path + ".cc' -o '" + path + ".ii' 2> /dev/null";
  if (std::system(command.c_str()) != 0) return "g++ fails";
  const auto bytes = base::ReadFile(path + ".ii");
  std::remove((path + ".cc").c_str());
  std::remove((path + ".ii").c_str());
  return bytes.value_or("cannot be read");
}

}  // namespace

// A variant's source. What is passed by its words is to g++ what it is to our lexer: no line is
// joined, no directive is left, no macro is defined.
std::string VariantText(std::string_view bytes) {
  const auto resolved = records::ResolveText(bytes);
  if (!resolved) return {};
  if (records::ResolveText(*resolved).value_or("") != *resolved) return "it can be resolved again";
  if (resolved->find('\r') != std::string::npos || resolved->find("\\\n") != std::string::npos) {
    return "line ends are left";
  }
  if (!source::ForbiddenWords(*resolved).empty() || IsPrintedOtherwise(*resolved)) return {};
  const std::string seen = Preprocessed(*resolved);
  if (TokensOf(*resolved) == TokensOf(seen)) return {};
  return "g++ sees other tokens:\n" + TokensOf(seen) + "instead of:\n" + TokensOf(*resolved);
}

}  // namespace cupilot::fuzz
