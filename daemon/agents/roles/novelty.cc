#include "agents/roles/novelty.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "base/hash.h"
#include "source/syntax/lexer.h"

namespace cupilot::agents {
namespace {

using records::Json;
using source::Token;
using source::TokenKind;

// Types that every CUDA source knows: what stands behind one of them declares a name.
constexpr std::array<std::string_view, 34> kTypes = {
    "void",    "bool",    "char",    "short",    "int",        "long",         "unsigned",
    "signed",  "float",   "double",  "auto",     "size_t",     "int8_t",       "int16_t",
    "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t",   "uint64_t",     "half",
    "__half",  "half2",   "__half2", "float2",   "float3",     "float4",       "double2",
    "int2",    "int4",    "uint2",   "uint4",    "uint32x4_t", "__nv_bfloat16"};
// Words behind which a name is no declaration, or that are no types themselves.
constexpr std::array<std::string_view, 28> kNoTypes = {
    "return",   "else",  "case",     "goto",     "sizeof",  "do",       "if",
    "while",    "for",   "switch",   "operator", "break",   "continue", "default",
    "template", "using", "public",   "private",  "static",  "inline",   "constexpr",
    "extern",   "const", "volatile", "register", "typedef", "alignof",  "protected"};
// Words behind which a type's name is declared.
constexpr std::array<std::string_view, 6> kTypeHeads = {"struct", "class",    "enum",
                                                        "union",  "typename", "using"};

template <std::size_t N>
bool IsIn(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

class Normaliser {
 public:
  explicit Normaliser(std::string_view source) : source_(source), tokens_(source::Lex(source)) {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (Declares(i)) Declare(i);
    }
  }

  std::string Text() {
    std::string text;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      text += (i > 0 ? " " : "") + Written(i);
    }
    return text;
  }

  // As in the text; a name that is not in it stays.
  std::string NumberOf(const std::string& name) const {
    const auto it = numbers_.find(name);
    return it == numbers_.end() ? name : "$" + std::to_string(it->second);
  }

 private:
  std::string_view Word(std::size_t i) const {
    return i < tokens_.size() ? Spelling(source_, tokens_[i]) : std::string_view();
  }
  bool IsName(std::size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == TokenKind::kIdentifier;
  }

  bool EndsDeclarator(std::size_t i) const {
    constexpr std::array<std::string_view, 9> kEnds = {"(", "[", "=", ";", ",", ")", "{", ":", ">"};
    return IsIn(kEnds, Word(i));
  }

  bool IsType(std::size_t i) const {
    if (!IsName(i)) return false;
    const std::string_view word = Word(i);
    return IsIn(kTypes, word) || declared_.contains(word);
  }

  // "float* __restrict__ const x": from the name back over what stands between type and name.
  bool Declares(std::size_t i) const {
    if (i == 0 || !IsName(i) || IsIn(kTypes, Word(i)) || IsIn(kNoTypes, Word(i))) return false;
    if (Word(i).starts_with("__")) return false;
    if (!EndsDeclarator(i + 1)) return false;
    if (IsIn(kTypeHeads, Word(i - 1))) return true;
    std::size_t before = BeforeBounds(i - 1);
    bool pointer = false;
    while (before > 0 && (Word(before) == "*" || Word(before) == "&" || Word(before) == "const" ||
                          Word(before) == "__restrict__" || Word(before) == "&&")) {
      pointer = pointer || Word(before) == "*" || Word(before)[0] == '&';
      --before;
    }
    if (!IsName(before)) return false;
    const std::string_view type = Word(before);
    if (IsType(before)) return !pointer || !IsValue(before);
    // Two names in a row, as in "Pair p"; but not what looks like an attribute.
    return before + 1 == i && !IsIn(kNoTypes, type) && !type.starts_with("__");
  }

  // Before "__launch_bounds__(256)", where that ends here.
  std::size_t BeforeBounds(std::size_t end) const {
    if (Word(end) != ")") return end;
    std::size_t open = end;
    while (open > 0 && Word(open) != "(") --open;
    return open >= 2 && Word(open - 1) == "__launch_bounds__" ? open - 2 : end;
  }

  // Whether a declared name is a variable, so that "a * b" is a product.
  bool IsValue(std::size_t i) const { return !IsIn(kTypes, Word(i)) && !types_.contains(Word(i)); }

  void Declare(std::size_t i) {
    declared_.insert(Word(i));
    if (IsIn(kTypeHeads, Word(i - 1))) types_.insert(Word(i));
    if (!InParentheses(i)) DeclareOthers(i);
  }

  // Within parentheses each name has a type of its own, but for those of a for's first part.
  bool InParentheses(std::size_t i) const {
    int depth = 0;
    while (i-- > 0) {
      const std::string_view word = Word(i);
      if (word == ")" || word == "]" || word == "}") ++depth;
      if (word == "(" || word == "[" || word == "{") {
        if (depth-- == 0) return word == "(" && !(i > 0 && Word(i - 1) == "for");
      }
      if (depth == 0 && word == ";") return false;
    }
    return false;
  }

  // "int a = f(x), *b, c[2];": the names behind commas.
  void DeclareOthers(std::size_t i) {
    int depth = 0;
    for (++i; i < tokens_.size(); ++i) {
      const std::string_view word = Word(i);
      if (word == "(" || word == "[" || word == "{") ++depth;
      if (word == ")" || word == "]" || word == "}") --depth;
      if (depth < 0 || (depth == 0 && (word == ";" || word == "}"))) return;
      if (depth > 0 || word != ",") continue;
      std::size_t name = i + 1;
      while (Word(name) == "*" || Word(name) == "&") ++name;
      if (IsName(name) && EndsDeclarator(name + 1)) declared_.insert(Word(name));
    }
  }

  std::string Written(std::size_t i) {
    std::string word(Word(i));
    if (tokens_[i].kind == TokenKind::kDirective) return Squeezed(word);
    const bool member = i > 0 && (Word(i - 1) == "." || Word(i - 1) == "->" || Word(i - 1) == "::");
    if (!IsName(i) || member || !declared_.contains(Word(i))) return word;
    const auto [it, fresh] = numbers_.emplace(word, numbers_.size());
    return "$" + std::to_string(it->second);
  }

  static std::string Squeezed(std::string_view text) {
    std::string squeezed;
    for (const char c : text) {
      const bool blank = c == ' ' || c == '\t' || c == '\r';
      if (!blank) squeezed += c;
      if (blank && !squeezed.empty() && squeezed.back() != ' ') squeezed += ' ';
    }
    return squeezed;
  }

  std::string_view source_;
  std::vector<Token> tokens_;
  std::set<std::string_view> declared_, types_;
  std::map<std::string, std::size_t> numbers_;
};

// An expression without blanks.
std::string WithoutBlanks(const std::string& text) {
  std::string tokens;
  for (const Token& token : source::Lex(text)) tokens += std::string(Spelling(text, token)) + " ";
  return tokens;
}

Json Normalised(Json json) {
  if (json.is_string()) return WithoutBlanks(json.get_ref<const std::string&>());
  if (!json.is_structured()) return json;
  for (Json& part : json) part = Normalised(std::move(part));
  return json;
}

}  // namespace

std::string NormalizedSource(std::string_view source) { return Normaliser(source).Text(); }

std::string NoveltyKey(const records::Variant& variant) {
  Normaliser normaliser(variant.source);
  const std::string text = normaliser.Text();
  records::Variant named = variant;
  for (records::Launch& launch : named.launches) launch.entry = normaliser.NumberOf(launch.entry);
  named.entry = normaliser.NumberOf(variant.entry);
  std::sort(named.includes.begin(), named.includes.end());
  const Json whole = records::ToJson(named);
  Json plan = Json::object();
  for (const char* key : {"entry", "launches", "workspace", "guard", "tunables", "require",
                          "includes", "template_arguments"}) {
    if (whole.contains(key)) plan[key] = Normalised(whole[key]);
  }
  return base::Hasher().Add(variant.kernel).Add(text).Add(records::CanonicalJson(plan)).Hex();
}

}  // namespace cupilot::agents
