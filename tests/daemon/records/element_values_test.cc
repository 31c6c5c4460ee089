// What is said of single elements can be left out again.
#include "records/element_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "records/private_data.h"

namespace cupilot::records {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

const ElementValue kA("31415.9265"), kB("-27182818"), kC("0xfeedf00d"), kNan("nan");

TEST(ElementValues, EverySentenceLosesThem) {
  for (const std::string& sentence :
       {Expected(kA), ExpectedGot(kA, kB), ExpectedGot(kNan, kC), ExpectedGotExact(kA, kB, kA),
        ExpectedGotExact(ElementValue::Of(2.5e-300), kNan, ElementValue::Of(-1e20)),
        HoldsAsBefore(kC), WasAndIs(kA, kB), InsteadOf(kA, kB), InsteadOf(kB, kNan)}) {
    const std::string text = "'out'[17]: " + sentence + "; relative error 0.5 (fill wide, seed 1)";
    const std::string left = WithoutElementValues(text);
    for (const char* value : {"31415", "27182818", "feedf00d", "nan", "2.5e", "1e+20"}) {
      EXPECT_THAT(left, Not(HasSubstr(value))) << text;
    }
    EXPECT_THAT(left, HasSubstr("'out'[17]: ")) << text;
    EXPECT_THAT(left, HasSubstr("; relative error 0.5 (fill wide, seed 1)")) << text;
    EXPECT_THAT(left, EndsWith(" (values not shown: they may be private)"));
    EXPECT_EQ(WithoutElementValues(left), left);
  }
  EXPECT_EQ(WithoutElementValues("'out'[3]: " + ExpectedGotExact(kA, kB, kA) + "; error 12 units"),
            "'out'[3]: differs from the original; error 12 units "
            "(values not shown: they may be private)");
}

TEST(ElementValues, OfATextThatWasCutNoneIsLeft) {
  const std::string text = "'out'[3]: " + ExpectedGotExact(kA, kA, kA);
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_THAT(WithoutElementValues(text.substr(0, length)), Not(HasSubstr("314"))) << length;
  }
}

// As host_runtime/watch/undefined_calls.cc writes them.
TEST(ElementValues, UndefinedBehaviourIsNamedWithoutThem) {
  for (const auto& [text, left] : {
           std::pair("a signed overflow, 2147483647 + 31415 in 'int', line 3", "a signed overflow"),
           std::pair("a signed overflow, -(-31415) in 'int', line 3", "a signed overflow"),
           std::pair("a division of 31415 by 0 in 'int'", "a division in 'int'"),
           std::pair("a conversion of 3.1415e+30 to 'int', which cannot hold it, line 3",
                     "a conversion of a value to 'int'"),
           std::pair("a shift of 'int' by 31415, line 3", "a shift of 'int' by too much"),
           std::pair("index 31415 of 'int[8]'", "an index of 'int[8]'"),
       }) {
    EXPECT_THAT(WithoutElementValues(text), HasSubstr(left));
    EXPECT_THAT(WithoutElementValues(text), Not(HasSubstr("3141"))) << text;
    EXPECT_THAT(WithoutElementValues(text), Not(HasSubstr("2147483647"))) << text;
  }
}

TEST(ElementValues, MembersOfStructuresAreDataAndScalarsAreNot) {
  EXPECT_EQ(WithoutElementValues("as the original at n = 12, frame.scale = 0.31415"),
            "as the original at n = 12, frame.scale = ... (values not shown: they may be private)");
  EXPECT_THAT(WithoutElementValues("case 'rate = 1.25, dims[2].x = -35', seed 1"),
              HasSubstr("case 'rate = 1.25, dims[2].x = ...', seed 1"));
  EXPECT_THAT(WithoutElementValues("(n == 12 && note.count == 7 && note.text[0] == 109)"),
              HasSubstr("(n == 12 && note.count == 7 && note.text[0] == ...)"));
}

TEST(ElementValues, OtherTextsStayAsTheyAre) {
  for (const char* text :
       {"", "results are the original's", "the speedup of 1.013 has a lower end of 0.997",
        "a read of 4 bytes by thread (1,0,0) of block (0,0,0) at 'sums'[7]",
        "12 of 100 elements (12 %)", "candidate.cu(3): error: expected ';' after expression",
        "a block's threads are 2048, of at most 1024"}) {
    EXPECT_EQ(WithoutElementValues(text), text);
  }
}

TEST(ElementValues, AnEvaluationLosesThemEverywhere) {
  Evaluation evaluation;
  evaluation.detail = ExpectedGot(kA, kB);
  evaluation.checks = {{"wrong_values", false, WasAndIs(kA, kB)}};
  evaluation.metrics = {{"notes", {InsteadOf(kA, kB)}}};
  evaluation.reason = "wrong_values";
  const std::string text = ToJson(WithoutElementValues(evaluation)).dump();
  EXPECT_THAT(text, Not(HasSubstr("31415")));
  EXPECT_THAT(text, Not(HasSubstr("27182818")));
  EXPECT_THAT(text, HasSubstr("differs from the original"));
  Json document = {{"why", ExpectedGot(kA, kB)}, {"source", "// expected 1, got 2"}};
  LeaveOutElementValues(document);
  EXPECT_THAT(document["why"], Not(HasSubstr("31415")));
  EXPECT_EQ(document["source"], "// expected 1, got 2");
}

TEST(PrivateData, ContentsOfFilesAndStructuresAreSomebodysData) {
  Workload workload;
  workload.cases.resize(1);
  records::Case& one = workload.cases[0];
  one.arguments.resize(2);
  one.arguments[0].count = "8";
  one.arguments[0].fill.emplace().kind = "normal";
  one.arguments[1].value = "7";
  EXPECT_FALSE(HoldsData(workload));
  one.arguments[1].value.clear();
  one.arguments[1].bytes = "AAAA";
  EXPECT_TRUE(HoldsData(workload));
  one.arguments[1].bytes.clear();
  one.arguments[0].fill->kind = "file";
  EXPECT_TRUE(HoldsData(workload));
  one.arguments[0].fill.reset();
  one.globals.resize(1);
  one.globals[0].fill.emplace().kind = "file";
  EXPECT_TRUE(HoldsData(workload));
  one.globals.clear();
  one.buffers.resize(1);
  one.buffers[0].fill.emplace().kind = "pointers";
  EXPECT_FALSE(HoldsData(workload));
  one.buffers[0].fill->inner.resize(1);
  one.buffers[0].fill->inner[0].kind = "file";
  EXPECT_TRUE(HoldsData(workload));
}

}  // namespace
}  // namespace cupilot::records
