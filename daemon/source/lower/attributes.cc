#include "source/lower/attributes.h"

#include <algorithm>
#include <array>
#include <vector>

#include "source/syntax/lexer.h"

namespace cupilot::source {
namespace {

constexpr std::array<std::string_view, 7> kCuda = {"global",   "device",  "host",         "shared",
                                                   "constant", "managed", "launch_bounds"};

// The words of a text with their places: what stands in literals is none.
class Words {
 public:
  Words(std::string_view text, const std::vector<Token>& tokens) : text_(text), tokens_(tokens) {}
  std::size_t size() const { return tokens_.size(); }
  const Token& at(std::size_t index) const { return tokens_[index]; }
  std::string_view operator[](std::size_t index) const {
    return index < tokens_.size() ? Spelling(text_, tokens_[index]) : std::string_view();
  }
  bool IsWord(std::size_t index) const {
    return index < tokens_.size() && tokens_[index].kind == TokenKind::kIdentifier;
  }
  std::size_t Closing(std::size_t open) const { return MatchingToken(text_, tokens_, open); }

 private:
  std::string_view text_;
  const std::vector<Token>& tokens_;
};

}  // namespace

void RemoveCudaAttributes(std::string_view text, const std::vector<Token>& tokens, Edits& edits) {
  const Words words(text, tokens);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words.IsWord(i)) continue;
    if (words[i] == "__attribute__" && words[i + 1] == "(" && words[i + 2] == "(" &&
        std::find(kCuda.begin(), kCuda.end(), words[i + 3]) != kCuda.end()) {
      const std::size_t end = words.Closing(i + 1);
      if (end < words.size()) edits.Blank(words.at(i).begin, words.at(end).end);
    }
    // Else it is an element of an attribute's list already.
    const bool alone = i == 0 || (words[i - 1] != "(" && words[i - 1] != ",");
    if (words[i] == "__noinline__" && alone) {
      edits.Replace(words.at(i).begin, words.at(i).end, "__attribute__((noinline))");
    }
  }
}

std::string LaunchBoundOf(std::string_view declaration) {
  const std::vector<Token> tokens = Lex(declaration);
  const Words words(declaration, tokens);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if ((words[i] != "launch_bounds" && words[i] != "__launch_bounds__" &&
         words[i] != "__launch_bounds") ||
        words[i + 1] != "(" || !words.IsWord(i)) {
      continue;
    }
    const std::size_t close = words.Closing(i + 1);
    if (close >= words.size()) return "";
    std::size_t end = i + 2;
    for (int depth = 0; end < close; ++end) {
      if (words[end] == "(") ++depth;
      if (words[end] == ")") --depth;
      if (words[end] == "," && depth == 0) break;
    }
    const std::size_t begin = words.at(i + 1).end;
    return std::string(declaration.substr(begin, words.at(end).begin - begin));
  }
  return "";
}

}  // namespace cupilot::source
