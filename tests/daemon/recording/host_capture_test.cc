// A program for the host device, captured by its own runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "recording/plan.h"
#include "tests/support/recording_chunks.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::test {
namespace {

using capture::ParameterKind;
using capture::Plan;
using ::testing::HasSubstr;

constexpr std::uint32_t kGridBytes = 16;

capture::PlannedKernel Planned(const std::string& name,
                               std::vector<capture::PlannedParameter> parameters) {
  return {"unknown", name, std::move(parameters), {}};
}

Plan PlanOf(const std::string& folder) {
  Plan plan;
  plan.folder = folder;
  plan.kernels = {Planned("flow::advance",
                          {{ParameterKind::kStructure, kGridBytes}, {ParameterKind::kScalar, 4}}),
                  Planned("add", {{ParameterKind::kPointer, 8},
                                  {ParameterKind::kPointer, 8},
                                  {ParameterKind::kScalar, 4}}),
                  Planned("count", {{ParameterKind::kPointer, 8}}),
                  Planned("everywhere", {{ParameterKind::kPointer, 8}}),
                  Planned("looks", {{ParameterKind::kPointer, 8}, {ParameterKind::kPointer, 8}}),
                  Planned("fails", {{ParameterKind::kPointer, 8}})};
  plan.kernels[0].globals = {{"weights", true, 16}, {"hits", false, 4}};
  return plan;
}

class HostCapture : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    const std::string source =
        std::string(CUPILOT_TEST_SOURCE_DIR) + "/tests/daemon/recording/programs/small_program.cu";
    const ProgramRun run =
        RunProgram({CUPILOT_HOST_NVCC, "-O1", "-std=c++17", source, "-o", *folder_ / "program"});
    ASSERT_EQ(run.exit_code, 0) << run.errors;
  }
  static void TearDownTestSuite() { delete folder_; }

  ProgramRun Run(const std::string& end, const std::string& plan) {
    RunOptions options;
    options.environment["CUPILOT_CAPTURE"] = plan;
    return RunProgram({*folder_ / "program", end}, options);
  }
  // Captured; by what their process was: that of the parent has the launches of `advance`.
  void Capture(const std::string& end) {
    captured_ = Run(end, recordings_.Write("plan", PrintPlan(PlanOf(out_.path()))));
    for (const std::string& path : RecordingsIn(out_.path())) {
      RecordingChunks read = ReadRecording(path);
      const bool is_parent = read.Counter("flow::advance", 2) != nullptr;
      (is_parent ? parent_ : child_) = std::move(read);
    }
  }

  static inline TemporaryFolder* folder_ = nullptr;
  TemporaryFolder recordings_;
  TemporaryFolder out_;
  ProgramRun captured_;
  RecordingChunks parent_;
  RecordingChunks child_;
};

TEST_F(HostCapture, TheProgramDoesTheSame) {
  const ProgramRun plain = Run("", "");
  EXPECT_EQ(plain.exit_code, 0) << plain.errors;
  EXPECT_THAT(plain.output, HasSubstr("error 9\n"));
  Capture("");
  EXPECT_EQ(captured_.exit_code, 0);
  EXPECT_EQ(captured_.output, plain.output);
  EXPECT_EQ(captured_.errors, "");
}

TEST_F(HostCapture, CountsAndTimesEveryLaunch) {
  Capture("");
  EXPECT_TRUE(parent_.ended);
  EXPECT_EQ(parent_.device, 0u);
  EXPECT_EQ(parent_.seen, 20u + 5 + 2 + 2 + 1 + 100 + 1);
  ASSERT_NE(parent_.Counter("add", 4), nullptr);
  EXPECT_EQ(parent_.Counter("add", 4)->calls, 100u);
  EXPECT_EQ(parent_.Counter("add", 4)->timed, 100u);
  EXPECT_GT(parent_.Counter("add", 4)->microseconds, 0);
  EXPECT_EQ(parent_.Counter("add", 1)->calls, 2u);
  EXPECT_EQ(parent_.Counter("add", 3)->calls, 1u);
  EXPECT_EQ(parent_.Counter("add", 3)->block[0], 64u);
  std::vector<std::uint64_t> advances;  // of one geometry, and of two sizes
  for (const auto& [id, counter] : parent_.counters) {
    if (parent_.kernels.at(counter.kernel).name == "flow::advance")
      advances.push_back(counter.calls);
  }
  EXPECT_THAT(advances, ::testing::UnorderedElementsAre(20, 5));
}

TEST_F(HostCapture, RecordsWhatALaunchReadsAndWrites) {
  Capture("");
  EXPECT_EQ(parent_.notes.size(), 0u);
  EXPECT_EQ(parent_.LaunchesOf("flow::advance").size(), 6u);
  const RecordedLaunch first = parent_.LaunchesOf("flow::advance").at(0);
  ASSERT_EQ(first.regions.size(), 1u);
  EXPECT_EQ(first.regions[0].kind, capture::RegionKind::kManaged);
  EXPECT_EQ(first.max_dynamic_shared, 48u * 1024);
  ASSERT_EQ(first.globals.size(), 2u);
  const std::string before = parent_.blobs.at(first.regions[0].before);
  const std::string after = parent_.blobs.at(first.regions[0].after);
  const std::string weights = parent_.blobs.at(first.globals[0].before);
  ASSERT_EQ(before.size(), 128 * sizeof(float));
  ASSERT_EQ(weights.size(), 4 * sizeof(float));
  for (std::size_t i = 0; i < 128; ++i) {
    float cell, weight, result;
    std::memcpy(&cell, before.data() + 4 * i, 4);
    std::memcpy(&weight, weights.data() + i % 4 * 4, 4);
    std::memcpy(&result, after.data() + 4 * i, 4);
    ASSERT_EQ(cell, static_cast<float>(i));
    ASSERT_EQ(result, cell * weight + 0.5f) << i;
  }
  int hits = -1;
  std::memcpy(&hits, parent_.blobs.at(first.globals[1].before).data(), 4);
  EXPECT_EQ(hits, 0);
  std::memcpy(&hits, parent_.blobs.at(first.globals[1].after).data(), 4);
  EXPECT_EQ(hits, 128);
}

TEST_F(HostCapture, KnowsPinnedAndRegisteredMemoryAndVariables) {
  Capture("");
  for (const RecordedLaunch& launch : parent_.LaunchesOf("add")) {
    if (parent_.counters.at(launch.counter).grid[0] != 3) continue;
    ASSERT_EQ(launch.regions.size(), 2u);
    EXPECT_EQ(launch.regions[1].kind, capture::RegionKind::kHost);
    EXPECT_EQ(launch.regions[0].before, launch.regions[0].after);
  }
  const auto counts = parent_.LaunchesOf("count");
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts[0].regions.at(0).bytes, 32u);
  EXPECT_EQ(counts[0].regions.at(0).kind, capture::RegionKind::kHost);
  EXPECT_EQ(counts[0].pointers.at(0).offset, 12u);
  EXPECT_EQ(counts[1].regions.at(0).bytes, 4u);
  EXPECT_EQ(counts[1].regions.at(0).kind, capture::RegionKind::kDevice);
  const auto cooperative = parent_.LaunchesOf("everywhere");
  ASSERT_EQ(cooperative.size(), 1u);
  EXPECT_TRUE(cooperative[0].cooperative);
  EXPECT_FALSE(counts[0].cooperative);
}

TEST_F(HostCapture, OtherThreadsWaitWhileALaunchIsRecorded) {
  Capture("looks");
  const auto launches = parent_.LaunchesOf("looks");
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(parent_.blobs.at(launches[0].regions.at(1).after), std::string(4, '\0'));
}

// Each clears its own memory before a launch, which adds to it what nobody else writes.
TEST_F(HostCapture, EachOfTwoThreadsIsRecordedAsItIs) {
  Capture("");
  int found = 0;
  for (const RecordedLaunch& launch : parent_.LaunchesOf("add")) {
    if (parent_.counters.at(launch.counter).grid[0] != 4) continue;
    ++found;
    EXPECT_EQ(parent_.blobs.at(launch.regions.at(1).before), std::string(1024, '\0'));
  }
  EXPECT_EQ(found, 3);
}

TEST_F(HostCapture, AForkedChildHasARecordingOfItsOwn) {
  Capture("child");
  EXPECT_EQ(RecordingsIn(out_.path()).size(), 2u);
  EXPECT_TRUE(child_.ended);
  EXPECT_EQ(child_.seen, 3u);
  EXPECT_EQ(child_.LaunchesOf("add").size(), 3u);
  EXPECT_TRUE(parent_.ended);
  EXPECT_EQ(parent_.Counter("add", 1)->calls, 2u);
}

TEST_F(HostCapture, TheEndIsWrittenHoweverTheProgramExits) {
  Capture("thread");
  EXPECT_TRUE(parent_.ended);
}

TEST_F(HostCapture, LaunchesOfTheVeryLastDestructorsCount) {
  Capture("late");
  EXPECT_TRUE(parent_.ended);
  ASSERT_NE(parent_.Counter("count", 7), nullptr);
}

TEST_F(HostCapture, AProgramThatLeavesQuicklyLeavesWhatWasRecorded) {
  Capture("quick");
  EXPECT_FALSE(parent_.ended);
  EXPECT_EQ(parent_.LaunchesOf("flow::advance").size(), 6u);
}

TEST_F(HostCapture, ALaunchThatFailsIsCountedAndNotRecorded) {
  Capture("fails");
  ASSERT_NE(parent_.Counter("fails", 1), nullptr);
  EXPECT_EQ(parent_.LaunchesOf("fails").size(), 0u);
}

TEST_F(HostCapture, APlanThatCannotBeReadIsOneLineAndTheProgramRunsOn) {
  const ProgramRun plain = Run("", "");
  const ProgramRun bad = Run("", recordings_.Write("bad", "nothing\n"));
  EXPECT_EQ(bad.exit_code, 0);
  EXPECT_EQ(bad.output, plain.output);
  EXPECT_THAT(bad.errors, HasSubstr("bad: line 1: not a plan"));
  EXPECT_EQ(std::count(bad.errors.begin(), bad.errors.end(), '\n'), 1);
  const ProgramRun missing = Run("", recordings_ / "none");
  EXPECT_EQ(missing.output, plain.output);
  EXPECT_THAT(missing.errors, HasSubstr("none: cannot be opened"));
  const ProgramRun full = Run("", recordings_.Write("nowhere", PrintPlan(PlanOf("/nonexistent"))));
  EXPECT_EQ(full.output, plain.output);
  EXPECT_THAT(full.errors, HasSubstr("no file can be written to /nonexistent"));
}

}  // namespace
}  // namespace cupilot::test
