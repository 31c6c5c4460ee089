#include "source/pack_expansion.h"

#include <algorithm>
#include <map>
#include <optional>

#include "source/syntax/lexer.h"

namespace cupilot::source {
namespace {

bool IsFoldOperator(std::string_view word) {
  static constexpr std::string_view kOperators[] = {
      "+",  "-",  "*",  "/",  "%",  "^",  "&",  "|",  "=",  "<",  ">",  "<<", ",",  "+=", "-=",
      "*=", "/=", "%=", "^=", "&=", "|=", "==", "!=", "<=", ">=", "&&", "||", ".*", "->*"};
  return std::find(std::begin(kOperators), std::end(kOperators), word) != std::end(kOperators);
}

bool Opens(std::string_view word) { return word == "(" || word == "[" || word == "{"; }

class PackExpander {
 public:
  PackExpander(std::string_view text, const std::vector<Pack>& packs)
      : text_(text), tokens_(Lex(text)) {
    for (const Pack& pack : packs) packs_[pack.name] = pack.elements;
  }

  base::Result<std::string> Run() {
    std::string out = List(0, tokens_.size(), -1);
    if (!problem_.empty()) return base::Fail(base::Unsupported(problem_));
    return out;
  }

 private:
  struct Range {
    std::size_t begin, end;
  };

  std::string_view Word(std::size_t i) const {
    return i < tokens_.size() ? Spelling(text_, tokens_[i]) : std::string_view();
  }

  // What stood before a token, without comments.
  std::string Gap(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : tokens_[i - 1].end;
    const std::string_view gap = text_.substr(begin, tokens_[i].begin - begin);
    if (gap.find('\n') != std::string_view::npos) return "\n";
    return gap.empty() ? "" : " ";
  }

  std::size_t Close(std::size_t open, std::size_t end) const {
    return std::min(MatchingToken(text_, tokens_, open), end);
  }

  // The stretches between commas outside of brackets.
  std::vector<Range> Elements(std::size_t begin, std::size_t end) const {
    std::vector<Range> elements;
    std::size_t from = begin;
    for (std::size_t i = begin; i < end; ++i) {
      if (Opens(Word(i))) {
        i = Close(i, end);
      } else if (Word(i) == ",") {
        elements.push_back({from, i});
        from = i + 1;
      }
    }
    if (from < end || !elements.empty()) elements.push_back({from, end});
    return elements;
  }

  // How many elements the packs have that a pattern names.
  std::size_t Length(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto pack = packs_.find(Word(i));
      if (pack != packs_.end()) return pack->second.size();
    }
    problem_ = "it has a '...' whose parameter pack is not the kernel's own";
    return 0;
  }

  // Tokens [begin, end), what is between brackets and what follows them; packs at element `at`.
  std::string List(std::size_t begin, std::size_t end, int at) {
    std::string out;
    bool emptied = false;
    bool first = true;
    for (const Range& element : Elements(begin, end)) {
      const std::string one = Element(element, at, emptied);
      if (emptied) continue;
      if (!first) out += ",";
      first = false;
      out += one;
    }
    return out;
  }

  bool IsWritten(const std::string& name) const {
    return std::any_of(tokens_.begin(), tokens_.end(),
                       [&](const Token& token) { return Spelling(text_, token) == name; });
  }

  std::optional<std::size_t> Dots(const Range& range) const {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      if (Opens(Word(i))) {
        i = Close(i, range.end);
      } else if (Word(i) == "..." && (i == range.begin || Word(i - 1) != "sizeof")) {
        return i;
      }
    }
    return std::nullopt;
  }

  // One of a list: an expansion becomes several, or none (`emptied`).
  std::string Element(const Range& range, int at, bool& emptied) {
    emptied = false;
    const auto dots = Dots(range);
    if (!dots) return Plain(range.begin, range.end, at);
    const std::size_t after = *dots + 1;
    const bool parameter = after + 1 == range.end && tokens_[after].kind == TokenKind::kIdentifier;
    if (after != range.end && !parameter) return Plain(range.begin, range.end, at);
    const std::size_t length = Length(range.begin, *dots);
    std::vector<std::string> names;
    std::string out;
    for (std::size_t k = 0; k < length; ++k) {
      out += (k == 0 ? "" : ", ") + Plain(range.begin, *dots, static_cast<int>(k));
      if (!parameter) continue;
      names.push_back(std::string(Word(after)) + "_" + std::to_string(k));
      if (IsWritten(names.back())) problem_ = "it has a name '" + names.back() + "' of its own";
      out += " " + names.back();
    }
    if (parameter) packs_[std::string(Word(after))] = names;
    emptied = length == 0;
    return out;
  }

  // `f<Ts...>`: from the last `<` or comma to the dots.
  void ExpandBefore(std::string& out, std::size_t begin, std::size_t dots) {
    std::size_t from = dots;
    while (from > begin && Word(from - 1) != "<" && Word(from - 1) != ",") --from;
    std::string expanded;
    const std::size_t length = Length(from, dots);
    for (std::size_t k = 0; k < length; ++k) {
      expanded += (k == 0 ? "" : ", ") + Plain(from, dots, static_cast<int>(k));
    }
    out = Plain(begin, from, -1) + expanded;
  }

  std::string Plain(std::size_t begin, std::size_t end, int at) {
    std::string out;
    for (std::size_t i = begin; i < end; ++i) {
      const std::string_view word = Word(i);
      if (word == "sizeof" && Word(i + 1) == "..." && Word(i + 2) == "(") {
        const auto pack = packs_.find(Word(i + 3));
        if (pack != packs_.end()) {
          out += Gap(i) + std::to_string(pack->second.size()) + "u";
          i += 4;
          continue;
        }
      }
      if (word == "...") {
        ExpandBefore(out, begin, i);
        continue;
      }
      out += Gap(i);
      if (Opens(word)) {
        const std::size_t close = Close(i, end);
        out += std::string(word) +
               (word == "(" ? Parenthesised(i + 1, close, at) : Statements(i + 1, close, at));
        if (close < end) out += Gap(close) + std::string(Word(close));
        i = close;
        continue;
      }
      const auto pack = packs_.find(word);
      const bool member = i > 0 && (Word(i - 1) == "." || Word(i - 1) == "->");
      if (pack == packs_.end() || member) {
        out += word;
      } else if (at >= 0 && static_cast<std::size_t>(at) < pack->second.size()) {
        out += pack->second[static_cast<std::size_t>(at)];
      } else if (Word(i + 1) == "...") {
        out += word;  // replaced with the dots behind it
      } else {
        problem_ = "it uses the parameter pack '" + std::string(word) + "' outside an expansion";
      }
    }
    return out;
  }

  // A block's or an initialiser's content: commas in statements separate lists, too.
  std::string Statements(std::size_t begin, std::size_t end, int at) {
    std::string out;
    std::size_t from = begin;
    for (std::size_t i = begin; i < end; ++i) {
      if (Opens(Word(i))) {
        i = Close(i, end);
      } else if (Word(i) == ";") {
        out += List(from, i, at) + ";";
        from = i + 1;
      }
    }
    return out + List(from, end, at);
  }

  // A list, or a fold: the dots stand beside an operator.
  std::string Parenthesised(std::size_t begin, std::size_t end, int at) {
    const auto dots = Dots({begin, end});
    if (!dots) return Statements(begin, end, at);
    const bool parameter =
        *dots + 1 < end && tokens_[*dots + 1].kind == TokenKind::kIdentifier;  // `Ts&&... xs`
    const bool before =
        !parameter && *dots > begin && IsFoldOperator(Word(*dots - 1)) &&
        !(Word(*dots - 1) == ">" || Word(*dots - 1) == "*" || Word(*dots - 1) == "&");
    const bool left = *dots == begin;
    const bool starred =
        *dots > begin && *dots + 1 == end && (Word(*dots - 1) == "*" || Word(*dots - 1) == "&");
    if (!before && !left && !starred) return Statements(begin, end, at);
    if (left) return Fold(*dots + 2, end, Word(*dots + 1), true, "");
    const std::string_view word = Word(*dots - 1);
    if (*dots + 1 == end) return Fold(begin, *dots - 1, word, false, "");
    const bool pattern_first =
        std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(begin),
                    tokens_.begin() + static_cast<std::ptrdiff_t>(*dots - 1),
                    [&](const Token& token) { return packs_.contains(Spelling(text_, token)); });
    if (pattern_first) {
      return Fold(begin, *dots - 1, word, false, Plain(*dots + 2, end, at));
    }
    return Fold(*dots + 2, end, word, true, Plain(begin, *dots - 1, at));
  }

  std::string Fold(std::size_t begin, std::size_t end, std::string_view word, bool left,
                   const std::string& initial) {
    const std::size_t length = Length(begin, end);
    std::vector<std::string> parts;
    parts.reserve(length + 1);
    for (std::size_t k = 0; k < length; ++k) {
      parts.push_back("(" + Plain(begin, end, static_cast<int>(k)) + ")");
    }
    if (!initial.empty()) {
      parts.insert(left ? parts.begin() : parts.end(), "(" + initial + ")");
    }
    if (parts.empty()) {
      if (word == "&&") return "true";
      if (word == "||") return "false";
      if (word == ",") return "void()";
      problem_ = "it folds an empty parameter pack";
      return {};
    }
    const std::string middle = " " + std::string(word) + " ";
    std::string out;
    if (left) {
      out = parts.front();
      for (std::size_t k = 1; k < parts.size(); ++k) out = "(" + out + middle + parts[k] + ")";
    } else {
      out = parts.back();
      for (std::size_t k = parts.size() - 1; k-- > 0;) out = "(" + parts[k] + middle + out + ")";
    }
    return out;
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::map<std::string, std::vector<std::string>, std::less<>> packs_;
  std::string problem_;
};

}  // namespace

base::Result<std::string> ExpandPacks(std::string_view text, const std::vector<Pack>& packs) {
  return PackExpander(text, packs).Run();
}

}  // namespace cupilot::source
