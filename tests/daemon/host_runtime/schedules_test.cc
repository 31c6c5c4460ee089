// Schedules: a race shows in results that differ, the same ones each time; what has none is the
// same under all of them.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "tests/daemon/host_runtime/host_program.h"

namespace cupilot::test {
namespace {

using ::testing::HasSubstr;

class HostSchedules : public HostProgram {
 protected:
  static ProgramRun RunUnder(const std::string& schedule, const std::string& one_case) {
    const std::string program = Compile(SourceOf("schedules.cu"), {"-O1"});
    if (program.empty()) return {};
    RunOptions options;
    options.environment["CUPILOT_HOST_SCHEDULE"] = schedule;
    return RunProgram({program, one_case}, options);
  }
  static std::string Result(const std::string& schedule, const std::string& one_case) {
    const ProgramRun run = RunUnder(schedule, one_case);
    EXPECT_EQ(run.exit_code, 0) << one_case << " under " << schedule;
    EXPECT_EQ(run.errors, "") << one_case << " under " << schedule;
    return run.output;
  }
  static std::set<std::string> Results(const std::vector<std::string>& schedules,
                                       const std::string& one_case) {
    std::set<std::string> results;
    for (const std::string& schedule : schedules) results.insert(Result(schedule, one_case));
    return results;
  }
  // What a case has noted.
  static std::vector<int> Order(const std::string& schedule, const std::string& one_case) {
    std::istringstream text(Result(schedule, one_case));
    std::vector<int> order;
    for (int value = 0; text >> value;) order.push_back(value);
    return order;
  }
  // [first, last], also downwards.
  static void Append(std::vector<int>& values, int first, int last) {
    const int step = first <= last ? 1 : -1;
    for (int value = first; value != last + step; value += step) values.push_back(value);
  }
};

const std::vector<std::string> kThreadOrders = {"threads-forward", "threads-reversed"};
const std::vector<std::string> kBlockOrders = {"one-block", "blocks-reversed"};

TEST_F(HostSchedules, AMissingBarrierShows) {
  for (const char* name : {"racy_reverse", "racy_tail", "racy_second_use", "racy_broadcast",
                           "racy_across_warps", "racy_threads"}) {
    EXPECT_EQ(Results(kThreadOrders, name).size(), 2u) << name;
  }
}
TEST_F(HostSchedules, LanesThatOnlySeemToGoInStepShow) {
  EXPECT_EQ(Results(kThreadOrders, "racy_in_step").size(), 2u);
}
TEST_F(HostSchedules, ARaceBetweenBlocksShows) {
  for (const char* name : {"racy_blocks", "racy_writes_of_blocks"}) {
    EXPECT_EQ(Results(kBlockOrders, name).size(), 2u) << name;
  }
}
TEST_F(HostSchedules, WarpsShowWhatTheirLanesDoNot) {
  EXPECT_EQ(Results({"threads-forward", "warps-reversed"}, "racy_across_warps").size(), 2u);
}
TEST_F(HostSchedules, TheSameScheduleIsTheSameExecution) {
  for (const char* name : {"racy_reverse", "racy_tail", "racy_second_use", "racy_broadcast",
                           "racy_threads", "racy_in_step", "racy_blocks"}) {
    for (const char* schedule : {"threads-reversed", "warps-reversed", "blocks-shuffled=3"}) {
      EXPECT_EQ(Result(schedule, name), Result(schedule, name)) << name << " under " << schedule;
    }
  }
}
TEST_F(HostSchedules, WithoutARaceAllAreTheSame) {
  for (const char* name :
       {"good_reverse", "good_tail", "good_second_use", "good_broadcast", "good_blocks",
        "good_threads", "good_in_step", "good_across_warps", "good_histogram", "good_last_block"}) {
    const std::set<std::string> results =
        Results({"", "one-block", "threads-forward", "threads-reversed", "warps-reversed",
                 "blocks-reversed", "blocks-shuffled=1", "blocks-shuffled=2 warps-reversed",
                 "threads-reversed blocks-reversed"},
                name);
    EXPECT_EQ(results.size(), 1u) << name;
    EXPECT_THAT(*results.begin(), HasSubstr("cudaSuccess"));
  }
}

TEST_F(HostSchedules, BlocksComeInTheirOrder) {
  EXPECT_EQ(Order("one-block", "order_of_blocks"),
            (std::vector<int>{0, 1000, 2000, 3000, 4000, 5000, 6000}));
  EXPECT_EQ(Order("blocks-reversed", "order_of_blocks"),
            (std::vector<int>{6000, 5000, 4000, 3000, 2000, 1000, 0}));
  std::set<std::vector<int>> orders;
  for (int seed = 0; seed < 20; ++seed) {
    std::vector<int> order = Order("blocks-shuffled=" + std::to_string(seed), "order_of_blocks");
    orders.insert(order);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, (std::vector<int>{0, 1000, 2000, 3000, 4000, 5000, 6000}));
  }
  EXPECT_GT(orders.size(), 5u);
}
TEST_F(HostSchedules, ThreadsThatDoNotWaitComeInTheirOrder) {
  std::vector<int> forward, reversed;
  Append(forward, 0, 7);
  Append(forward, 1000, 1007);
  Append(reversed, 7, 0);
  Append(reversed, 1007, 1000);
  EXPECT_EQ(Order("threads-forward", "order_of_threads"), forward);
  EXPECT_EQ(Order("threads-reversed", "order_of_threads"), reversed);
  std::vector<int> warps;
  Append(warps, 64, 69);
  Append(warps, 32, 63);
  Append(warps, 0, 31);
  EXPECT_EQ(Order("warps-reversed", "order_of_warps"), warps);
}
TEST_F(HostSchedules, ThreadsThatWaitBeginAnewBehindEachBarrier) {
  EXPECT_EQ(Order("threads-forward", "order_of_waiting_threads"),
            (std::vector<int>{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(Order("threads-reversed", "order_of_waiting_threads"),
            (std::vector<int>{3, 2, 1, 0, 3, 2, 1, 0}));
  std::vector<int> warps;
  for (int round = 0; round < 2; ++round) {
    Append(warps, 64, 69);
    Append(warps, 32, 63);
    Append(warps, 0, 31);
  }
  EXPECT_EQ(Order("warps-reversed", "order_of_waiting_warps"), warps);
}
TEST_F(HostSchedules, TextsAreReadOrRefused) {
  EXPECT_THAT(Result("", "texts"), HasSubstr("all cases hold"));
  const ProgramRun run = RunUnder("somehow", "order_of_blocks");
  EXPECT_NE(run.exit_code, 0);
  EXPECT_THAT(run.errors, HasSubstr("CUPILOT_HOST_SCHEDULE is not understood"));
}

}  // namespace
}  // namespace cupilot::test
