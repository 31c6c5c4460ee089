// No prompt tells what a program's own data are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "records/element_values.h"
#include "tests/daemon/agents/roles/examples.h"

namespace cupilot::agents {
namespace {

using records::ElementValue;
using ::testing::HasSubstr;
using ::testing::Not;

// As a capture makes it: contents of the blob store, and a scalar of the program's.
records::Workload CapturedWorkload() {
  records::Workload workload = ExampleWorkload();
  for (records::Case& one : workload.cases) {
    records::Fill& fill = one.arguments[0].fill.emplace();
    fill.kind = "file";
    fill.path = "blob:31415926535897932384626433832795";
    one.arguments.push_back(ScalarArgument("rate", "0.27182818"));
    one.name = "width=259 rate=0.27182818";
  }
  return workload;
}

const std::string kDetail =
    "'sums'[7]: " + records::ExpectedGot(ElementValue("31415.9265"), ElementValue("-16180.3398")) +
    "; relative error 0.52 of 0.01 (fill wide, case 'width=259 rate=0.27182818', seed 1)";

void ExpectNothingPrivate(const std::string& prompt) {
  for (const char* value : {"31415", "16180", "271828"}) {
    EXPECT_THAT(prompt, Not(HasSubstr(value)));
  }
}

TEST(PrivateData, AFindingIsToldWithoutTheValuesOfElements) {
  ReviserInputs inputs = FullReviserInputs(Finding::Kind::kCheck);
  inputs.finding.detail = kDetail;
  EXPECT_THAT(ReviserRequest(inputs, {}).prompt, HasSubstr("expected 31415.9265, got -16180.3398"));
  inputs.brief.workload = CapturedWorkload();
  const std::string prompt = ReviserRequest(inputs, {}).prompt;
  ExpectNothingPrivate(prompt);
  EXPECT_THAT(prompt, HasSubstr("sums'[7]: differs from the original; relative error 0.52"));
  EXPECT_THAT(prompt, HasSubstr("fill wide"));
}

TEST(PrivateData, SoAreEarlierAttempts) {
  TranslatorInputs inputs = FullTranslatorInputs();
  inputs.brief.workload = CapturedWorkload();
  inputs.earlier = {{"wrong_values", kDetail}, {"modified_input", kDetail}};
  const std::string prompt = TranslatorRequest(inputs, {}).prompt;
  ExpectNothingPrivate(prompt);
  EXPECT_THAT(prompt, HasSubstr("modified_input"));
}

TEST(PrivateData, ScalarsAreRoundedAndWholeNumbersStay) {
  StrategistInputs inputs = FullStrategistInputs();
  inputs.brief.workload = CapturedWorkload();
  const std::string prompt = StrategistRequest(inputs, {}).prompt;
  ExpectNothingPrivate(prompt);
  EXPECT_THAT(prompt, HasSubstr("rate is about 0.27"));
  EXPECT_THAT(prompt, HasSubstr("width=259 rate=0.27"));
  EXPECT_THAT(prompt, HasSubstr("width = 259"));
  JudgeInputs judge = FullJudgeInputs();
  judge.workload = CapturedWorkload();
  ExpectNothingPrivate(JudgeRequest(judge, 0, {}).prompt);
}

TEST(PrivateData, AScalarOfTwoDigitsIsToldAsItIs) {
  records::Workload workload = ExampleWorkload();
  for (const char* value : {"0.5", "1e-05", "-3.0", "nan", "-inf", "1920"}) {
    workload.cases[0].arguments.back() = ScalarArgument("x", value);
    EXPECT_THAT(CasesText(workload), HasSubstr(std::string("x = ") + value + "\n"));
  }
  workload.cases[0].arguments.back() = ScalarArgument("x", "1.2345e-20");
  EXPECT_THAT(CasesText(workload), HasSubstr("x is about 1.2e-20\n"));
}

}  // namespace
}  // namespace cupilot::agents
