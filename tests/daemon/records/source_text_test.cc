#include "records/source_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "records/variant.h"

namespace cupilot::records {
namespace {

using ::testing::HasSubstr;

std::string Resolved(std::string_view text) {
  const auto resolved = ResolveText(text);
  EXPECT_TRUE(resolved) << resolved.error().message;
  if (!resolved) return {};
  EXPECT_EQ(ResolveText(*resolved).value_or(""), *resolved) << "nothing is left to resolve";
  return *resolved;
}

std::string ErrorOfText(std::string_view text) {
  const auto resolved = ResolveText(text);
  return resolved ? "" : resolved.error().message;
}

TEST(ResolveText, EndsLinesInOneWay) {
  EXPECT_EQ(Resolved("a\rb\r\nc\n\rd"), "a\nb\nc\n\nd");
  EXPECT_EQ(Resolved("a\fb\vc\td"), "a b c\td");
  EXPECT_EQ(Resolved("\xEF\xBB\xBFint a;"), "int a;");
  EXPECT_EQ(Resolved(""), "");
}

TEST(ResolveText, JoinsLinesAsCompilersDo) {
  EXPECT_EQ(Resolved("a\\\nsm;\nb"), "asm;\n\nb");
  EXPECT_EQ(Resolved("a\\ \t\nsm"), "asm\n");
  EXPECT_EQ(Resolved("a\\\f\r\nsm\r"), "asm\n\n");
  EXPECT_EQ(Resolved("/* *\\ \n/\n#pragma x\n/* */"), "/* */\n\n#pragma x\n/* */");
  EXPECT_EQ(Resolved("f(\"//\\\n\"); /* // */ g\\\n();"), "f(\"//\"); /* // */ g();\n\n");
  EXPECT_EQ(Resolved("f(\"\\\\\", '\\n');"), "f(\"\\\\\", '\\n');");
}

TEST(ResolveText, RefusesWhatIsNotReadAlike) {
  EXPECT_THAT(ErrorOfText("a;\n// b \\\t\nint a;"),
              HasSubstr("line 2: a comment that a backslash"));
  EXPECT_THAT(ErrorOfText("a\nb\\\\\n\nc"), HasSubstr("line 2: a backslash"));
  EXPECT_THAT(ErrorOfText("a\\"), HasSubstr("line 1: a backslash"));
  EXPECT_THAT(ErrorOfText("a\\ \n\\ "), HasSubstr("a backslash"));
  EXPECT_THAT(ErrorOfText("// what?\?/\nint a;"), HasSubstr("line 1: the trigraph '?\?/'"));
  EXPECT_THAT(ErrorOfText("?\\\n?=define a"), HasSubstr("trigraph"));
  EXPECT_THAT(ErrorOfText(std::string_view("a\n\0b", 4)),
              HasSubstr("line 2: the character U+0000"));
  EXPECT_THAT(ErrorOfText("a\x1A"), HasSubstr("U+001A"));
  EXPECT_THAT(ErrorOfText("a\x7F"), HasSubstr("U+007F"));
  EXPECT_THAT(ErrorOfText("// \xC2\x85#"), HasSubstr("U+0085"));
  EXPECT_THAT(ErrorOfText("// \xE2\x80\xA8#"), HasSubstr("U+2028"));
  EXPECT_THAT(ErrorOfText("// \xE2\x80\xAE"), HasSubstr("U+202E"));
  EXPECT_THAT(ErrorOfText("a\xEF\xBB\xBF"), HasSubstr("U+FEFF"));
  EXPECT_THAT(ErrorOfText("// \xE9"), HasSubstr("no UTF-8"));
  EXPECT_THAT(ErrorOfText("// \xC0\x8A"), HasSubstr("no UTF-8"));
  EXPECT_EQ(ErrorOfText("// gr\xC3\xBC\xC3\x9F"), "");
}

// The id is that of what is built, however it was written.
TEST(ResolveText, IsWhatAVariantHolds) {
  const auto read = [](const std::string& source) {
    return ParseVariant(
        {{"schema", "cupilot.variant/1"}, {"kernel", "k"}, {"source", source}, {"entry", "v"}});
  };
  const auto plain = read("__global__ void v() {}\n"), other = read("__glo\\ \nbal__ void v() {}");
  ASSERT_TRUE(plain && other);
  EXPECT_EQ(other->source, plain->source);
  EXPECT_EQ(other->id, plain->id);
  const auto kept = read("a\nb \x01");
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->source, "a\nb \x01") << "the whitelist says what is wrong with it";
}

}  // namespace
}  // namespace cupilot::records
