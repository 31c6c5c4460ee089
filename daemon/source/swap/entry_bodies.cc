#include "source/swap/entry_bodies.h"

#include <array>
#include <cctype>
#include <optional>

namespace cupilot::source {
namespace {

struct Word {
  std::string_view text;  // an identifier, a literal, or one character of punctuation
  std::size_t begin = 0;
  bool identifier = false;
};

bool StartsIdentifier(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool ContinuesIdentifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Splits text into words; comments, white space and directives are left out. What a directive opens
// it must close: only the preprocessor knows what becomes of the rest.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  base::Result<std::vector<Word>> Run() {
    std::vector<Word> words;
    while (true) {
      TRY(SkipBlank());
      if (at_ >= text_.size()) return words;
      const std::size_t begin = at_;
      const char c = text_[at_];
      bool identifier = false;
      line_begins_ = false;
      if (StartsIdentifier(c)) {
        while (at_ < text_.size() && ContinuesIdentifier(text_[at_])) ++at_;
        identifier = true;
        if (at_ < text_.size() && text_[at_] == '"' && text_[at_ - 1] == 'R') {
          identifier = false;
          TRY(SkipRawString());
        }
      } else if (std::isdigit(static_cast<unsigned char>(c))) {
        SkipNumber();
      } else if (c == '"' || c == '\'') {
        TRY(SkipQuoted(c));
      } else {
        ++at_;
      }
      words.push_back({text_.substr(begin, at_ - begin), begin, identifier});
    }
  }

 private:
  base::Result<> SkipBlank() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
        line_begins_ = line_begins_ || text_[at_] == '\n';
        ++at_;
      } else if (text_[at_] == '#' && line_begins_) {
        TRY(SkipDirective());
      } else if (text_.substr(at_, 2) == "//") {
        SkipLine();
      } else if (text_.substr(at_, 2) == "/*") {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) {
          return base::Fail(base::InvalidArgument("a comment is not closed"));
        }
        at_ = end + 2;
      } else {
        return {};
      }
    }
    return {};
  }

  // With the lines that a backslash joins to it.
  void SkipLine() {
    while (at_ < text_.size() && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_, text_.size());
  }

  base::Result<> SkipDirective() {
    const std::size_t begin = at_;
    SkipLine();
    const std::string_view directive = text_.substr(begin, at_ - begin);
    int depth = 0;
    for (const char c : directive) {
      depth += (c == '{' ? 1 : 0) - (c == '}' ? 1 : 0);
      if (depth < 0) break;
    }
    const std::size_t comment = directive.rfind("/*");
    const bool open = comment != std::string_view::npos &&
                      directive.find("*/", comment + 2) == std::string_view::npos;
    if (depth == 0 && !open) return {};
    return base::Fail(base::InvalidArgument("'" + std::string(directive.substr(0, 80)) +
                                            "': braces and comments of a directive must be closed "
                                            "in it"));
  }

  // Digit separators and exponents belong to the number.
  void SkipNumber() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool separator =
          c == '\'' && at_ + 1 < text_.size() && ContinuesIdentifier(text_[at_ + 1]);
      if (!ContinuesIdentifier(c) && c != '.' && !separator) return;
      ++at_;
    }
  }

  base::Result<> SkipQuoted(char quote) {
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == quote) {
        ++at_;
        return {};
      } else if (text_[at_] == '\n') {
        break;
      }
    }
    return base::Fail(base::InvalidArgument("a literal is not closed"));
  }

  base::Result<> SkipRawString() {
    const std::size_t open = text_.find('(', at_);
    if (open != std::string_view::npos) {
      const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
      const std::size_t end = text_.find(close, open);
      if (end != std::string_view::npos) {
        at_ = end + close.size();
        return {};
      }
    }
    return base::Fail(base::InvalidArgument("a raw string is not closed"));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool line_begins_ = true;
};

// The index behind the bracket that closes words[open].
std::optional<std::size_t> BehindMatching(const std::vector<Word>& words, std::size_t open) {
  std::string expected;
  for (std::size_t i = open; i < words.size(); ++i) {
    const std::string_view text = words[i].text;
    if (text == "(") expected += ')';
    if (text == "[") expected += ']';
    if (text == "{") expected += '}';
    if (text != ")" && text != "]" && text != "}") continue;
    if (expected.empty() || text[0] != expected.back()) return std::nullopt;
    expected.pop_back();
    if (expected.empty()) return i + 1;
  }
  return std::nullopt;
}

bool TakesArgumentsAsAttribute(std::string_view word) {
  constexpr std::array<std::string_view, 8> kAttributes = {
      "__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__block_size__",
      "__attribute__",     "alignas",          "__align__",   "decltype"};
  for (const std::string_view attribute : kAttributes) {
    if (word == attribute) return true;
  }
  return false;
}

base::Error Unbalanced(std::string_view name) {
  return base::InvalidArgument("the brackets of '" + std::string(name) + "' do not match");
}

base::Error UnbalancedBraces() { return base::InvalidArgument("the braces do not match"); }

// The entry whose __global__ stands at words[at]; `at` is moved behind what was read.
base::Result<std::optional<EntryBody>> ReadEntry(const std::vector<Word>& words, std::size_t& at) {
  for (++at; at < words.size(); ++at) {
    if (words[at].text == ";" || words[at].text == "{") return std::nullopt;
    if (words[at].text == "}") return base::Fail(UnbalancedBraces());
    if (!words[at].identifier || at + 1 >= words.size() || words[at + 1].text != "(") continue;
    const std::string_view name = words[at].text;
    const std::optional<std::size_t> behind = BehindMatching(words, at + 1);
    if (!behind) return base::Fail(Unbalanced(name));
    at = *behind;
    if (TakesArgumentsAsAttribute(name)) {
      --at;
      continue;
    }
    while (at < words.size() && words[at].text != "{" && words[at].text != ";") {
      if (words[at++].text == "}") return base::Fail(UnbalancedBraces());
    }
    if (at >= words.size() || words[at].text == ";") return EntryBody{std::string(name), 0, 0};
    const std::optional<std::size_t> end = BehindMatching(words, at);
    if (!end) return base::Fail(Unbalanced(name));
    const std::size_t begin = words[at].begin;
    at = *end;
    return EntryBody{std::string(name), begin, words[*end - 1].begin + 1};
  }
  return std::nullopt;
}

}  // namespace

base::Result<std::vector<EntryBody>> FindEntryBodies(std::string_view source) {
  TRY_ASSIGN(const std::vector<Word> words, Scanner(source).Run());
  std::vector<EntryBody> entries;
  int depth = 0;
  for (std::size_t at = 0; at < words.size();) {
    if (words[at].identifier && words[at].text == "__global__") {
      TRY_ASSIGN(std::optional<EntryBody> entry, ReadEntry(words, at));
      if (entry) entries.push_back(std::move(*entry));
      continue;
    }
    if (words[at].text == "{") ++depth;
    if (words[at].text == "}" && --depth < 0) break;
    ++at;
  }
  if (depth != 0) return base::Fail(UnbalancedBraces());
  return entries;
}

}  // namespace cupilot::source
