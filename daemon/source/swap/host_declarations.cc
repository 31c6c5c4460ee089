#include "source/swap/host_declarations.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "source/swap/variant_text.h"
#include "source/syntax/lexer.h"

namespace cupilot::source {
namespace {

using WordList = std::vector<std::string>;

constexpr std::array<std::string_view, 14> kBuiltIn = {
    "void",     "bool",  "char",   "short",   "int",      "long",     "signed",
    "unsigned", "float", "double", "wchar_t", "char16_t", "char32_t", "__int128"};
// Words of the language that begin or end what is no plain type.
constexpr std::array<std::string_view, 36> kNoTypes = {
    "alignas", "alignof",   "auto",     "constexpr", "decltype",   "default",
    "delete",  "extern",    "false",    "friend",    "if",         "inline",
    "mutable", "namespace", "new",      "noexcept",  "nullptr",    "operator",
    "private", "protected", "public",   "return",    "requires",   "concept",
    "sizeof",  "static",    "template", "this",      "throw",      "true",
    "typedef", "typeid",    "typename", "typeof",    "__typeof__", "using"};
// Take arguments and say nothing of the type.
constexpr std::array<std::string_view, 7> kWithArguments = {
    "__attribute__",  "__launch_bounds__", "__cluster_dims__", "__maxnreg__",
    "__block_size__", "__align__",         "alignas"};

template <std::size_t N>
bool IsIn(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool IsRestrict(const std::string& word) {
  return word == "__restrict__" || word == "__restrict" || word == "__restrict_arr";
}

// A type in our own words: "const float *".
struct WrittenType {
  std::string text;
  std::string named;  // the first identifier of a type that is not built in
};

// Reads the words of one parameter or alias.
class TypeReader {
 public:
  TypeReader(const WordList& words, std::size_t at, std::size_t end)
      : words_(words), at_(at), end_(end) {}

  std::optional<WrittenType> Read() {
    WrittenType type;
    if (!Specifier(type)) return std::nullopt;
    while (at_ < end_) {
      const std::string& word = words_[at_];
      if (word == "*") {
        type.text += " *";
      } else if (word == "const" || word == "volatile") {
        type.text += " " + word;
      } else if (!IsRestrict(word)) {
        break;
      }
      ++at_;
    }
    return type;
  }
  std::size_t at() const { return at_; }

 private:
  bool Specifier(WrittenType& type) {
    bool built_in = false;
    for (; at_ < end_; ++at_) {
      const std::string& word = words_[at_];
      if (word == "const" || word == "volatile") {
        Add(type, word);
      } else if (IsIn(kBuiltIn, word) && type.named.empty()) {
        Add(type, word);
        built_in = true;
      } else if (word == "__grid_constant__" || word == "struct" || word == "class" ||
                 word == "enum" || word == "union") {
        continue;
      } else if ((IsIdentifier(word) || word == "::") && !built_in && type.named.empty()) {
        if (!Name(type)) return false;
        --at_;
      } else {
        break;
      }
    }
    return built_in || !type.named.empty();
  }

  // "image::Pixel<float, 4>"
  bool Name(WrittenType& type) {
    std::string name;
    if (words_[at_] == "::") {
      name = "::";
      ++at_;
    }
    while (at_ < end_ && IsIdentifier(words_[at_]) && !IsIn(kNoTypes, words_[at_])) {
      if (type.named.empty()) type.named = words_[at_];
      name += words_[at_++];
      if (at_ < end_ && words_[at_] == "<") {
        if (!Arguments(name)) return false;
      }
      if (at_ >= end_ || words_[at_] != "::") break;
      name += words_[at_++];
    }
    if (type.named.empty() || name.ends_with("::")) return false;
    Add(type, name);
    return true;
  }

  // Types and whole numbers alone: anything else could be an expression.
  bool Arguments(std::string& name) {
    ++at_;
    name += "<";
    while (at_ < end_ && words_[at_] != ">") {
      const std::string& word = words_[at_];
      const bool number =
          std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
      if (number) {
        name += word;
        ++at_;
      } else {
        TypeReader inner(words_, at_, end_);
        const std::optional<WrittenType> type = inner.Read();
        if (!type) return false;
        name += type->text;
        at_ = inner.at();
      }
      if (at_ < end_ && words_[at_] == ",") {
        name += ", ";
        ++at_;
      } else if (at_ >= end_ || words_[at_] != ">") {
        return false;
      }
    }
    if (at_ >= end_) return false;
    ++at_;
    name += " >";
    return true;
  }

  static void Add(WrittenType& type, const std::string& word) {
    type.text += (type.text.empty() ? "" : " ") + word;
  }

  const WordList& words_;
  std::size_t at_;
  std::size_t end_;
};

// The place behind the bracket that closes words[open]; the number of words if none does.
std::size_t Behind(const WordList& words, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "(" || word == "[" || word == "{") ++depth;
    if (word == ")" || word == "]" || word == "}") --depth;
    if (depth == 0) return i + 1;
  }
  return words.size();
}

bool IsTypeWord(const std::string& word) {
  return word == "struct" || word == "class" || word == "union" || word == "enum";
}

// Declarations of namespace scope, each a list of words up to its semicolon or body.
std::vector<WordList> Declarations(const std::string& source) {
  std::vector<WordList> all;
  WordList words;
  for (const Token& token : Lex(source)) {
    if (token.kind != TokenKind::kDirective) words.emplace_back(Spelling(source, token));
  }
  WordList one;
  bool parameters = false, value = false;
  for (std::size_t at = 0; at < words.size();) {
    const std::string& word = words[at];
    const bool bracket = word == "(" || word == "[" || word == "{";
    const std::size_t end = bracket ? Behind(words, at) : at + 1;
    parameters = parameters || word == "(";
    value = value || word == "=";
    // A body ends a function; the braces of a type or an initialiser are followed by more.
    const bool body = word == "{" && parameters && !value && !one.empty() && !IsTypeWord(one[0]);
    if (word != ";") {
      one.insert(one.end(), words.begin() + static_cast<std::ptrdiff_t>(at),
                 words.begin() + static_cast<std::ptrdiff_t>(end));
    }
    if (word == ";" || body) {
      if (!one.empty()) all.push_back(std::exchange(one, {}));
      parameters = value = false;
    }
    at = end;
  }
  if (!one.empty()) all.push_back(one);
  return all;
}

base::Error CannotWrite(const std::string& what) {
  return base::Unsupported(what +
                           ": the host code of a swapped source cannot declare it; use built-in "
                           "types, names of types, and pointers to them");
}

class DeclarationWriter {
 public:
  explicit DeclarationWriter(const records::Variant& variant) : variant_(variant) {}

  base::Result<std::string> Run() {
    const std::vector<WordList> declarations = Declarations(variant_.source);
    for (const WordList& words : declarations) NoteType(words);
    for (const WordList& words : declarations) {
      if (words[0] == "template") continue;  // nothing can launch it
      // Another name of a namespace that is there.
      if (words[0] == "namespace" && words.size() > 3 && words[2] == "=") continue;
      if (words[0] == "namespace" || words[0] == "extern") {
        return base::Fail(CannotWrite("'" + words[0] + "' in its source"));
      }
      if (Holds(words, "__global__")) {
        TRY(AddKernel(words));
      } else if (Holds(words, "__constant__") || Holds(words, "__device__")) {
        AddVariables(words);
      }
    }
    std::string text;
    for (const std::string& type : types_) text += type;
    return text + variables_ + kernels_;
  }

 private:
  static bool Holds(const WordList& words, const std::string& wanted) {
    return std::find(words.begin(), words.end(), wanted) != words.end();
  }

  // "struct Pair {...}", "enum class Mode : int {...}", "using wide = float4",
  // "typedef float4 wide".
  void NoteType(const WordList& words) {
    if (words.size() < 2) return;
    if (IsTypeWord(words[0])) {
      for (std::size_t at = 1; at < words.size(); ++at) {
        if (words[at] == "struct" || words[at] == "class") continue;
        if (IsIn(kWithArguments, words[at]) && at + 1 < words.size()) {
          at = Behind(words, at + 1) - 1;
          continue;
        }
        if (IsIdentifier(words[at])) own_types_[words[at]] = std::nullopt;
        return;
      }
    } else if (words[0] == "using" && words.size() > 3 && words[2] == "=") {
      NoteAlias(words, words[1], 3, words.size());
    } else if (words[0] == "typedef" && words.size() > 2 && IsIdentifier(words.back())) {
      NoteAlias(words, words.back(), 1, words.size() - 1);
    }
  }

  void NoteAlias(const WordList& words, const std::string& name, std::size_t begin,
                 std::size_t end) {
    if (!IsIdentifier(name)) return;
    TypeReader reader(words, begin, end);
    std::optional<WrittenType> type = reader.Read();
    if (reader.at() != end) type.reset();
    own_types_[name] = std::move(type);
  }

  base::Result<> AddKernel(const WordList& words) {
    for (std::size_t at = 0; at + 1 < words.size(); ++at) {
      at = BehindAttributes(words, at, words.size());
      if (at + 1 >= words.size()) break;
      if (words[at + 1] != "(" || !IsIdentifier(words[at])) continue;
      const std::size_t end = Behind(words, at + 1);
      if (IsIn(kWithArguments, words[at])) {
        at = end - 1;
        continue;
      }
      const bool is_static =
          std::find(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at), "static") !=
          words.begin() + static_cast<std::ptrdiff_t>(at);
      TRY_ASSIGN(const std::string parameters, Parameters(words, words[at], at + 2, end - 1));
      const std::string line = std::string(is_static ? "static " : "") + "__global__ void " +
                               words[at] + "(" + parameters + ") CUPILOT_SWAP_BODY\n";
      if (kernels_.find(line) == std::string::npos) kernels_ += line;
      return {};
    }
    return base::Fail(CannotWrite("a kernel without a parameter list"));
  }

  base::Result<std::string> Parameters(const WordList& words, const std::string& entry,
                                       std::size_t begin, std::size_t end) {
    std::string text;
    int index = 0;
    if (end == begin + 1 && words[begin] == "void") return text;
    for (std::size_t at = begin; at < end; ++at, ++index) {
      TypeReader reader(words, BehindAttributes(words, at, end), end);
      std::optional<WrittenType> type = reader.Read();
      at = reader.at();
      // "(out)[256]"
      const bool bracketed = type && at + 2 < end && words[at] == "(" &&
                             IsIdentifier(words[at + 1]) && words[at + 2] == ")";
      if (bracketed) at += 3;
      if (type && at < end && IsIdentifier(words[at]) && !IsIn(kNoTypes, words[at])) ++at;
      at = BehindAttributes(words, at, end);
      if (type && at < end && words[at] == "[") {
        type->text += " *";
        at = Behind(words, at);
      }
      if (type && at < end && words[at] == "=") at = BehindDefault(words, at, end);
      if (!type || (at < end && words[at] != ",")) {
        return base::Fail(
            CannotWrite("parameter " + std::to_string(index + 1) + " of its kernel " + entry));
      }
      DeclareType(*type);
      text += (text.empty() ? "" : ", ") + type->text;
    }
    return text;
  }

  // "[[maybe_unused]]" says nothing of the type.
  static std::size_t BehindAttributes(const WordList& words, std::size_t at, std::size_t end) {
    while (at + 1 < end && words[at] == "[" && words[at + 1] == "[") at = Behind(words, at);
    return at;
  }

  static std::size_t BehindDefault(const WordList& words, std::size_t at, std::size_t end) {
    while (at < end && words[at] != ",") {
      const bool bracket = words[at] == "(" || words[at] == "[" || words[at] == "{";
      at = bracket ? Behind(words, at) : at + 1;
    }
    return at;
  }

  // A type of the variant's own, once, before what names it. How large it is does not matter: the
  // launcher functions are never called, the hook launches by handles and addresses of arguments.
  void DeclareType(const WrittenType& type) {
    const auto own = own_types_.find(type.named);
    if (own == own_types_.end() || !declared_.insert(type.named).second) return;
    if (own->second) DeclareType(*own->second);
    types_.push_back(own->second ? "typedef " + own->second->text + " " + type.named + ";\n"
                                 : "struct " + type.named + " { char byte; };\n");
  }

  // "__constant__ float a[4] = {...}, b": by name; how large it is, the device pass says.
  void AddVariables(const WordList& words) {
    const std::string space = Holds(words, "__constant__") ? "__constant__" : "__device__";
    std::string name;
    bool named = false;  // the rest of this declarator is read over
    std::string text;
    for (std::size_t at = 0; at <= words.size(); ++at) {
      const std::string word = at < words.size() ? words[at] : ",";
      if (IsIn(kWithArguments, word) && at + 1 < words.size() && words[at + 1] == "(") {
        at = Behind(words, at + 1) - 1;
        continue;
      }
      if (word == "(" && !named) return;  // a function
      if ((word == "=" || word == "[" || word == "{" || word == ",") && !named && !name.empty()) {
        text += space + " char " + name + "[1];\n";
        named = true;
      }
      if (word == ",") named = false;
      if (word == "(" || word == "[" || word == "{") at = Behind(words, at) - 1;
      if (word == "<" && !named) {  // template arguments of its type
        while (at < words.size() && words[at] != ">") ++at;
        continue;
      }
      name = IsIdentifier(word) ? word : "";
    }
    variables_ += text;
  }

  const records::Variant& variant_;
  std::map<std::string, std::optional<WrittenType>>
      own_types_;  // nothing: what it is, we cannot say
  std::set<std::string> declared_;
  std::vector<std::string> types_;
  std::string variables_;
  std::string kernels_;
};

}  // namespace

base::Result<std::string> HostDeclarations(const records::Kernel& kernel,
                                           const records::Variant& variant,
                                           const std::string& unit) {
  TRY_ASSIGN(const std::string declarations, DeclarationWriter(variant).Run());
  return InVariantNamespace(kernel, variant, unit, declarations, true);
}

}  // namespace cupilot::source
