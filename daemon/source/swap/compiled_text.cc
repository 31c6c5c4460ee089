#include "source/swap/compiled_text.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "source/swap/piece_words.h"
#include "source/swap/pieces.h"
#include "source/syntax/lexer.h"

namespace cupilot::source {
namespace {

using records::PassSummary;
using records::TextPiece;

// 100 bytes each: two megabytes of the daemon for a unit of that size.
constexpr std::size_t kMostPieces = 20'000;

// Looked up by what is written without a name: loops over ranges, structured bindings, exchanges.
constexpr const char* kImplicitNames[] = {"begin",      "end",           "get",
                                          "tuple_size", "tuple_element", "swap"};

void AddPath(base::Hasher& hasher, const std::vector<std::string>& path) {
  hasher.Add(std::to_string(path.size()));
  for (const std::string& part : path) hasher.Add(part);
}

TextPiece PieceOf(std::string_view text, const Pieces& pieces, const Piece& piece) {
  TextPiece out;
  base::Hasher hasher;
  out.scope = piece.kind == Piece::Kind::kScope;
  out.always = piece.doubtful || piece.kind == Piece::Kind::kDirective;
  for (const std::string_view name : piece.declares) out.names.emplace_back(name);
  hasher.Add(out.scope ? "scope" : "piece");
  AddPath(hasher, pieces.scopes[piece.scope]);
  if (!out.scope) {
    for (std::size_t i = piece.begin; i < piece.end; ++i) {
      hasher.Add(Spelling(text, pieces.tokens[i]));
    }
  }
  out.hash = hasher.Hex();
  return out;
}

std::vector<TextPiece> PiecesOf(std::string_view text) {
  const Pieces pieces = SplitIntoPieces(text);
  std::vector<TextPiece> out;
  if (pieces.readable && pieces.pieces.size() <= kMostPieces) {
    out.reserve(pieces.pieces.size());
    for (const Piece& piece : pieces.pieces) out.push_back(PieceOf(text, pieces, piece));
    return out;
  }
  base::Hasher hasher;
  hasher.Add("text");
  for (const Token& token : pieces.tokens) hasher.Add(Spelling(text, token));
  out.push_back({{}, hasher.Hex(), true, false});
  return out;
}

// What a tag stands above: the first tokens behind it, up to the end of a head. `begin`: of the
// first of them.
std::string HeadBehind(std::string_view text, std::size_t& begin) {
  constexpr std::size_t kMostBytes = 4096;
  const std::string_view near = text.substr(0, std::min(text.size(), kMostBytes));
  std::string head;
  begin = near.size();
  for (const Token& token : Lex(near)) {
    const std::string_view word = Spelling(near, token);
    begin = std::min<std::size_t>(begin, token.begin);
    head.append(word).append(" ");
    if (word == "{" || word == ";") break;
  }
  return head;
}

}  // namespace

std::vector<std::string> NamesLookedUp(const std::vector<std::string_view>& texts) {
  std::set<std::string> names(std::begin(kImplicitNames), std::end(kImplicitNames));
  for (const std::string_view text : texts) {
    for (const Token& token : Lex(text)) {
      const std::string_view word = Spelling(text, token);
      if (token.kind == TokenKind::kIdentifier && !IsKeyword(word)) names.emplace(word);
    }
  }
  return {names.begin(), names.end()};
}

std::vector<PassSummary> Summarise(const std::vector<records::CompilerPass>& passes) {
  std::vector<PassSummary> summaries;
  for (const records::CompilerPass& pass : passes) {
    PassSummary& summary = summaries.emplace_back();
    summary.name = pass.name;
    summary.pieces = PiecesOf(pass.text);
    for (const auto& [name, definition] : pass.macros) {
      summary.macros.emplace(name, base::HashHex(definition));
    }
  }
  return summaries;
}

bool HasHiddenLines(const records::Kernel& kernel) {
  // What a lambda captures has types that follow from other text than the closure's.
  if (!kernel.made_types.empty()) return true;
  for (const char* word : {"__builtin_LINE", "source_location"}) {
    if (kernel.closure_source.find(word) != std::string::npos) return true;
  }
  return false;
}

std::string HashOfTokens(const std::vector<PassSummary>& passes,
                         const std::vector<std::string>& names) {
  const std::set<std::string_view> wanted(names.begin(), names.end());
  const bool any = wanted.contains(kAnyName);
  base::Hasher hasher;
  hasher.Add("tokens");
  for (const PassSummary& pass : passes) {
    hasher.Add("pass").Add(pass.name);
    std::set<std::string_view> scopes;
    for (const TextPiece& piece : pass.pieces) {
      const bool matters =
          any || piece.always ||
          std::any_of(piece.names.begin(), piece.names.end(),
                      [&](const std::string& name) { return wanted.contains(name); });
      if (!matters || (piece.scope && !scopes.insert(piece.hash).second)) continue;
      hasher.Add(piece.hash);
    }
    for (const auto& [name, definition] : pass.macros) {
      if (any || wanted.contains(name)) hasher.Add("macro").Add(name).Add(definition);
    }
  }
  return hasher.Hex();
}

std::set<std::string> UserMacrosOf(const std::vector<PassSummary>& passes) {
  std::set<std::string> names;
  for (const PassSummary& pass : passes) {
    for (const auto& [name, definition] : pass.macros) names.insert(name);
  }
  return names;
}

std::string HashOfTags(std::string_view text) {
  constexpr std::string_view kTagMark = "cupilot:";
  base::Hasher hasher;
  bool any = false;
  for (std::size_t at = text.find(kTagMark); at != std::string_view::npos;
       at = text.find(kTagMark, at)) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    while (end < text.size() &&
           (text[end - 1] == '\\' || (end > 1 && text.substr(end - 2, 2) == "\\\r"))) {
      end = std::min(text.find('\n', end + 1), text.size());
    }
    std::string_view line = text.substr(at, end - at);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
    hasher.Add(line);
    // Of several tags above one kernel the last one names it.
    std::size_t begin = 0;
    const std::string head = HeadBehind(text.substr(end), begin);
    if (text.find(kTagMark, end) >= end + begin) hasher.Add(head);
    any = true;
    at = end;
  }
  return any ? hasher.Hex() : std::string();
}

}  // namespace cupilot::source
