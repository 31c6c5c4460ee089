#include "source/swap/pieces.h"

#include <algorithm>
#include <unordered_set>

#include "source/swap/piece_words.h"

namespace cupilot::source {
namespace {

using Words = std::unordered_set<std::string_view>;

bool InLibrary(std::string_view name) {
  static const Words kLibraries = {"std", "cuda", "thrust", "cub", "nvcuda", "cooperative_groups"};
  return kLibraries.count(name) > 0;
}

bool IsAllCapitals(std::string_view word) {
  return std::any_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; }) &&
         std::none_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

bool MayOpenScope(std::string_view word) {
  if (!IsAllCapitals(word)) return false;
  return word.find("NAMESPACE") != std::string_view::npos ||
         word.find("BEGIN") != std::string_view::npos || word.ends_with("END");
}

constexpr std::size_t kNotFound = static_cast<std::size_t>(-1);

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) { out_.scopes.emplace_back(); }

  Pieces Run() {
    out_.tokens = Lex(text_);
    bool readable = !HasTrigraphs() && !HasDigraphs() && !HasOddSplices();
    while (readable && at_ < out_.tokens.size()) readable = Next();
    out_.readable = readable && open_.empty() && conditions_.empty();
    if (!out_.readable) out_.pieces.clear();
    return std::move(out_);
  }

 private:
  // A token of namespace scope in a declaration, or a bracket with all up to its end.
  struct Flat {
    std::size_t token = 0;
    std::size_t match = 0;
  };
  struct Found {  // in the declaration that is being walked
    bool class_key = false, members_show = false, function = false, equals = false;
    bool in_initialisers = false, operator_word = false, specialisation = false;
  };
  struct Condition {
    std::size_t depth = 0;
    bool always = false;  // #ifdef __cplusplus
  };

  std::string_view Word(std::size_t i) const {
    return i < out_.tokens.size() ? Spelling(text_, out_.tokens[i]) : std::string_view();
  }
  bool Is(std::size_t i, std::string_view word) const { return Word(i) == word; }
  bool IsName(std::size_t i) const {
    return i < out_.tokens.size() && out_.tokens[i].kind == TokenKind::kIdentifier;
  }
  char Punctuator(std::size_t i) const {
    const bool single = i < out_.tokens.size() && out_.tokens[i].kind == TokenKind::kPunctuator &&
                        out_.tokens[i].end == out_.tokens[i].begin + 1;
    return single ? text_[out_.tokens[i].begin] : '\0';
  }
  std::size_t Depth() const { return open_.size() + brackets_.size(); }

  bool HasTrigraphs() const {
    for (std::size_t at = text_.find("??"); at != std::string_view::npos;
         at = text_.find("??", at + 1)) {
      if (at + 2 < text_.size() &&
          std::string_view("=/'()!<>-").find(text_[at + 2]) != std::string_view::npos) {
        return true;
      }
    }
    return false;
  }

  bool HasDigraphs() const {
    for (std::size_t i = 0; i + 1 < out_.tokens.size(); ++i) {
      const char c = Punctuator(i);
      if ((c != '<' && c != '%') || out_.tokens[i].end != out_.tokens[i + 1].begin) continue;
      const char next = Punctuator(i + 1);
      if (next == ':' || (c == '<' && next == '%') || (c == '%' && next == '>')) return true;
    }
    return false;
  }

  // A line that goes on after a backslash, but in comments, strings and directives as this lexer
  // reads them.
  bool HasOddSplices() const {
    for (std::size_t at = text_.find('\\'); at != std::string_view::npos;
         at = text_.find('\\', at + 1)) {
      std::size_t end = text_.find_first_not_of(" \t\v\f\r", at + 1);
      if (end == std::string_view::npos || text_[end] != '\n') continue;
      const std::string_view between = text_.substr(at + 1, end - at - 1);
      if (!between.empty() && between != "\r") return true;
      const auto after = std::upper_bound(
          out_.tokens.begin(), out_.tokens.end(), at,
          [](std::size_t value, const Token& token) { return value < token.begin; });
      const std::size_t last_end = after == out_.tokens.begin() ? 0 : (after - 1)->end;
      if (at < last_end) {
        if (!between.empty() && (after - 1)->kind != TokenKind::kDirective) return true;
      } else if (!InComment(last_end, at)) {
        return true;
      }
    }
    return false;
  }

  bool InComment(std::size_t begin, std::size_t at) const {
    for (std::size_t i = begin; i < at;) {
      const std::string_view two = text_.substr(i, 2);
      if (two == "//") {
        while (i < text_.size() && text_[i] != '\n') i += text_[i] == '\\' ? 2 : 1;
        if (i > at) return true;
      } else if (two == "/*") {
        const std::size_t close = text_.find("*/", i + 2);
        if (close == std::string_view::npos || close > at) return true;
        i = close + 2;
      } else {
        ++i;
      }
    }
    return false;
  }

  bool Next() {
    if (out_.tokens[at_].kind == TokenKind::kDirective) return AddDirective(at_++);
    const char c = Punctuator(at_);
    if (c == '}') {
      if (open_.empty()) return false;
      open_.pop_back();
      ++at_;
      return true;
    }
    if (c == ';') {
      ++at_;
      return true;
    }
    return OpensScope() || Declaration();
  }

  bool AddDirective(std::size_t i) {
    const std::string plain = PlainDirective(Word(i));
    if (plain.empty()) return false;
    Piece piece;
    piece.kind = Piece::Kind::kDirective;
    piece.begin = i;
    piece.end = i + 1;
    out_.pieces.push_back(std::move(piece));
    const std::string_view rest = std::string_view(plain).substr(1);
    const std::string_view word = rest.substr(0, rest.find_first_of(" (<\""));
    if (word == "if" || word == "ifdef" || word == "ifndef") {
      const bool always = plain == "#ifdef __cplusplus" || plain == "#if defined(__cplusplus)" ||
                          plain == "#if defined __cplusplus";
      conditions_.push_back({Depth(), always});
      return true;
    }
    if (word != "endif" && word != "else" && !word.starts_with("elif")) return true;
    if (conditions_.empty()) return false;
    const Condition open = conditions_.back();
    if (word != "endif") return open.depth == Depth();
    conditions_.pop_back();
    return open.always || open.depth == Depth();
  }

  bool OpensScope() {
    std::size_t i = at_;
    std::vector<std::string> path = out_.scopes[Scope()];
    Piece piece;
    piece.kind = Piece::Kind::kScope;
    if (Is(i, "extern") && i + 1 < out_.tokens.size() &&
        out_.tokens[i + 1].kind == TokenKind::kString && Punctuator(i + 2) == '{') {
      path.push_back("extern " + std::string(Word(i + 1)));
      i += 2;
    } else {
      const std::string opening = Is(i, "inline") ? "inline namespace" : "namespace";
      i += Is(i, "inline") ? 1 : 0;
      if (!Is(i++, "namespace")) return false;
      if (Punctuator(i) == '{') path.push_back(opening);
      while (IsName(i)) {
        path.push_back(opening + " " + std::string(Word(i)));
        piece.declares.push_back(Word(i));
        piece.mentions.push_back(Word(i));
        if (!Is(++i, "::")) break;
        ++i;
      }
      if (Punctuator(i) != '{') return false;
    }
    piece.begin = at_;
    piece.end = i + 1;
    piece.scope = out_.scopes.size();
    out_.scopes.push_back(std::move(path));
    open_.push_back(piece.scope);
    out_.pieces.push_back(std::move(piece));
    at_ = i + 1;
    return true;
  }

  std::size_t Scope() const { return open_.empty() ? 0 : open_.back(); }

  bool Declaration() {
    const bool opens = Is(at_, "namespace") || (Is(at_, "inline") && Is(at_ + 1, "namespace"));
    if (opens && !Is(at_ + 2, "=")) return false;  // written in a way that is not known here
    Piece piece;
    piece.begin = at_;
    piece.scope = Scope();
    flat_.clear();
    found_ = {};
    if (!Walk(piece)) return false;
    Judge(piece);
    at_ = piece.end;
    out_.pieces.push_back(std::move(piece));
    return true;
  }

  // Finds the declaration's end and its parts of namespace scope.
  bool Walk(Piece& piece) {
    std::size_t i = piece.begin;
    while (i < out_.tokens.size()) {
      const Token& token = out_.tokens[i];
      if (token.kind == TokenKind::kDirective) {
        if (!AddDirective(i++)) return false;
        continue;
      }
      const char c = Punctuator(i);
      if (c == ')' || c == ']') return false;
      if (c == '}') break;
      if (c == ';') {
        flat_.push_back({i, i});
        piece.end = i + 1;
        return true;
      }
      if (c == '(' || c == '[' || c == '{') {
        const std::size_t close = SkipGroup(i, piece);
        if (close == kNotFound) return false;
        const bool body = c == '{' && IsBody();
        if (c == '(' && !found_.equals && !IsAttribute()) found_.function = true;
        flat_.push_back({i, close});
        i = close + 1;
        piece.end = i;
        if (body && !Is(i, "catch")) return true;
        continue;
      }
      if (Is(i, "template") && Punctuator(i + 1) == '<') {
        const std::size_t close = SkipTemplateHead(i + 1, piece);
        if (close == kNotFound) return false;
        found_.specialisation = found_.specialisation || close == i + 2;
        i = close + 1;
        continue;
      }
      Note(i, piece);
      flat_.push_back({i, i});
      ++i;
    }
    piece.end = i;
    piece.doubtful = true;
    return true;
  }

  void Note(std::size_t i, Piece& piece) {
    const std::string_view word = Word(i);
    if (word == "class" || word == "struct" || word == "union" || word == "enum") {
      found_.class_key = true;
      found_.members_show = found_.members_show || word == "union" || word == "enum";
    } else if (word == "=" && !found_.operator_word) {
      found_.equals = true;
    } else if (word == ":" && found_.function) {
      found_.in_initialisers = true;
    } else if (word == "operator") {
      found_.operator_word = true;
    }
    static const Words kDoubtful = {"operator", "requires", "asm", "__asm__",
                                    "_Pragma",  "__pragma", "\\"};
    if (kDoubtful.count(word) > 0 || MayOpenScope(word)) piece.doubtful = true;
    if (out_.tokens[i].kind == TokenKind::kIdentifier) piece.mentions.push_back(word);
  }

  // Whether a brace at this place opens a function's body, after which a declaration ends.
  bool IsBody() const {
    if (found_.equals || !found_.function) return false;
    if (!found_.in_initialisers || flat_.empty()) return true;
    const std::size_t before = flat_.back().match;
    return !IsName(before) && Punctuator(before) != '>';
  }

  bool IsAttribute() const { return !flat_.empty() && IsAttributeWord(Word(flat_.back().token)); }

  // Index of the bracket that closes tokens[i].
  std::size_t SkipGroup(std::size_t i, Piece& piece) {
    const bool braces = Punctuator(i) == '{';
    const std::size_t outside = brackets_.size();
    for (; i < out_.tokens.size(); ++i) {
      const Token& token = out_.tokens[i];
      if (token.kind == TokenKind::kDirective) {
        if (!AddDirective(i)) return kNotFound;
        continue;
      }
      if (token.kind == TokenKind::kIdentifier) {
        if (text_[token.begin] == '_' && (Is(i, "_Pragma") || Is(i, "__pragma"))) {
          piece.doubtful = true;
        }
        if (!braces || found_.class_key) piece.mentions.push_back(Word(i));
        continue;
      }
      const char c = Punctuator(i);
      if (c == '(' || c == '[' || c == '{') brackets_.push_back(c);
      if (c != ')' && c != ']' && c != '}') continue;
      const char open = brackets_.back();
      if ((c == ')') != (open == '(') || (c == ']') != (open == '[')) return kNotFound;
      brackets_.pop_back();
      if (brackets_.size() == outside) return i;
    }
    return kNotFound;
  }

  std::size_t SkipTemplateHead(std::size_t i, Piece& piece) {
    int angles = 0;
    for (; i < out_.tokens.size(); ++i) {
      if (out_.tokens[i].kind == TokenKind::kDirective) return kNotFound;
      const char c = Punctuator(i);
      if (c == '(' || c == '[' || c == '{') {
        i = SkipGroup(i, piece);
        if (i == kNotFound) return kNotFound;
        continue;
      }
      if (c == ';' || c == ')' || c == ']' || c == '}') return kNotFound;
      if (IsName(i)) piece.mentions.push_back(Word(i));
      if (c == '<') ++angles;
      if (c == '>' && --angles == 0) return i;
    }
    return kNotFound;
  }

  void Judge(Piece& piece) {
    if (flat_.empty()) return;
    if (Is(flat_[0].token, "using") && flat_.size() > 1) {
      const std::size_t second = flat_[1].token;
      if (Is(second, "namespace") || Is(second, "enum")) piece.doubtful = true;
    }
    for (const std::string& scope : out_.scopes[piece.scope]) {
      if (InLibrary(std::string_view(scope).substr(scope.rfind(' ') + 1))) piece.doubtful = true;
    }
    if (found_.class_key) JudgeClass(piece);
    if (!found_.class_key || found_.function) JudgeNames(piece);
    const bool nothing = piece.declares.empty() && flat_.size() > 1;
    if (nothing && !Is(flat_[0].token, "static_assert")) piece.doubtful = true;
    if (!found_.specialisation) return;
    for (const Flat& flat : flat_) {
      if (IsName(flat.token) && InLibrary(Word(flat.token))) piece.doubtful = true;
    }
  }

  // All words of the head and after the body; members where they are seen outside.
  void JudgeClass(Piece& piece) {
    bool bases = false;
    for (const Flat& flat : flat_) {
      if (Punctuator(flat.token) == ':') bases = true;
      if (Punctuator(flat.token) == '{') {
        bases = false;
        const bool friends = HasFriends(flat, piece);
        if (found_.members_show || friends) DeclareAll(flat, piece);
      }
      if (!bases) Declare(flat.token, piece);
    }
  }

  bool HasFriends(const Flat& group, Piece& piece) const {
    bool friends = false, operators = false;
    for (std::size_t i = group.token; i < group.match; ++i) {
      if (!IsName(i)) continue;
      friends = friends || Is(i, "friend");
      operators = operators || Is(i, "operator");
    }
    if (friends && operators) piece.doubtful = true;
    return friends;
  }

  // Functions, variables and aliases: the names before "(", "=", ";", ",", "[" and "{".
  void JudgeNames(Piece& piece) {
    bool parameters = false;
    for (std::size_t k = 0; k < flat_.size(); ++k) {
      const std::size_t token = flat_[k].token;
      const char c = Punctuator(token);
      if (IsName(token) && !IsKeyword(Word(token))) {
        k = JudgeChain(k, parameters, piece);
      } else if (c == '=' && !found_.operator_word) {
        while (k + 1 < flat_.size() && Punctuator(flat_[k + 1].token) != ',') ++k;
      } else if (parameters && (c == ':' || Is(token, "->"))) {
        return;
      } else if (c == '(' || c == '[') {
        // "void (*f)(int)", "auto [a, b]"; attributes and parameters declare nothing here.
        const bool attribute = k > 0 && IsAttributeWord(Word(flat_[k - 1].token));
        const bool binding =
            k > 0 && (Is(flat_[k - 1].token, "auto") || Punctuator(flat_[k - 1].token) == '&' ||
                      Is(flat_[k - 1].token, "&&"));
        if ((c == '(' && !attribute && !parameters) || (c == '[' && binding)) {
          DeclareAll(flat_[k], piece);
        }
      }
    }
  }

  // A name with its qualifiers and template arguments, from flat_[k] on; the last index used.
  std::size_t JudgeChain(std::size_t k, bool& parameters, Piece& piece) {
    const std::size_t first = k;
    std::vector<std::size_t> names;
    std::size_t next = k;
    while (true) {
      names.push_back(flat_[next].token);
      ++next;
      if (next < flat_.size() && Punctuator(flat_[next].token) == '<') {
        const std::size_t close = FlatAngle(next);
        if (close == kNotFound) break;
        next = close + 1;
      }
      if (next >= flat_.size() || !Is(flat_[next].token, "::")) break;
      ++next;
      while (next < flat_.size() &&
             (Punctuator(flat_[next].token) == '~' || Is(flat_[next].token, "template"))) {
        ++next;
      }
      if (next >= flat_.size() || !IsName(flat_[next].token)) break;
    }
    const std::size_t chain = next;
    next = BehindAttributes(next);
    const char after = next < flat_.size() ? Punctuator(flat_[next].token) : ';';
    if (!EndsName(after)) return next - 1;
    const bool only_last = Is(flat_[0].token, "using");
    for (const std::size_t name : names) {
      if (!only_last || name == names.back()) Declare(name, piece);
    }
    for (std::size_t i = chain; i < next; ++i) Declare(flat_[i].token, piece);
    if (after != '(') return next - 1;
    const Flat& group = flat_[next];
    const char inside = Punctuator(group.token + 1);
    const char behind = next + 1 < flat_.size() ? Punctuator(flat_[next + 1].token) : '\0';
    const bool macro = (first == 0 && names.size() == 1) || IsAllCapitals(Word(names.back()));
    const bool declarator = inside == '*' || inside == '&' || inside == '^' || inside == '(' ||
                            behind == '(' || behind == '[' || Is(group.token + 1, "&&");
    if (macro || declarator) DeclareAll(group, piece);
    parameters = !macro;
    return next;
  }

  static bool EndsName(char after) {
    return std::string_view("=;,[({:").find(after) != std::string_view::npos;
  }

  // Between a name and what ends it: "kBias __attribute__((unused)) = 1", "kBias [[gnu::unused]]",
  // and what looks like a macro for such.
  std::size_t BehindAttributes(std::size_t k) const {
    while (k < flat_.size()) {
      const std::size_t token = flat_[k].token;
      const bool group = k + 1 < flat_.size() && Punctuator(flat_[k + 1].token) == '(';
      if (IsAttributeWord(Word(token))) {
        k += group ? 2 : 1;
      } else if (Punctuator(token) == '[' && Punctuator(token + 1) == '[') {
        ++k;
      } else if (IsName(token) && IsAllCapitals(Word(token))) {
        const std::size_t behind = BehindAttributes(k + (group ? 2 : 1));
        return behind >= flat_.size() || EndsName(Punctuator(flat_[behind].token)) ? behind : k;
      } else {
        return k;
      }
    }
    return k;
  }

  std::size_t FlatAngle(std::size_t k) const {
    int angles = 0;
    for (; k < flat_.size(); ++k) {
      const char c = Punctuator(flat_[k].token);
      if (c == '<') ++angles;
      if (c == '>' && --angles == 0) return k;
      if (c == ';' || c == '{') return kNotFound;
    }
    return kNotFound;
  }

  void Declare(std::size_t token, Piece& piece) const {
    if (IsName(token) && !IsKeyword(Word(token))) piece.declares.push_back(Word(token));
  }
  void DeclareAll(const Flat& group, Piece& piece) const {
    for (std::size_t i = group.token; i < group.match; ++i) Declare(i, piece);
  }

  std::string_view text_;
  Pieces out_;
  std::size_t at_ = 0;
  std::vector<std::size_t> open_;  // scopes
  std::vector<char> brackets_;
  std::vector<Condition> conditions_;
  std::vector<Flat> flat_;
  Found found_;
};

}  // namespace

Pieces SplitIntoPieces(std::string_view text) { return Splitter(text).Run(); }

}  // namespace cupilot::source
