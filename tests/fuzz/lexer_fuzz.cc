#include "source/swap/edit_window.h"
#include "source/swap/pieces.h"
#include "source/syntax/lexer.h"
#include "tests/fuzz/fuzz_targets.h"

namespace cupilot::fuzz {
namespace {

bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Comments, white space and continued lines only.
bool IsGap(std::string_view gap) {
  for (std::size_t i = 0; i < gap.size();) {
    if (gap.substr(i, 2) == "//") {
      while (i < gap.size() && gap[i] != '\n') {
        const bool crlf = gap.substr(i, 3) == "\\\r\n";
        i += crlf ? 3 : gap.substr(i, 2) == "\\\n" ? 2 : 1;
      }
    } else if (gap.substr(i, 2) == "/*") {
      const std::size_t close = gap.find("*/", i + 2);
      if (close == std::string_view::npos) return true;
      i = close + 2;
    } else if (gap[i] == '\\') {
      i += 2;
    } else if (IsBlank(gap[i])) {
      ++i;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

// Source text. Each byte is in one token or in a gap; the outline does not depend on gaps.
std::string Lexer(std::string_view bytes) {
  const std::vector<source::Token> tokens = source::Lex(bytes);
  std::size_t at = 0;
  for (const source::Token& token : tokens) {
    if (token.begin < at || token.end <= token.begin || token.end > bytes.size()) {
      return "tokens overlap or are empty at " + std::to_string(token.begin);
    }
    if (!IsGap(bytes.substr(at, token.begin - at))) {
      return "code is in no token before " + std::to_string(token.begin);
    }
    at = token.end;
  }
  if (!IsGap(bytes.substr(at))) return "code is in no token behind " + std::to_string(at);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::size_t close = source::MatchingToken(bytes, tokens, i);
    if (close < i) return "a bracket closes before it opens";
  }
  const source::Pieces pieces = source::SplitIntoPieces(bytes);
  std::size_t last = 0;
  for (const source::Piece& piece : pieces.pieces) {
    if (piece.end <= piece.begin || piece.end > tokens.size() ||
        piece.scope >= pieces.scopes.size()) {
      return "a piece is no range of tokens";
    }
    if (piece.kind == source::Piece::Kind::kDirective) continue;
    if (piece.begin < last) return "pieces overlap";
    last = piece.end;
  }
  const records::EditWindow window = source::MakeEditWindow({bytes}, {});
  const std::string outline = source::OutlineOf(bytes, window);
  if (outline.empty()) return {};
  if (outline != source::OutlineOf("// A comment.\n\n" + std::string(bytes), window)) {
    return "a comment changes the outline";
  }
  // A declaration of a name that the text has is seen.
  const std::string more = std::string("int ") + window.names.front() + ";\n" + std::string(bytes);
  if (outline == source::OutlineOf(more, window)) return "a declaration is not seen";
  return {};
}

}  // namespace cupilot::fuzz
