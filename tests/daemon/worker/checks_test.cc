#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "tests/daemon/worker/case_fixture.h"
#include "worker/checks/check.h"

namespace cupilot::worker {
namespace {

using ::testing::HasSubstr;

// The arena after a run that did everything right; tests then spoil it.
class ChecksTest : public ::testing::Test {
 protected:
  ChecksTest() : plan_(MakePlan()), arena_(static_cast<std::size_t>(plan_.layout.bytes)) {
    set_.kernel = MakeKernel();
    auto inputs = std::make_shared<CaseInputs>();
    inputs->regions = {Bytes(Values(1.0f)), {}};
    reference_.inputs = inputs;
    reference_.outputs.resize(2);
    reference_.outputs[1].bytes = Bytes(Values(1.5f));
    PrepareArena(plan_.layout, *inputs, kPoison, arena_);
    std::memcpy(Out(), reference_.outputs[1].bytes.data(), reference_.outputs[1].bytes.size());
  }

  static std::vector<float> Values(float scale) {
    std::vector<float> values;
    for (int i = 0; i < kCount; ++i) values.push_back(scale * static_cast<float>(i + 1));
    return values;
  }
  static std::vector<std::byte> Bytes(const std::vector<float>& values) {
    const auto* data = reinterpret_cast<const std::byte*>(values.data());
    return {data, data + values.size() * sizeof(float)};
  }

  std::byte* Out() { return arena_.data() + plan_.layout.regions[1].offset; }
  void SetOut(std::size_t i, float value) { std::memcpy(Out() + 4 * i, &value, sizeof value); }

  void GiveTwin() {
    Expected expected;
    for (const float value : Values(1.5f)) {
      expected.exact.push_back(value);
      expected.unit.push_back(1e-6 * value);
    }
    reference_.outputs[1].expected = expected;
  }

  Finding Run() {
    errors_ = {};
    for (const CheckRow& check : kChecks) {
      Finding finding = check.run(
          {set_, plan_, plan_, reference_, arena_, "of the workload", true, before_}, errors_);
      if (!finding.reason.empty()) return finding;
    }
    return {};
  }

  protocol::CandidateSet set_;
  CasePlan plan_;
  OriginalResult reference_;
  std::vector<std::byte> arena_;
  Errors errors_;
  Before before_;
};

TEST_F(ChecksTest, WhatIsRightPasses) { EXPECT_EQ(Run().reason, ""); }

TEST_F(ChecksTest, ANameIsAReasonOfTheFormat) {
  for (const CheckRow& check : kChecks) {
    EXPECT_THAT(records::kReasons, ::testing::Contains(std::string(check.name)));
  }
}

TEST_F(ChecksTest, AByteInAnyRedZoneIsSeen) {
  const Region &in = plan_.layout.regions[0], &out = plan_.layout.regions[1];
  for (const std::int64_t at : {std::int64_t{0}, in.offset - 1, in.offset + in.bytes(),
                                out.offset - 1, out.offset + out.bytes(), plan_.layout.bytes - 1}) {
    std::byte& byte = arena_[static_cast<std::size_t>(at)];
    byte = std::byte{0};
    EXPECT_EQ(Run().reason, "out_of_bounds") << at;
    byte = kRedByte;
  }
  EXPECT_EQ(Run().reason, "");
}

TEST_F(ChecksTest, AChangedInputIsSeen) {
  arena_[static_cast<std::size_t>(plan_.layout.regions[0].offset) + 4 * 7 + 2] ^= std::byte{1};
  const Finding finding = Run();
  EXPECT_EQ(finding.reason, "modified_input");
  EXPECT_THAT(finding.detail, HasSubstr("'in'[7] was changed: it was "));
  EXPECT_THAT(finding.detail, HasSubstr(" and is "));
}

TEST_F(ChecksTest, PoisonThatStaysIsSeen) {
  std::memset(Out() + 4 * 999, std::to_integer<int>(kPoison), 4);
  const Finding finding = Run();
  EXPECT_EQ(finding.reason, "unwritten_output");
  EXPECT_THAT(finding.detail, HasSubstr("'out'[999]"));
}

TEST_F(ChecksTest, WhatTheOriginalLeavesAloneMustStay) {
  reference_.outputs[1].unwritten.assign(kCount, false);
  reference_.outputs[1].unwritten[5] = true;
  std::memset(reference_.outputs[1].bytes.data() + 4 * 5, std::to_integer<int>(kPoison), 4);
  EXPECT_THAT(Run().detail, HasSubstr("leaves alone"));
  std::memset(Out() + 4 * 5, std::to_integer<int>(kPoison), 4);
  EXPECT_EQ(Run().reason, "");
}

TEST_F(ChecksTest, WithoutATwinBitsDecide) {
  SetOut(3, std::nextafter(6.0f, 7.0f));
  const Finding finding = Run();
  EXPECT_EQ(finding.reason, "wrong_values");
  EXPECT_THAT(finding.detail, HasSubstr("bitwise equality"));
  EXPECT_THAT(finding.detail, HasSubstr("'out'[3]"));
}

TEST_F(ChecksTest, WithATwinRoundingPassesAndLossesDoNot) {
  GiveTwin();
  SetOut(3, std::nextafter(6.0f, 7.0f));
  EXPECT_EQ(Run().reason, "");
  EXPECT_GT(errors_.candidate, 0);
  SetOut(3, 6.01f);
  EXPECT_EQ(Run().reason, "precision_loss");
  SetOut(3, 9999.0f);
  EXPECT_EQ(Run().reason, "wrong_values");
}

// An infinite error is no loss of precision, though it is small beside an infinite result.
TEST_F(ChecksTest, WhatIsNotFiniteAndShouldBeIsWrong) {
  GiveTwin();
  for (const float value : {INFINITY, -INFINITY, NAN}) {
    SetOut(3, value);
    EXPECT_EQ(Run().reason, "wrong_values") << value;
  }
  SetOut(3, 6.0f);
  const float infinite = INFINITY;
  std::memcpy(reference_.outputs[1].bytes.data() + 4 * 3, &infinite, sizeof infinite);
  EXPECT_EQ(Run().reason, "wrong_values");
  SetOut(3, -INFINITY);
  EXPECT_EQ(Run().reason, "wrong_values");
  SetOut(3, INFINITY);
  EXPECT_EQ(Run().reason, "");
}

// What lay there may be a result; it is not where values are wrong.
TEST_F(ChecksTest, WhatLayThereBeforeIsSeen) {
  const std::vector<std::vector<std::byte>> contents = {{}, Bytes(Values(2.5f))};
  before_.contents = &contents;
  EXPECT_EQ(Run().reason, "");
  SetOut(6, 2.5f * 7);
  EXPECT_EQ(Run().reason, "wrong_values");
  const Finding found =
      FindUntouched({set_, plan_, plan_, reference_, arena_, "of the workload", true, before_});
  EXPECT_EQ(found.reason, "unwritten_output");
  EXPECT_THAT(found.detail, HasSubstr("'out'[6] was not written: it holds 17.5"));
}

// A result that happens to be the poison's number is close to the original's.
TEST_F(ChecksTest, ARoundedResultMayBeThePoison) {
  float poison = 0;
  std::memset(&poison, std::to_integer<int>(kPoison), sizeof poison);
  const float near = std::nextafter(poison, 0.0f);
  std::memcpy(reference_.outputs[1].bytes.data() + 4 * 7, &near, sizeof near);
  GiveTwin();
  reference_.outputs[1].expected->exact[7] = near;
  SetOut(7, poison);
  EXPECT_EQ(Run().reason, "");
}

TEST_F(ChecksTest, AFreeOrderIsComparedAsASet) {
  plan_.layout.regions[1].order_free = true;
  SetOut(3, 1.5f * 9);
  SetOut(8, 1.5f * 4);
  EXPECT_EQ(Run().reason, "");
  SetOut(8, 1.5f * 5);
  const Finding finding = Run();
  EXPECT_EQ(finding.reason, "wrong_values");
  EXPECT_THAT(finding.detail, HasSubstr("order is free"));
}

// A value and where it was found: out of order, but still beside each other.
TEST_F(ChecksTest, WhatBelongsTogetherStaysSoInAFreeOrder) {
  // The only output twice, as two that are alike.
  plan_.layout.regions[1].order_free = true;
  Region second = plan_.layout.regions[1];
  second.name = "at";
  second.offset = static_cast<std::int64_t>(arena_.size());
  plan_.layout.regions.push_back(second);
  reference_.outputs.push_back(reference_.outputs[1]);
  const std::vector<std::byte>& bytes = reference_.outputs[1].bytes;
  arena_.insert(arena_.end(), bytes.begin(), bytes.end());
  const auto values = [&] {
    return CheckValues({set_, plan_, plan_, reference_, arena_, "of the workload", true, before_},
                       errors_);
  };
  EXPECT_EQ(values().reason, "");
  SetOut(3, 1.5f * 9);
  SetOut(8, 1.5f * 4);
  const Finding apart = values();
  EXPECT_EQ(apart.reason, "wrong_values");
  EXPECT_THAT(apart.detail, HasSubstr("'at'"));
}

TEST_F(ChecksTest, BitwiseIsStrongerThanATwin) {
  GiveTwin();
  set_.workload.tolerance.emplace();
  set_.workload.tolerance->bitwise = true;
  SetOut(3, std::nextafter(6.0f, 7.0f));
  EXPECT_EQ(Run().reason, "wrong_values");
}

TEST_F(ChecksTest, ADeclaredToleranceDecides) {
  set_.workload.tolerance.emplace();
  set_.workload.tolerance->relative = 1e-3;
  SetOut(999, 1500.0f * 1.0005f);
  EXPECT_EQ(Run().reason, "");
  SetOut(999, 1500.0f * 1.002f);
  EXPECT_EQ(Run().reason, "precision_loss");
  set_.workload.tolerance->absolute = 4;
  EXPECT_EQ(Run().reason, "");
}

// What lies in elements that the original leaves alone is none of its values.
TEST_F(ChecksTest, ATolerancesScaleIsThatOfWhatIsWritten) {
  std::vector<float> values(kCount, 1e-3f);
  reference_.outputs[1].unwritten.assign(kCount, false);
  float poison = 0;
  std::memset(&poison, std::to_integer<int>(kPoison), sizeof poison);
  for (std::size_t i = 500; i < values.size(); ++i) {
    values[i] = poison;
    reference_.outputs[1].unwritten[i] = true;
  }
  reference_.outputs[1].bytes = Bytes(values);
  std::memcpy(Out(), reference_.outputs[1].bytes.data(), reference_.outputs[1].bytes.size());
  set_.workload.tolerance.emplace();
  set_.workload.tolerance->relative = 1e-3;
  EXPECT_EQ(Run().reason, "");
  SetOut(7, 2e-3f);
  EXPECT_EQ(Run().reason, "wrong_values");
}

}  // namespace
}  // namespace cupilot::worker
