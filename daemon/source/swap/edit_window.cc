#include "source/swap/edit_window.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "base/hash.h"
#include "source/swap/compiled_text.h"
#include "source/swap/piece_words.h"
#include "source/swap/pieces.h"

namespace cupilot::source {
namespace {

constexpr std::string_view kTagMark = "cupilot:";

using NameSet = std::unordered_set<std::string_view>;

struct Macro {
  std::set<std::string> words;  // of its replacement, without its parameters
  bool hides = false;           // may declare what its words do not show
};

bool IsBalanced(std::string_view text, const std::vector<Token>& tokens, std::size_t first) {
  std::string open;
  for (std::size_t i = first; i < tokens.size(); ++i) {
    if (tokens[i].kind != TokenKind::kPunctuator) continue;
    const char c = text[tokens[i].begin];
    if (c == '(' || c == '[' || c == '{') open += c;
    if (c != ')' && c != ']' && c != '}') continue;
    const char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
    if (open.empty() || open.back() != wanted) return false;
    open.pop_back();
  }
  return open.empty();
}

// Reads "#define NAME(parameters) words". False if its brackets do not match.
bool ReadDefinition(const std::string& directive, std::map<std::string, Macro>& macros) {
  constexpr std::string_view kDefine = "#define ";
  const std::string text = directive.substr(kDefine.size());
  const std::vector<Token> tokens = Lex(text);
  if (tokens.empty()) return true;
  const auto word = [&](std::size_t i) { return std::string(Spelling(text, tokens[i])); };
  std::size_t first = 1;
  std::set<std::string> parameters;
  if (tokens.size() > 1 && word(1) == "(" && tokens[1].begin == tokens[0].end) {
    first = MatchingToken(text, tokens, 1);
    for (std::size_t i = 2; i < first; ++i) parameters.insert(word(i));
    ++first;
  }
  if (!IsBalanced(text, tokens, first)) return false;
  static const NameSet kHiding = {"operator", "using",   "namespace", "requires", "##",
                                  "friend",   "_Pragma", "asm",       "__asm__",  "template"};
  Macro& macro = macros[word(0)];
  for (std::size_t i = first; i < tokens.size(); ++i) {
    const std::string found = word(i);
    if (kHiding.count(found) > 0) macro.hides = true;
    if (tokens[i].kind == TokenKind::kIdentifier && parameters.count(found) == 0) {
      macro.words.insert(found);
    }
  }
  return true;
}

bool ReadDefinitions(std::string_view text, std::map<std::string, Macro>& macros) {
  for (const Token& token : Lex(text)) {
    if (token.kind != TokenKind::kDirective) continue;
    const std::string directive = PlainDirective(Spelling(text, token));
    if (directive.empty()) return false;
    if (directive.starts_with("#define ") && !ReadDefinition(directive, macros)) return false;
  }
  return true;
}

// Names through which a declaration may come that does not show its name.
std::vector<std::string> HidingMacros(std::map<std::string, Macro>& macros,
                                      const std::set<std::string>& names) {
  for (bool again = true; again;) {
    again = false;
    for (auto& [name, macro] : macros) {
      if (macro.hides) continue;
      macro.hides = std::any_of(macro.words.begin(), macro.words.end(), [&](const auto& word) {
        const auto other = macros.find(word);
        return names.count(word) > 0 || (other != macros.end() && other->second.hides);
      });
      again = again || macro.hides;
    }
  }
  std::vector<std::string> hiding;
  for (const auto& [name, macro] : macros) {
    if (macro.hides) hiding.push_back(name);
  }
  return hiding;
}

// Tags, by the token that follows them.
std::vector<std::pair<std::size_t, std::string_view>> FindTags(std::string_view text,
                                                               const std::vector<Token>& tokens) {
  std::vector<std::pair<std::size_t, std::string_view>> tags;
  for (std::size_t at = text.find(kTagMark); at != std::string_view::npos;) {
    const auto after =
        std::upper_bound(tokens.begin(), tokens.end(), at,
                         [](std::size_t value, const Token& token) { return value < token.begin; });
    std::size_t end = std::min(text.find('\n', at), text.size());
    while (end < text.size() && (text[end - 1] == '\\' || text.substr(end - 2, 2) == "\\\r")) {
      end = std::min(text.find('\n', end + 1), text.size());
    }
    // A directive may end with a comment.
    if (after == tokens.begin() || (after - 1)->end <= at ||
        (after - 1)->kind == TokenKind::kDirective) {
      std::string_view line = text.substr(at, end - at);
      while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
      tags.emplace_back(static_cast<std::size_t>(after - tokens.begin()), line);
    }
    at = text.find(kTagMark, end);
  }
  return tags;
}

class Outliner {
 public:
  Outliner(std::string_view text, const records::EditWindow& window)
      : text_(text),
        pieces_(SplitIntoPieces(text)),
        names_(window.names.begin(), window.names.end()),
        macros_(window.macros.begin(), window.macros.end()) {}

  std::string Run(const std::vector<records::ClosureRange>& needed) {
    if (!pieces_.readable || !Holds(needed)) return {};
    tags_ = FindTags(text_, pieces_.tokens);
    hasher_.Add("cupilot.outline/1");
    for (const Piece& piece : pieces_.pieces) Add(piece);
    return hasher_.Hex();
  }

 private:
  static bool AnyOf(const std::vector<std::string_view>& words, const NameSet& set) {
    return !set.empty() && std::any_of(words.begin(), words.end(),
                                       [&](std::string_view word) { return set.count(word) > 0; });
  }
  bool Matters(const Piece& piece) const {
    return piece.doubtful || AnyOf(piece.declares, names_) || AnyOf(piece.mentions, macros_);
  }

  void Add(const Piece& piece) {
    if (piece.kind == Piece::Kind::kDirective) {
      hasher_.Add(PlainDirective(Spelling(text_, pieces_.tokens[piece.begin])));
    } else if (piece.kind == Piece::Kind::kScope) {
      // A namespace that is opened once more is no other namespace.
      const std::vector<std::string>& path = pieces_.scopes[piece.scope];
      if (Matters(piece) && seen_.insert(path).second) AddPath("scope", path);
    } else {
      AddDeclaration(piece);
    }
  }

  void AddDeclaration(const Piece& piece) {
    const bool matters = Matters(piece);
    std::vector<std::string_view> later;
    std::vector<std::string_view> tags = std::move(waiting_);
    for (; next_tag_ < tags_.size() && tags_[next_tag_].first < piece.end; ++next_tag_) {
      tags.push_back(tags_[next_tag_].second);
      if (tags_[next_tag_].first > piece.begin) later.push_back(tags.back());
    }
    waiting_ = std::move(later);
    if (!matters) return;
    AddPath("declaration", pieces_.scopes[piece.scope]);
    for (const std::string_view tag : tags) hasher_.Add(tag);
    hasher_.Add("tokens");
    for (std::size_t i = piece.begin; i < piece.end; ++i) {
      const std::string_view word = Spelling(text_, pieces_.tokens[i]);
      if (pieces_.tokens[i].kind == TokenKind::kDirective) {
        hasher_.Add(PlainDirective(word));
      } else {
        hasher_.Add(word);
      }
    }
  }

  void AddPath(const char* what, const std::vector<std::string>& path) {
    hasher_.Add(what).Add(std::to_string(path.size()));
    for (const std::string& part : path) hasher_.Add(part);
  }

  // Whether all that the closure needs of this file is in parts that the outline holds.
  bool Holds(const std::vector<records::ClosureRange>& needed) const {
    for (const records::ClosureRange& range : needed) {
      bool found = false;
      for (const Piece& piece : pieces_.pieces) {
        if (piece.kind != Piece::Kind::kDeclaration) continue;
        const Token& last = pieces_.tokens[piece.end - 1];
        if (last.end <= range.begin || pieces_.tokens[piece.begin].begin >= range.end) continue;
        if (!Matters(piece)) return false;
        found = true;
      }
      if (!found) return false;
    }
    return true;
  }

  std::string_view text_;
  Pieces pieces_;
  NameSet names_, macros_;
  std::vector<std::pair<std::size_t, std::string_view>> tags_;
  std::size_t next_tag_ = 0;
  std::vector<std::string_view> waiting_;  // tags that the next declaration may get
  std::set<std::vector<std::string>> seen_;
  base::Hasher hasher_;
};

}  // namespace

records::EditWindow MakeEditWindow(const std::vector<std::string_view>& texts,
                                   const std::vector<std::string_view>& definitions) {
  const std::vector<std::string> looked_up = NamesLookedUp(texts);
  const std::set<std::string> names(looked_up.begin(), looked_up.end());
  records::EditWindow window;
  std::map<std::string, Macro> macros;
  for (const std::string_view text : definitions) {
    if (!ReadDefinitions(text, macros)) return window;
  }
  window.macros = HidingMacros(macros, names);
  window.names = looked_up;
  return window;
}

std::string OutlineOf(std::string_view text, const records::EditWindow& window,
                      const std::vector<records::ClosureRange>& needed) {
  if (window.names.empty()) return {};
  return Outliner(text, window).Run(needed);
}

}  // namespace cupilot::source
