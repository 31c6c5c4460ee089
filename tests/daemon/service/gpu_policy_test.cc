// Each state of a GPU is a row: samples of the monitor one after another, and what is made of them.
#include "service/gpu_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace cupilot::service {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

GpuProcess Foreign(std::int64_t pid, int load = 0, bool graphics = false) {
  GpuProcess process;
  process.pid = pid;
  process.graphics = graphics;
  process.memory_bytes = kGiB;
  process.load = load;
  return process;
}
GpuProcess Own(std::int64_t pid, int load, std::int64_t memory = kGiB) {
  GpuProcess process = Foreign(pid, load);
  process.own = true;
  process.memory_bytes = memory;
  return process;
}

GpuSample Sample(std::vector<GpuProcess> processes = {}) {
  GpuSample sample;
  sample.uuid = "GPU-1";
  sample.name = "a GPU";
  sample.load = 0;
  for (const GpuProcess& process : processes) *sample.load += process.load.value_or(0);
  sample.memory_total = 80 * kGiB;
  sample.memory_used = static_cast<std::int64_t>(processes.size()) * kGiB;
  sample.throttle_reasons = 0x1;  // idle
  sample.temperature = 40;
  sample.temperature_limit = 90;
  sample.display = false;
  sample.processes = std::move(processes);
  return sample;
}

// A change of the plain sample.
template <class Change>
GpuSample With(GpuSample sample, Change change) {
  change(sample);
  return sample;
}

struct Step {
  int at = 0;  // seconds
  GpuSample sample;
  GpuState state = GpuState::kFree;
  std::string reason = {};  // a part of it
  bool ours = false;        // our worker has work there
};
struct Row {
  const char* name;
  std::vector<Step> steps;
  MachineSample machine = {};
  PolicySettings settings = {};
};

MachineSample Container() {
  MachineSample machine;
  machine.container = true;
  return machine;
}
MachineSample Wsl() {
  MachineSample machine;
  machine.wsl = true;
  return machine;
}
PolicySettings Waking() {
  PolicySettings settings;
  settings.wake = true;
  return settings;
}
PolicySettings Hurried() {
  PolicySettings settings;
  settings.quiet = settings.pause = {};
  return settings;
}

const auto kNoList = [](GpuSample& sample) { sample.processes.reset(); };
const auto kUnseen = [](GpuSample& sample) {
  for (GpuProcess& process : *sample.processes) process.seen = false;
};
const auto kNoLoads = [](GpuSample& sample) {
  for (GpuProcess& process : *sample.processes) process.load.reset();
};

std::vector<Row> Rows() {
  using S = GpuState;
  const auto loaded = [](int load) { return [load](GpuSample& sample) { sample.load = load; }; };
  return {
      {"quiet for long enough",
       {{0, Sample(), S::kQuiet, "used in 60 s"},
        {59, Sample(), S::kQuiet, "used in 1 s"},
        {60, Sample(), S::kFree}}},
      {"the time may be set", {{0, Sample(), S::kFree}}, {}, Hurried()},
      {"a desktop and an idle notebook hold contexts",
       {{0, Sample({Foreign(10, 8, true), Foreign(11, 0)}), S::kQuiet},
        {60, Sample({Foreign(10, 20, true), Foreign(11, 2)}), S::kFree}}},
      {"a game is no desktop",
       {{0, Sample({Foreign(10, 5, true)}), S::kQuiet},
        {60, Sample({Foreign(10, 90, true)}), S::kOthers, "process 10 uses 90 %"}}},
      {"an idle context begins to compute",
       {{0, Sample({Foreign(11)}), S::kQuiet},
        {60, Sample({Foreign(11)}), S::kFree},
        {61, Sample({Foreign(11, 60), Own(99, 35)}), S::kOthers, "process 11 uses 60 %", true},
        {62, Sample({Foreign(11)}), S::kQuiet, "others were at work"},
        {120, Sample({Foreign(11)}), S::kQuiet},
        {121, Sample({Foreign(11)}), S::kFree}}},
      {"a new compute context counts before it has computed",
       {{0, Sample(), S::kQuiet},
        {60, Sample(), S::kFree},
        {61, Sample({Foreign(12), Own(99, 90)}), S::kOthers, "process 12 has begun", true},
        {62, Sample({Foreign(12)}), S::kQuiet}}},
      {"a new window does not",
       {{0, Sample(), S::kFree}, {1, Sample({Foreign(12, 0, true)}), S::kFree}},
       {},
       Hurried()},
      {"our own load and memory are not others'",
       {{0, Sample({Own(99, 100, 79 * kGiB)}), S::kFree, "", true},
        {1,
         With(Sample({Own(99, 100, 79 * kGiB)}),
              [](GpuSample& sample) { sample.memory_used = 79 * kGiB; }),
         S::kFree, "", true}},
       {},
       Hurried()},
      {"another user's tuner is another",
       {{0, Sample({Foreign(13, 70)}), S::kOthers, "70 %"}},
       {},
       Hurried()},
      {"others hold the memory",
       {{0, With(Sample({Foreign(11)}), [](GpuSample& sample) { sample.memory_used = 70 * kGiB; }),
         S::kFull, "memory"}},
       {},
       Hurried()},
      {"slowed down by heat",
       {{0, With(Sample(), [](GpuSample& sample) { sample.throttle_reasons = 0x40; }), S::kHot},
        {1, With(Sample(), [](GpuSample& sample) { sample.temperature = 89; }), S::kHot, "heat"},
        {2, Sample(), S::kFree}},
       {},
       Hurried()},
      {"a power limit is no slowdown",
       {{0, With(Sample(), [](GpuSample& sample) { sample.throttle_reasons = 0x4; }), S::kFree}},
       {},
       Hurried()},
      {"a laptop's GPU sleeps",
       {{0, With(Sample(), [](GpuSample& sample) { sample.power = "suspended"; }), S::kAsleep,
         "wake_gpu"}},
       {},
       Hurried()},
      {"a laptop's GPU may be woken",
       {{0, With(Sample(), [](GpuSample& sample) { sample.power = "suspended"; }), S::kFree}},
       {},
       Waking()},
      {"the driver has lost it",
       {{0, With(Sample(), [](GpuSample& sample) { sample.problem = "GPU is lost"; }), S::kUnusable,
         "GPU is lost"}},
       {},
       Hurried()},
      {"a MIG instance of our own",
       {{0, With(Sample({Own(99, 0)}), [](GpuSample& sample) { sample.mig = true; }), S::kFree}},
       {},
       Hurried()},
      {"a MIG instance that another holds: nobody tells its load",
       {{0,
         With(With(Sample({Foreign(11)}), kNoLoads), [](GpuSample& sample) { sample.mig = true; }),
         S::kOthers, "MIG"}},
       {},
       Hurried()},
      {"a container that lists no process",
       {{0, With(With(Sample(), kNoList), loaded(50)), S::kOthers, "50 %"},
        {1, With(Sample(), kNoList), S::kFree, "container"},
        {2, With(With(Sample(), kNoList), loaded(99)), S::kFree, "container", true}},
       Container(),
       Hurried()},
      {"a container with the process numbers of another",
       {{0, With(Sample({Foreign(7, 80)}), kUnseen), S::kOthers, "80 %"},
        {1, With(Sample({Foreign(7)}), kUnseen), S::kFree, "not visible"}},
       Container(),
       Hurried()},
      {"WSL2 has no list of processes",
       {{0, With(With(Sample(), kNoList), loaded(50)), S::kOthers, "50 %"},
        {1, With(Sample(), kNoList), S::kFree, "WSL2"}},
       Wsl(),
       Hurried()},
      {"loads by process are not told",
       {{0, With(With(Sample({Foreign(11)}), kNoLoads), loaded(50)), S::kOthers, "50 %"},
        {1, With(Sample({Foreign(11)}), kNoLoads), S::kFree}},
       {},
       Hurried()},
  };
}

TEST(GpuPolicyTest, EachStateIsARow) {
  for (const Row& row : Rows()) {
    GpuPolicy policy(row.settings);
    for (const Step& step : row.steps) {
      const GpuJudgement judged =
          policy.Judge(step.sample, row.machine, seconds(step.at), step.ours);
      EXPECT_STREQ(Name(judged.state), Name(step.state))
          << row.name << " at " << step.at << " s: " << judged.reason;
      EXPECT_THAT(judged.reason, HasSubstr(step.reason)) << row.name;
      // What is not free says why.
      EXPECT_TRUE(judged.may_run() || !judged.reason.empty()) << row.name;
    }
  }
}

TEST(GpuPolicyTest, EachStateIsInSomeRow) {
  std::set<GpuState> seen;
  for (const Row& row : Rows()) {
    for (const Step& step : row.steps) seen.insert(step.state);
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(GpuState::kUnusable) + 1);
}

TEST(GpuPolicyTest, ADisplayIsTold) {
  GpuPolicy policy(Hurried());
  GpuSample sample = Sample();
  sample.display = true;
  EXPECT_TRUE(policy.Judge(sample, {}, seconds(0), false).display);
}

TEST(GpuPolicyTest, ASampleIsReadWithWhatIsMissing) {
  const auto json = records::ParseJson(R"({"gpus": [
    {"pci": "0000:01:00.0", "power": "suspended"},
    {"pci": "0000:41:00.0", "power": "active", "uuid": "GPU-2", "name": "x", "mig": false,
     "problem": "", "processes": [{"pid": 5, "graphics": true, "memory_bytes": null, "load": 3,
     "own": false, "seen": true}], "load": null, "memory_total": 100, "memory_used": 40,
     "throttle_reasons": 4, "temperature": 30, "temperature_limit": null, "display": true}],
    "reason": "", "container": true, "wsl": false})");
  const auto machine = ParseMachineSample(*json);
  ASSERT_TRUE(machine);
  ASSERT_EQ(machine->gpus.size(), 2u);
  EXPECT_TRUE(machine->container);
  EXPECT_EQ(machine->gpus[0].power, "suspended");
  EXPECT_FALSE(machine->gpus[0].processes);
  const GpuSample& gpu = machine->gpus[1];
  ASSERT_TRUE(gpu.processes);
  EXPECT_TRUE(gpu.processes->at(0).graphics);
  EXPECT_EQ(gpu.processes->at(0).load, 3);
  EXPECT_FALSE(gpu.processes->at(0).memory_bytes);
  EXPECT_FALSE(gpu.load);
  EXPECT_EQ(gpu.throttle_reasons, 4);
  EXPECT_EQ(gpu.display, true);
  EXPECT_FALSE(ParseMachineSample(records::Json::array()));
}

}  // namespace
}  // namespace cupilot::service
