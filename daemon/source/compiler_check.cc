#include "source/compiler_check.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <utility>

#include "source/swap/piece_words.h"
#include "source/syntax/lexer.h"

namespace cupilot::source {
namespace {

using Names = std::set<std::string_view>;

// Lines of headers of the system, and line markers, made blank.
std::string UserPartOf(std::string_view text) {
  std::string out(text);
  bool system = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const bool marker = line.starts_with("# ");
    if (marker) system = line.ends_with(" 3");
    if (marker || system) std::fill(out.begin() + at, out.begin() + end, ' ');
    at = end + 1;
  }
  return out;
}

void AppendUtf8(std::uint32_t code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

// GCC prints letters of identifiers beyond ASCII as \U000003b1. Literals are left alone.
std::string WithLetters(const std::string& text) {
  if (text.find("\\U") == std::string::npos) return text;
  std::string out;
  std::size_t copied = 0;
  for (const Token& token : Lex(text)) {
    if (token.kind == TokenKind::kString || token.kind == TokenKind::kChar) continue;
    for (std::size_t at = token.begin; at < token.end; ++at) {
      if (text.compare(at, 2, "\\U") != 0 || at + 10 > text.size()) continue;
      out.append(text, copied, at - copied);
      AppendUtf8(static_cast<std::uint32_t>(std::stoul(text.substr(at + 2, 8), nullptr, 16)), out);
      copied = at + 10;
      at += 9;
    }
  }
  return out.append(text, copied);
}

struct Word {
  std::string text;
  std::size_t at = 0;  // in the side's text
};

// CUDA's qualifiers are macros of the toolkit; our preprocessor leaves them as people write them.
class Canonical {
 public:
  explicit Canonical(std::vector<Word> words) : words_(std::move(words)) {}

  std::vector<Word> Run() {
    std::vector<Word> out;
    for (std::size_t i = 0; i < words_.size();) {
      const std::size_t used = Attribute(i, out);
      if (used == 0) {
        out.push_back(words_[i++]);
      } else {
        i += used;
      }
    }
    return out;
  }

 private:
  bool Is(std::size_t i, std::string_view word) const {
    return i < words_.size() && words_[i].text == word;
  }

  // "__attribute__((global))" is "__global__", "__attribute__((launch_bounds(256)))" is
  // "__launch_bounds__(256)". Returns how many words it took.
  std::size_t Attribute(std::size_t i, std::vector<Word>& out) const {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kPlain = {{
        {"global", "__global__"},
        {"device", "__device__"},
        {"host", "__host__"},
        {"shared", "__shared__"},
        {"constant", "__constant__"},
        {"managed", "__managed__"},
        {"grid_constant", "__grid_constant__"},
        {"always_inline", "__forceinline__"},
        {"launch_bounds", "__launch_bounds__"},
        {"aligned", "__align__"},
    }};
    // "__inline__ __attribute__((always_inline))"
    const std::size_t inlined = Is(i, "__inline__") && Is(i + 1, "__attribute__") ? 1 : 0;
    const std::size_t at = i + inlined;
    if (!Is(at, "__attribute__") || !Is(at + 1, "(") || !Is(at + 2, "(")) return 0;
    const auto known = std::find_if(kPlain.begin(), kPlain.end(),
                                    [&](const auto& one) { return Is(at + 3, one.first); });
    if (known == kPlain.end() || (inlined == 1 && known->first != "always_inline")) return 0;
    std::size_t end = at + 4;
    for (int depth = 0; end < words_.size() && !(depth == 0 && Is(end, ")")); ++end) {
      depth += Is(end, "(") ? 1 : Is(end, ")") ? -1 : 0;
    }
    if (!Is(end, ")") || !Is(end + 1, ")")) return 0;
    out.push_back({std::string(known->second), words_[i].at});
    out.insert(out.end(), words_.begin() + static_cast<std::ptrdiff_t>(at) + 4,
               words_.begin() + static_cast<std::ptrdiff_t>(end));
    return end + 2 - i;
  }

  std::vector<Word> words_;
};

// Directives to the preprocessor itself, which one of the two prints and the other does not.
bool IsForPreprocessor(const std::string& directive) {
  static constexpr std::array<std::string_view, 8> kWords = {
      "once", "push_macro", "pop_macro", "message", "region", "endregion", "GCC", "clang"};
  constexpr std::string_view kPragma = "#pragma ";
  if (!directive.starts_with(kPragma)) return true;
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return std::string_view(directive).substr(kPragma.size()).starts_with(word);
  });
}

std::vector<Word> WordsOf(const std::string& text, const Pieces& pieces, const Names& names) {
  std::vector<Word> words;
  for (const Piece& piece : pieces.pieces) {
    if (piece.kind == Piece::Kind::kScope) continue;
    const bool matters = piece.doubtful || piece.kind == Piece::Kind::kDirective ||
                         std::any_of(piece.declares.begin(), piece.declares.end(),
                                     [&](std::string_view name) { return names.contains(name); });
    if (!matters) continue;
    bool first = true;
    for (std::size_t i = piece.begin; i < piece.end; ++i) {
      const Token& token = pieces.tokens[i];
      std::string word(Spelling(text, token));
      if (token.kind == TokenKind::kDirective) {
        word = PlainDirective(word);
        if (IsForPreprocessor(word)) continue;
      }
      if (first) {
        for (const std::string& scope : pieces.scopes[piece.scope]) {
          words.push_back({"namespace " + scope, token.begin});
        }
        first = false;
      }
      words.push_back({std::move(word), token.begin});
    }
  }
  return Canonical(std::move(words)).Run();
}

// What a #pragma at namespace scope leaves for what follows.
class OpenPragmas {
 public:
  // `directive`: plain. Others than those that change what declarations mean are passed over.
  void Take(const std::string& directive) {
    constexpr std::string_view kPragma = "#pragma ";
    static constexpr std::array<std::string_view, 14> kHarmless = {
        "once",       "push_macro", "pop_macro",     "message",    "region",
        "endregion",  "nv_",        "diag_",         "hd_warning", "GCC diagnos",
        "GCC system", "GCC poison", "clang diagnos", "GCC warning"};
    if (!directive.starts_with(kPragma)) return;
    const std::string_view what = std::string_view(directive).substr(kPragma.size());
    if (std::any_of(kHarmless.begin(), kHarmless.end(),
                    [&](std::string_view word) { return what.starts_with(word); })) {
      return;
    }
    if (what.starts_with("pack") || what.starts_with("GCC p")) {
      const bool pops = what.find("pop") != std::string_view::npos;
      const bool resets = what == "pack()" || what == "pack ()" || what == "pack ( )";
      if (pops) {
        if (!open_.empty()) open_.pop_back();
      } else if (resets) {
        open_.clear();
      } else {
        open_.push_back(directive);
      }
    } else {
      open_.push_back(directive);
    }
  }
  std::string Open() const { return open_.empty() ? "" : open_.back(); }

 private:
  std::vector<std::string> open_;
};

std::string Quoted(const std::vector<Word>& words, std::size_t i) {
  return i < words.size() ? "'" + words[i].text + "'" : "nothing more";
}

}  // namespace

CompilerCheck::CompilerCheck(std::string_view text,
                             const std::vector<records::CompilerPass>& passes) {
  ours_.text = UserPartOf(text);
  ours_.pieces = SplitIntoPieces(ours_.text);
  passes_.reserve(passes.size());  // pieces are views of the texts
  for (const records::CompilerPass& pass : passes) {
    names_.push_back(pass.name);
    Side& side = passes_.emplace_back();
    side.text = WithLetters(pass.text);
    side.pieces = SplitIntoPieces(side.text);
  }
}

std::string CompilerCheck::HeadOf(const Piece& piece) const {
  std::string head;
  for (std::size_t i = piece.begin; i < piece.end; ++i) {
    const std::string_view word = Spelling(ours_.text, ours_.pieces.tokens[i]);
    if (word == "{" || word == ";") break;
    head.append(word).append(" ");
  }
  return head;
}

std::string CompilerCheck::WhyNotBehind(const Closure& closure, const std::string& kernel,
                                        const Places& places) const {
  Names words;
  for (const Chunk& chunk : closure.chunks) {
    for (const Token& token : Lex(chunk.text)) {
      const std::string_view word = Spelling(chunk.text, token);
      if (token.kind == TokenKind::kIdentifier && word != kernel && !IsKeyword(word)) {
        words.insert(word);
      }
    }
  }
  const auto in_closure = [&](std::size_t begin, std::size_t last) {
    return std::any_of(closure.chunks.begin(), closure.chunks.end(),
                       [&](const Chunk& chunk) { return chunk.begin < last && begin < chunk.end; });
  };
  OpenPragmas pragmas;
  bool below = false;
  std::set<std::string> heads;  // of what stands above: what is declared there may be defined below
  for (const Piece& piece : ours_.pieces.pieces) {
    const Token& first = ours_.pieces.tokens[piece.begin];
    if (piece.kind == Piece::Kind::kDirective) {
      pragmas.Take(PlainDirective(Spelling(ours_.text, first)));
      continue;
    }
    if (piece.kind == Piece::Kind::kScope) continue;
    const bool ours = in_closure(first.begin, ours_.pieces.tokens[piece.end - 1].end);
    if (ours && !pragmas.Open().empty()) {
      return places.Name(first.begin) + ": it stands under " + pragmas.Open() +
             ", which is not tuned yet";
    }
    if (!below) {
      if (ours) heads.insert(HeadOf(piece));
      below = ours && std::find(piece.declares.begin(), piece.declares.end(), kernel) !=
                          piece.declares.end();
      continue;
    }
    const auto found = std::find_if(piece.declares.begin(), piece.declares.end(),
                                    [&](std::string_view name) { return words.contains(name); });
    if (found == piece.declares.end() || heads.contains(HeadOf(piece))) continue;
    return places.Name(first.begin) + ": '" + std::string(*found) +
           "' is declared once more below the kernel, where its variants would find it; move it "
           "above the kernel";
  }
  return {};
}

std::string CompilerCheck::FirstDifference(const std::vector<std::string>& names,
                                           const Places& places) const {
  if (!ours_.pieces.readable) return "its text cannot be compared with what the compiler reads";
  const Names wanted(names.begin(), names.end());
  const std::vector<Word> ours = WordsOf(ours_.text, ours_.pieces, wanted);
  for (std::size_t p = 0; p < passes_.size(); ++p) {
    const bool host = names_[p] == "host";
    const std::string who =
        host ? "the compiler" : "for __CUDA_ARCH__ " + names_[p] + " the compiler";
    if (!passes_[p].pieces.readable) return "what " + who + " reads of it cannot be compared";
    const std::vector<Word> theirs = WordsOf(passes_[p].text, passes_[p].pieces, wanted);
    const auto [mine, other] =
        std::mismatch(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                      [](const Word& a, const Word& b) { return a.text == b.text; });
    if (mine == ours.end() && other == theirs.end()) continue;
    const auto i = static_cast<std::size_t>(mine - ours.begin());
    const std::size_t at = ours.empty() ? 0 : ours[std::min(i, ours.size() - 1)].at;
    return places.Name(static_cast<std::uint32_t>(at)) + ": " + who + " reads " +
           Quoted(theirs, i) + " where cuPilot reads " + Quoted(ours, i) +
           (host ? "" : ": the kernel depends on __CUDA_ARCH__, which is not tuned yet");
  }
  return {};
}

}  // namespace cupilot::source
