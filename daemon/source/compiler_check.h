// Compares the text that we parse with the text that the user's compiler translates
// (source/swap/ask_compiler.h): our preprocessor is clang's, and what it does not know of the
// compiler (a built-in that is asked for, the number of a line in a long macro call) would
// make another kernel of the same source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "records/compiler_text.h"
#include "source/closure.h"
#include "source/swap/pieces.h"
#include "source/tags.h"

namespace cupilot::source {

// Of one unit; the texts given live as long as it.
class CompilerCheck {
 public:
  // `text`: Preprocessed::text. `passes`: the compiler's, the host's first.
  CompilerCheck(std::string_view text, const std::vector<records::CompilerPass>& passes);

  // The first token that differs in a declaration of one of the names, in the host's pass or in
  // that of an architecture: "a.cu:4: the compiler reads '2' where cuPilot reads '1'". Empty: they
  // are the same.
  std::string FirstDifference(const std::vector<std::string>& names, const Places& places) const;

  // What a copy of the closure behind the end of the file would find otherwise than the original
  // does: it stands under a #pragma, or a name that it looks up is declared once more below the
  // kernel (an overload, a specialisation). Empty: nothing.
  std::string WhyNotBehind(const Closure& closure, const std::string& kernel,
                           const Places& places) const;

 private:
  std::string HeadOf(const Piece& piece) const;

  struct Side {
    std::string text;  // the user's; elsewhere blanks, so that offsets stay
    Pieces pieces;
  };
  Side ours_;
  std::vector<std::string> names_;
  std::vector<Side> passes_;
};

}  // namespace cupilot::source
