// The declarations of namespace scope in C++ text, found by brackets and keywords alone. What such
// a reader cannot know for sure it calls doubtful, or it does not read the text at all. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "source/syntax/lexer.h"

namespace cupilot::source {

struct Piece {
  enum class Kind : unsigned char { kDeclaration, kDirective, kScope /* a namespace is opened */ };
  Kind kind = Kind::kDeclaration;
  std::size_t begin = 0;  // tokens [begin, end)
  std::size_t end = 0;
  std::size_t scope = 0;  // index into Pieces::scopes: where it stands; kScope: what it opens
  // Names that it may declare where others see them; more rather than fewer. kScope: its names.
  std::vector<std::string_view> declares;
  // Names by which macros may stand in its heads: what a macro makes of it is not known here.
  std::vector<std::string_view> mentions;
  // It may change what others mean whatever its names are: operators, using-directives,
  // specialisations in libraries' namespaces, constraints, _Pragma, assembler; or its end was not
  // found.
  bool doubtful = false;
};

struct Pieces {
  // False: brackets or conditions do not match, or the text holds what only a compiler can read
  // (digraphs, continued lines outside of comments). Then there are no pieces.
  bool readable = false;
  std::vector<Token> tokens;
  std::vector<Piece> pieces;  // in order, without gaps but for brackets of scopes
  std::vector<std::vector<std::string>> scopes;  // paths, outermost first; the first is empty
};

Pieces SplitIntoPieces(std::string_view text);

}  // namespace cupilot::source
