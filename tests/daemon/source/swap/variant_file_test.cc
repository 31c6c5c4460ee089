#include "source/swap/variant_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "scale_kernel.h"
#include "source/swap/variant_text.h"
#include "source/syntax/lexer.h"

namespace cupilot::source {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

SwapRequest RequestOf(std::vector<SwappedVariant> variants) {
  return {"/p/scale.cu", "app/scale.cu.o", {{ScaleKernel(), std::move(variants)}}};
}

SwappedText VariantFileOf(const SwapRequest& request) {
  const auto file =
      WriteVariantFile(request, request.kernels[0], {&request.kernels[0].variants[0]});
  EXPECT_TRUE(file) << file.error().message;
  return file.value_or(SwappedText());
}

std::vector<std::string> SpellingsOf(const std::string& text) {
  std::vector<std::string> words;
  for (const Token& token : Lex(text)) words.emplace_back(Spelling(text, token));
  return words;
}

TEST(VariantFile, SaysWhatItIsAndIsNamedByItsContent) {
  const SwapRequest request = RequestOf(
      {{StepsVariant(), "compute_90,sm_90", {"NVIDIA H200"}, "n >= 1", "in three steps", 1.234}});
  const SwappedText file = VariantFileOf(request);
  EXPECT_EQ(file.file_name, "variant." + base::HashHex(file.text) + ".cu");
  EXPECT_TRUE(IsVariantFile(file.file_name, file.text));
  EXPECT_FALSE(IsVariantFile(file.file_name, file.text + " "));
  const std::string head = file.text.substr(0, file.text.find("\n\n"));
  const std::string id = request.kernels[0].variants[0].variant.id;
  for (const std::string& what :
       {std::string("kernel app::scale"), id, std::string("in three steps"),
        std::string("1.23 times as fast"), std::string("compute_90,sm_90 on NVIDIA H200"),
        std::string("n >= 1"), std::string("\"/p/scale.cu\""),
        std::string("first, grid as the original, block as the original, 2 times"),
        std::string("other cleared"), std::string("65536 * blocks_per_sm(second)"),
        std::string("when n > 0"), std::string("CUPILOT_DISABLE=1")}) {
    EXPECT_THAT(head, HasSubstr(what));
  }
}

TEST(VariantFile, IsWhatTheSwappedSourceIncludes) {
  const SwapRequest request =
      RequestOf({{PlainVariant(), "compute_90,sm_90", {}, "", "two", 1.5},
                 {StepsVariant(), "compute_90,sm_90", {}, "", "steps", 1.2},
                 {PlainVariant(), "compute_80,sm_80", {}, "n > 7", "two", 2}});
  const auto swapped = WriteSwappedSource(request);
  ASSERT_TRUE(swapped) << swapped.error().message;
  ASSERT_THAT(swapped->variants, SizeIs(2));  // one that is proven twice stands once
  EXPECT_THAT(VariantFilesOf(swapped->text),
              ElementsAre(swapped->variants[0].file_name, swapped->variants[1].file_name));
  EXPECT_THAT(swapped->text, Not(HasSubstr("factor * in")));
  EXPECT_THAT(swapped->variants[0].text, HasSubstr("factor * in"));
  for (const char* what : {"1.50 times", "2.00 times", "compute_80,sm_80", "n > 7", "always"}) {
    EXPECT_THAT(swapped->variants[0].text, HasSubstr(what));
  }
  ASSERT_THAT(swapped->Files(), SizeIs(3));
  EXPECT_EQ(swapped->Files().back().file_name, swapped->file_name);
}

TEST(VariantFile, OnlyIncludesAtTheBeginningOfALineCount) {
  EXPECT_THAT(VariantFilesOf("#include \"variant.a.cu\"\n// #include \"variant.b.cu\"\n"
                             "#include \"variant.../c.cu\"\n#include \"variant.d"),
              ElementsAre("variant.a.cu", "variant.d"));
}

// Titles, guards and names come from models and other people's caches.
TEST(VariantFile, NothingLeavesTheComment) {
  for (const char* hostile : {"a\nint evil;", "a\rint evil;", "ends in \\", "ends in ?\?/",
                              "*/ int evil; /*", "\xe2\x80\xae turned", "\xff\xfe", "a\\\nb"}) {
    SwappedVariant variant{PlainVariant(), "compute_90,sm_90", {hostile}, hostile, hostile, 1.5};
    variant.variant.launches[0].when = hostile;
    const SwapRequest request = RequestOf({variant});
    const SwappedText file = VariantFileOf(request);
    const auto alone =
        VariantText(request.kernels[0].kernel, variant.variant, {variant.target}, request.unit);
    ASSERT_TRUE(alone) << alone.error().message;
    EXPECT_EQ(SpellingsOf(file.text), SpellingsOf(*alone)) << hostile;
    const std::string head = file.text.substr(0, file.text.size() - alone->size());
    EXPECT_TRUE(file.text.ends_with(*alone));
    for (const char c : head) EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << hostile;
    EXPECT_THAT(head, Not(HasSubstr("\\")));
    EXPECT_THAT(head, Not(HasSubstr("?\?/")));
  }
}

}  // namespace
}  // namespace cupilot::source
