#include "source/twin_text.h"

#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "source/syntax/lexer.h"
#include "source/syntax/query.h"
#include "source/twin_names.h"
#include "source/twin_small.h"

namespace cupilot::source {
namespace {

bool IsFloatLiteral(std::string_view text) {
  if (!text.ends_with('f') && !text.ends_with('F')) return false;
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view marks = hexadecimal ? std::string_view("pP") : std::string_view(".eE");
  return text.find_first_of(marks) != std::string_view::npos;
}

bool IsDoubleLiteral(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view marks = hexadecimal ? std::string_view("pP") : std::string_view(".eE");
  const bool floating = text.find_first_of(marks) != std::string_view::npos;
  return floating && text.find_first_of(hexadecimal ? "lL" : "fFlL") == std::string_view::npos;
}

class Widener {
 public:
  Widener(const Tree& tree, bool doubles)
      : doubles_(doubles), text_(tree.text), tokens_(Lex(tree.text)) {
    for (const Node& node : tree.nodes) {
      if ((node.flags & kSystem) != 0) continue;
      half_ = half_ || MentionsFormat(node.canonical, Format::kHalf);
      bfloat16_ = bfloat16_ || MentionsFormat(node.canonical, Format::kBfloat16);
      if (node.kind == Kind::kFunction) functions_.insert(node.name);
      const bool names = node.kind == Kind::kVariable || node.kind == Kind::kParameter ||
                         node.kind == Kind::kField || node.kind == Kind::kRecord ||
                         node.kind == Kind::kAlias || node.kind == Kind::kEnumerator ||
                         node.kind == Kind::kTemplateParameter;
      if (names) others_.insert(node.name);
    }
  }

  WideText Text() {
    std::uint32_t copied = 0;
    WideText wide;
    std::string& out = wide.text;
    std::size_t helpers_in_out = 0;  // behind the last #include
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (token.kind == TokenKind::kDirective) {
        if (!HasPart(Spelling(text_, token), "include")) continue;
        out.append(text_, copied, token.end - copied);
        copied = token.end;
        helpers_in_out = out.size();
        continue;
      }
      const std::string replacement = Replacement(i);
      if (replacement.empty()) continue;
      const std::uint32_t begin = BeginWithoutStd(i, replacement);
      out.append(text_, copied, begin - copied);
      out += replacement;
      copied = token.end;
    }
    out.append(text_, copied, std::string::npos);
    const std::string own = (helpers_in_out == 0 ? "" : "\n") + Helpers();
    out.insert(helpers_in_out, own);
    wide.own_begin = helpers_in_out;
    wide.own_end = helpers_in_out + own.size();
    return wide;
  }

 private:
  std::string Helpers() const {
    std::string helpers = doubles_ ? LongDefinitions() : "";
    helpers += SmallDefinitions(half_, bfloat16_);
    for (const auto& [name, definition] : helpers_) helpers += definition;
    return helpers;
  }

  std::string_view Word(std::size_t index) const {
    return index < tokens_.size() ? Spelling(text_, tokens_[index]) : std::string_view();
  }

  bool AfterMember(std::size_t i) const {
    return i > 0 && (Word(i - 1) == "." || Word(i - 1) == "->");
  }

  // "std::expf" becomes the helper alone, which is in no namespace.
  std::uint32_t BeginWithoutStd(std::size_t i, const std::string& replacement) const {
    const bool qualified = i >= 2 && Word(i - 1) == "::" && Word(i - 2) == "std";
    if (!qualified || !replacement.starts_with("cupilot_twin_")) return tokens_[i].begin;
    return tokens_[i - 2].begin;
  }

  std::string Replacement(std::size_t i) {
    const std::string_view word = Word(i);
    // A constant keeps the value that it has in its own type.
    if (tokens_[i].kind == TokenKind::kNumber) {
      if (IsFloatLiteral(word)) return "((double)" + std::string(word) + ")";
      if (doubles_ && IsDoubleLiteral(word)) {
        return "((cupilot_twin_long)" + std::string(word) + ")";
      }
      return {};
    }
    if (tokens_[i].kind != TokenKind::kIdentifier || AfterMember(i)) return {};
    // Limits of a type are values that the program means: they convert exactly.
    if (i >= 2 && Word(i - 1) == "<" && Word(i - 2) == "numeric_limits") return {};
    const std::string name(word);
    if (std::string type = Type(name); !type.empty()) return type;
    if (functions_.contains(name)) return {};
    return Function(name, Word(i + 1) == "(");
  }

  // "half" may be the name of something that is no type.
  std::string Type(const std::string& word) const {
    const bool small = !SmallType(word).empty();
    if (small && ((!half_ && !bfloat16_) || others_.contains(word) || functions_.contains(word))) {
      return {};
    }
    return WideType(word, doubles_);
  }

  std::string Function(const std::string& word, bool called) {
    if (half_ || bfloat16_) {
      const std::string small = SmallFunction(word);
      if (!small.empty() && (called || word.starts_with("__"))) return small;
    }
    // Without an f behind it, a name is a function's only where it is called.
    if (!called && !word.starts_with("__") && !word.ends_with('f')) return {};
    const WideFunction function = WideFunctionOf(word, doubles_);
    if (function.name.empty()) return {};
    helpers_[function.name] = function.definition;
    return function.name;
  }

  const bool doubles_;
  const std::string& text_;
  std::vector<Token> tokens_;
  bool half_ = false, bfloat16_ = false;
  std::set<std::string> functions_, others_;  // declared by user text
  std::map<std::string, std::string> helpers_;
};

bool GivesExactValue(std::string_view name) {
  for (const std::string_view known : {"__int_as_float",
                                       "__uint_as_float",
                                       "max",
                                       "min",
                                       "lowest",
                                       "infinity",
                                       "quiet_NaN",
                                       "signaling_NaN",
                                       "__builtin_inff",
                                       "__builtin_huge_valf",
                                       "__builtin_nanf",
                                       "__longlong_as_double",
                                       "__hiloint2double",
                                       "__builtin_huge_val",
                                       "__builtin_inf",
                                       "__builtin_nan",
                                       "__ushort_as_half",
                                       "__short_as_half",
                                       "__ushort_as_bfloat16",
                                       "__short_as_bfloat16"}) {
    if (name == known) return true;
  }
  return false;
}

class Remainder {
 public:
  Remainder(const Tree& tree, const WideText& twin, bool doubles)
      : tree_(tree), twin_(twin), doubles_(doubles) {}

  std::string Find() const {
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      const Node& node = tree_.at(id);
      if ((node.flags & kSystem) != 0) continue;
      if (node.begin >= twin_.own_begin && node.begin < twin_.own_end) continue;
      if (node.kind == Kind::kCall && IsLeft(id, node)) return std::string(tree_.TextOf(id));
      const bool declared = node.kind == Kind::kVariable || node.kind == Kind::kParameter ||
                            node.kind == Kind::kField || node.kind == Kind::kCast;
      if (declared && MentionsWidened(node.canonical, false)) return std::string(tree_.TextOf(id));
    }
    return {};
  }

 private:
  bool IsLeft(NodeId id, const Node& call) const {
    if (MentionsWidened(call.canonical, false)) return !GivesExactValue(call.name);
    if (!doubles_ || !MentionsFormat(call.canonical, Format::kDouble)) return false;
    // Where the twin of double goes into a function of a header and double comes out.
    const NodeId callee = SkipParens(tree_, Callee(tree_, id));
    if (callee == kNone || !Has(tree_, tree_.at(callee).declaration, kSystem)) return false;
    for (const NodeId argument : Arguments(tree_, id)) {
      if (tree_.at(SkipParens(tree_, argument)).canonical == "long double") {
        return !GivesExactValue(call.name);
      }
    }
    return false;
  }

  const Tree& tree_;
  const WideText& twin_;
  const bool doubles_;
};

}  // namespace

WideText Widen(const Tree& original, bool doubles) { return Widener(original, doubles).Text(); }

std::string NotWidened(const Tree& tree, const WideText& twin, bool doubles) {
  return Remainder(tree, twin, doubles).Find();
}

}  // namespace cupilot::source
