#include "source/promises.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "source/syntax/lexer.h"

namespace cupilot::source {
namespace {

constexpr std::string_view kAligned = "__builtin_assume_aligned";
constexpr std::array<std::string_view, 12> kPromises = {"__builtin_assume",
                                                        "__builtin__assume",
                                                        "__assume",
                                                        "__builtin_assume_separate_storage",
                                                        "__builtin_assume_dereferenceable",
                                                        "__builtin_unreachable",
                                                        "__builtin_nonnull",
                                                        "unreachable",
                                                        "assume",
                                                        "assume_aligned",
                                                        "assume_separate_storage",
                                                        kAligned};

bool IsPromise(std::string_view word) {
  return std::find(kPromises.begin(), kPromises.end(), word) != kPromises.end();
}
bool IsUnreachable(std::string_view word) { return word.ends_with("unreachable"); }

struct Text {
  explicit Text(std::string_view source) : all(source), tokens(Lex(source)) {}
  std::string_view all;
  std::vector<Token> tokens;

  std::string_view Word(std::size_t i) const {
    return i < tokens.size() ? Spelling(all, tokens[i]) : std::string_view();
  }
  bool IsName(std::size_t i) const {
    return i < tokens.size() && tokens[i].kind == TokenKind::kIdentifier;
  }
  // Index of the token that closes tokens[i].
  std::size_t Close(std::size_t i) const { return MatchingToken(all, tokens, i); }
  // The words of tokens [begin, end), each with a blank before it, which makes them comparable.
  std::string Words(std::size_t begin, std::size_t end) const {
    std::string words;
    for (std::size_t i = begin; i < std::min(end, tokens.size()); ++i) {
      words += ' ' + std::string(Word(i));
    }
    return words;
  }
};

// A function of the outermost level; `name` to `close` are indices of tokens.
struct Function {
  std::string_view name;
  bool entry = false;
  std::vector<std::string_view> parameters;
  std::size_t open = 0, close = 0;  // of the body
};

std::vector<std::string_view> ParametersOf(const Text& text, std::size_t open, std::size_t close) {
  std::vector<std::string_view> names;
  int depth = 0;
  for (std::size_t i = open + 1; i <= close; ++i) {
    const std::string_view word = text.Word(i);
    if (depth == 0 && (word == "," || i == close)) {
      names.push_back(text.IsName(i - 1) ? text.Word(i - 1) : std::string_view());
    }
    if (word == "(" || word == "<" || word == "[") ++depth;
    if (word == ")" || word == ">" || word == "]") --depth;
  }
  return names;
}

std::vector<Function> FunctionsOf(const Text& text) {
  std::vector<Function> functions;
  std::size_t parameters = 0;
  bool entry = false;
  for (std::size_t i = 0; i < text.tokens.size(); ++i) {
    const std::string_view word = text.Word(i);
    if (word == "__global__") entry = true;
    if (word == ";") entry = false;
    if (word == "(") {
      if (text.IsName(i - 1) && i > 0) parameters = i;
      i = text.Close(i);
    } else if (word == "{") {
      Function function;
      function.open = i;
      function.close = text.Close(i);
      function.entry = std::exchange(entry, false);
      if (parameters > 0) {
        function.name = text.Word(parameters - 1);
        function.parameters = ParametersOf(text, parameters, text.Close(parameters));
      }
      i = function.close;
      functions.push_back(std::move(function));
    }
  }
  return functions;
}

// Whether nothing but this assumption changes the variable in the body.
bool IsNeverChanged(const Text& text, const Function& function, std::string_view name) {
  for (std::size_t i = function.open; i < function.close; ++i) {
    if (text.Word(i) != name) continue;
    const std::string_view before = text.Word(i - 1), after = text.Word(i + 1);
    if (before == "++" || before == "--" || before == "&" || after == "++" || after == "--") {
      return false;
    }
    const bool compares = after == "==" || after == "<=" || after == "!=" || after == ">";
    if (compares || !after.ends_with("=")) continue;
    // p = (const float*)__builtin_assume_aligned(p, 16)
    std::size_t value = i + 2;
    if (text.Word(value) == "(") value = text.Close(value) + 1;
    const bool itself = after == "=" && text.Word(value) == kAligned &&
                        text.Word(value + 1) == "(" && text.Word(value + 2) == name &&
                        text.Word(text.Close(value + 1) + 1) == ";";
    if (!itself) return false;
  }
  return true;
}

std::optional<std::int64_t> NumberOf(std::string_view word) {
  if (word.empty() || word.size() > 9) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : word) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

class Guarded {
 public:
  Guarded(const records::Kernel& kernel, const records::Variant& variant, const Text& text,
          const Function& function)
      : kernel_(kernel),
        variant_(variant),
        text_(text),
        function_(function),
        guard_(variant.guard) {
    AddTerms(0, guard_.tokens.size());
  }

  // tokens[call] is the promise's name.
  bool States(std::size_t call) const {
    if (!function_.entry || text_.Word(call + 1) != "(") return false;
    const std::size_t close = text_.Close(call + 1);
    const std::string_view word = text_.Word(call);
    if (word == kAligned) return call + 5 == close && StatesAlignment(call + 2);
    return word == "__builtin_assume" && StatesCondition(call + 2, close);
  }

 private:
  using Term = std::pair<std::size_t, std::size_t>;

  // What must hold together, without the parentheses around it.
  void AddTerms(std::size_t begin, std::size_t end) {
    if (begin < end && guard_.Word(begin) == "(" && guard_.Close(begin) + 1 == end) {
      return AddTerms(begin + 1, end - 1);
    }
    std::vector<Term> parts;
    std::size_t from = begin;
    for (std::size_t i = begin; i < end; ++i) {
      const std::string_view word = guard_.Word(i);
      if (word == "(") i = guard_.Close(i);
      if (word == "||" || word == "?") {
        terms_.emplace_back(begin, end);
        return;
      }
      if (word != "&&") continue;
      parts.emplace_back(from, i);
      from = i + 1;
    }
    if (parts.empty()) {
      terms_.emplace_back(begin, end);
      return;
    }
    parts.emplace_back(from, end);
    for (const Term& part : parts) AddTerms(part.first, part.second);
  }

  // The kernel's parameter that is all launches' argument for this parameter of the entry.
  const records::Parameter* SourceOf(std::string_view name) const {
    const auto at = std::find(function_.parameters.begin(), function_.parameters.end(), name);
    if (name.empty() || at == function_.parameters.end()) return nullptr;
    const auto index = static_cast<std::size_t>(at - function_.parameters.begin());
    const records::Parameter* source = nullptr;
    for (const records::Launch& launch : records::LaunchesOf(variant_)) {
      if (launch.entry != function_.name) continue;
      const records::Parameter* here = nullptr;
      for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
        const bool given = launch.arguments.empty()
                               ? i == index
                               : index < launch.arguments.size() &&
                                     launch.arguments[index].is_string() &&
                                     launch.arguments[index].get_ref<const std::string&>() ==
                                         kernel_.parameters[i].name;
        if (given) here = &kernel_.parameters[i];
      }
      if (here == nullptr || here->name != name || (source != nullptr && source != here)) {
        return nullptr;
      }
      source = here;
    }
    return source != nullptr && IsNeverChanged(text_, function_, name) ? source : nullptr;
  }

  bool StatesAlignment(std::size_t first) const {
    const std::string_view name = text_.Word(first);
    const auto asked = NumberOf(text_.Word(first + 2));
    if (!asked || *asked == 0 || SourceOf(name) == nullptr) return false;
    return std::any_of(terms_.begin(), terms_.end(), [&](const Term& term) {
      const std::size_t at = term.first;
      const bool aligned =
          term.second == at + 6 && guard_.Word(at) == "aligned" && guard_.Word(at + 2) == name;
      const auto stated = NumberOf(guard_.Word(at + 4));
      return aligned && stated && *stated % *asked == 0;
    });
  }

  // What is the same of 64 bits and of the parameters' own types.
  bool StatesCondition(std::size_t begin, std::size_t end) const {
    static constexpr std::array<std::string_view, 11> kExact = {"%",  "==", "!=", "<", "<=", ">",
                                                                ">=", "=",  "&&", "(", ")"};
    for (std::size_t i = begin; i < end; ++i) {
      const std::string_view word = text_.Word(i);
      if (text_.IsName(i)) {
        const records::Parameter* source = SourceOf(word);
        if (source == nullptr || source->kind != records::ParameterKind::kInteger ||
            !source->is_signed) {
          return false;
        }
      } else if (!NumberOf(word) && std::find(kExact.begin(), kExact.end(), word) == kExact.end()) {
        return false;
      }
    }
    const std::string words = text_.Words(begin, end);
    return std::any_of(terms_.begin(), terms_.end(), [&](const Term& term) {
      return guard_.Words(term.first, term.second) == words;
    });
  }

  const records::Kernel& kernel_;
  const records::Variant& variant_;
  const Text& text_;
  const Function& function_;
  const Text guard_;
  std::vector<Term> terms_;
};

// "#define NAME body" lines: the names that lead to a promise, whatever stands between.
std::set<std::string_view> PromisingMacros(const std::string& definitions) {
  std::map<std::string_view, std::set<std::string_view>> uses;
  for (std::size_t at = 0; at < definitions.size();) {
    const std::size_t end = std::min(definitions.find('\n', at), definitions.size());
    const std::string_view line = std::string_view(definitions).substr(at, end - at);
    at = end + 1;
    constexpr std::string_view kDefine = "#define ";
    if (!line.starts_with(kDefine)) continue;
    const Text text(line.substr(kDefine.size()));
    for (std::size_t i = 1; i < text.tokens.size(); ++i) {
      if (text.IsName(i)) uses[text.Word(0)].insert(text.Word(i));
    }
  }
  std::set<std::string_view> found;
  for (bool more = true; more;) {
    more = false;
    for (const auto& [name, words] : uses) {
      const bool promises = std::any_of(words.begin(), words.end(), [&](std::string_view word) {
        return IsPromise(word) || found.contains(word);
      });
      more = (promises && found.insert(name).second) || more;
    }
  }
  return found;
}

}  // namespace

std::string ForbiddenPromise(const records::Kernel& kernel, const records::Variant& variant) {
  const Text text(variant.source);
  const std::set<std::string_view> macros = PromisingMacros(kernel.closure_macros);
  const std::vector<Function> functions = FunctionsOf(text);
  std::string original;  // once it is needed
  for (std::size_t i = 0; i < text.tokens.size(); ++i) {
    const std::string_view word = text.Word(i);
    const bool promise = IsPromise(word);
    if (!text.IsName(i) || (!promise && !macros.contains(word))) continue;
    if (promise) {
      if (original.empty()) {
        const Text closure(kernel.closure_source);
        original = closure.Words(0, closure.tokens.size()) + ' ';
      }
      const auto around = std::find_if(functions.begin(), functions.end(), [&](const Function& f) {
        return f.open < i && i < f.close;
      });
      const bool inside = around != functions.end();
      const bool call = inside && text.Word(i + 1) == "(";
      if (!call && !word.starts_with("__")) continue;  // a name of one's own
      const std::string same = !call                 ? std::string()
                               : IsUnreachable(word) ? text.Words(around->open, around->close + 1)
                                                     : text.Words(i, text.Close(i + 1) + 1);
      if (call && original.find(same + ' ') != std::string::npos) continue;
      if (call && Guarded(kernel, variant, text, *around).States(i)) continue;
    }
    const auto line =
        std::count(variant.source.begin(), variant.source.begin() + text.tokens[i].begin, '\n') + 1;
    return "line " + std::to_string(line) + " of the variant: '" + std::string(word) +
           "' promises the compiler what the guard does not state; state it there, or leave it out";
  }
  return {};
}

std::string PromiseOfMacro(std::string_view source, std::string_view expanded) {
  const Text written(source), seen(expanded);
  for (const std::string_view promise : kPromises) {
    const auto count = [&](const Text& text) {
      return std::count_if(text.tokens.begin(), text.tokens.end(), [&](const Token& token) {
        return token.kind == TokenKind::kIdentifier && Spelling(text.all, token) == promise;
      });
    };
    if (count(seen) > count(written)) {
      return "a macro of the variant promises the compiler what the guard does not state: '" +
             std::string(promise) + "'";
    }
  }
  return {};
}

}  // namespace cupilot::source
