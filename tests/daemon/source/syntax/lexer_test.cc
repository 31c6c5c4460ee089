#include "source/syntax/lexer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cupilot::source {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  for (const Token& token : Lex(text)) words.emplace_back(Spelling(text, token));
  return words;
}

TEST(Lexer, LeavesOutCommentsAndWhiteSpace) {
  EXPECT_THAT(Words("a /* b */ = c; // d\n+e"), ElementsAre("a", "=", "c", ";", "+", "e"));
}

TEST(Lexer, KeepsNumbersStringsAndLongOperatorsWhole) {
  EXPECT_THAT(Words("1.5e-3f 0x1p+4 1'000u .5"), ElementsAre("1.5e-3f", "0x1p+4", "1'000u", ".5"));
  EXPECT_THAT(Words(R"x("a\"b" L'c' R"(d"e)" u8"f"_s)x"),
              ElementsAre(R"("a\"b")", "L'c'", "R\"(d\"e)\"", "u8\"f\"_s"));
  EXPECT_THAT(Words("k<<<a,b>>>(x->y)"),
              ElementsAre("k", "<<<", "a", ",", "b", ">", ">", ">", "(", "x", "->", "y", ")"));
}

TEST(Lexer, ADirectiveIsOneToken) {
  EXPECT_THAT(Words("a\n#pragma unroll \\\n 4\nb # c"),
              ElementsAre("a", "#pragma unroll \\\n 4", "b", "#", "c"));
}

TEST(Lexer, MatchesBrackets) {
  const std::string_view text = "f(a[1], {b}) + c";
  const std::vector<Token> tokens = Lex(text);
  EXPECT_EQ(Spelling(text, tokens[MatchingToken(text, tokens, 1) + 1]), "+");
  EXPECT_EQ(MatchingToken("(", Lex("("), 0), 1u);
}

}  // namespace
}  // namespace cupilot::source
