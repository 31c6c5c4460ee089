// What a misbehaving worker costs: its own request, and nothing else.
#include "evaluate/process_workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "base/clock.h"
#include "log/log.h"
#include "loop/timer.h"
#include "tests/support/processes.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::evaluate {
namespace {

using records::Json;
using Reply = base::Result<Json>;

class ProcessWorkersTest : public ::testing::Test {
 protected:
  ProcessWorkersTest() : workers_(loop_, clock_, MakeSettings(CUPILOT_FAKE_WORKER)) {}
  ~ProcessWorkersTest() override { workers_.Stop(); }

  static ProcessWorkers::Settings MakeSettings(const std::string& program) {
    ProcessWorkers::Settings settings;
    settings.program = program;
    settings.nice = 0;
    return settings;
  }

  static WorkerCall MakeCall(WorkerKind kind, const std::string& op, Json params = Json::object()) {
    WorkerCall call;
    call.kind = kind;
    call.op = op;
    call.params = std::move(params);
    return call;
  }

  Reply Run(WorkerCall call) {
    std::optional<Reply> got;
    workers_.Call(std::move(call), [&got](Reply reply) { got = std::move(reply); });
    EXPECT_FALSE(got) << "called back inside Call()";
    while (!got) loop_.RunOnce(true);
    return std::move(*got);
  }

  // A good request of the same kind is served afterwards.
  void ExpectNextIsServed(WorkerKind kind) {
    const Reply next = Run(MakeCall(kind, "echo", {{"x", 1}}));
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_EQ((*next)["echo"]["x"], 1);
  }

  loop::Loop loop_;
  base::SystemClock clock_;
  ProcessWorkers workers_;
};

// A driver lists the GPUs that were there when it was opened.
TEST_F(ProcessWorkersTest, WhatHasListedGpusListsThemOnce) {
  for (int times = 1; times <= 2; ++times) {
    ASSERT_TRUE(Run(MakeCall(WorkerKind::kDevice, "list_devices")));
    EXPECT_EQ(workers_.counters().Of(WorkerKind::kDevice).started, times);
  }
}

// Each way in which a worker ends: discarded after its answer, killed at its limit, by itself, with
// an answer that is none, and when the device is taken from it.
TEST_F(ProcessWorkersTest, LeavesNoZombies) {
  for (int times = 0; times < 10; ++times) {
    ASSERT_TRUE(Run(MakeCall(WorkerKind::kDevice, "list_devices")));
    WorkerCall hang = MakeCall(WorkerKind::kBuild, "hang");
    hang.limit = std::chrono::milliseconds(1);
    EXPECT_FALSE(Run(std::move(hang)));
    EXPECT_FALSE(Run(MakeCall(WorkerKind::kSource, "crash")));
    EXPECT_FALSE(Run(MakeCall(WorkerKind::kSource, "garbage")));
    ExpectNextIsServed(WorkerKind::kDevice);
    workers_.Hold("host");
    workers_.Release("host");
  }
  bool late = false;
  loop::Timer limit(loop_);
  limit.Start(std::chrono::seconds(10), [&late] { late = true; });
  // None is left alive: one that is still ending would be a zombie a moment later.
  const auto children = [] {
    const auto processes = test::Processes();
    return std::count_if(processes.begin(), processes.end(),
                         [](const auto& process) { return process.second.parent == ::getpid(); });
  };
  while (!late && children() > 0) loop_.RunOnce(true);
  EXPECT_EQ(children(), 0);
}

// What a look at another kernel finds in the GPU's memory is of no use to it.
TEST_F(ProcessWorkersTest, LooksAtOneKernelFollowEachOther) {
  std::vector<std::string> order;
  for (const char* name : {"a1", "b1", "a2", "b2", "a3"}) {
    WorkerCall look = MakeCall(WorkerKind::kDevice, "echo");
    look.device = "cuda:0";
    look.line = name[0];
    look.place = name[1];
    workers_.Call(std::move(look), [&order, name](const Reply& reply) {
      EXPECT_TRUE(reply);
      order.emplace_back(name);
    });
  }
  while (order.size() < 5) loop_.RunOnce(true);
  EXPECT_THAT(order, ::testing::ElementsAre("a1", "a2", "a3", "b1", "b2"));
}

TEST_F(ProcessWorkersTest, StartsAProcessOnDemandAndKeepsIt) {
  EXPECT_EQ(workers_.counters().Of(WorkerKind::kSource).started, 0);
  ExpectNextIsServed(WorkerKind::kSource);
  ExpectNextIsServed(WorkerKind::kSource);
  const WorkerCounters counters = workers_.counters();
  EXPECT_EQ(counters.Of(WorkerKind::kSource).started, 1);
  EXPECT_EQ(counters.Of(WorkerKind::kSource).replies, 2);
  EXPECT_EQ(counters.Of(WorkerKind::kBuild).started, 0);
}

// Where the time of a run goes is asked of its log.
TEST_F(ProcessWorkersTest, EachRequestIsInALogOfDebugging) {
  const test::TemporaryFolder folder;
  for (const log::Level level : {log::Level::kInfo, log::Level::kDebug}) {
    log::Settings settings;
    settings.level = level;
    settings.file = folder / "log";
    ASSERT_TRUE(log::Configure(settings));
    Run(MakeCall(WorkerKind::kSource, "echo"));
    log::Flush();
    std::ifstream file(folder / "log");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (level == log::Level::kInfo) {
      EXPECT_EQ(text, "");
      continue;
    }
    EXPECT_THAT(text, ::testing::ContainsRegex("a request begins.*source.*echo"));
    EXPECT_THAT(text, ::testing::ContainsRegex("a request ends.*source.*echo.*seconds"));
  }
  log::Settings quiet;
  quiet.level = log::Level::kWarning;
  ASSERT_TRUE(log::Configure(quiet));
}

TEST_F(ProcessWorkersTest, AnErrorOfTheWorkerKeepsItsCode) {
  const Reply reply = Run(MakeCall(WorkerKind::kSource, "error"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, base::ErrorCode::kUnsupported);
  EXPECT_EQ(reply.error().message, "not this one");
  ExpectNextIsServed(WorkerKind::kSource);
  EXPECT_EQ(workers_.counters().Of(WorkerKind::kSource).started, 1);
}

TEST_F(ProcessWorkersTest, ACrashCostsOnlyItsRequest) {
  const Reply reply = Run(MakeCall(WorkerKind::kDevice, "crash"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, base::ErrorCode::kToolFailed);
  ExpectNextIsServed(WorkerKind::kDevice);
  EXPECT_EQ(workers_.counters().Of(WorkerKind::kDevice).crashed, 1);
  EXPECT_EQ(workers_.counters().Of(WorkerKind::kDevice).started, 2);
}

// A build that has taken all of the processor's time that its search allows.
TEST_F(ProcessWorkersTest, WhatEndsAtItsLimitOfTheProcessorIsNoCrash) {
  ASSERT_FALSE(Run(MakeCall(WorkerKind::kBuild, "stop")));
  EXPECT_EQ(workers_.counters().Of(WorkerKind::kBuild).crashed, 0);
  EXPECT_EQ(workers_.counters().Of(WorkerKind::kBuild).timed_out, 1);
  ExpectNextIsServed(WorkerKind::kBuild);
}

TEST_F(ProcessWorkersTest, AnExitWithZeroIsNoAnswer) {
  const Reply reply = Run(MakeCall(WorkerKind::kDevice, "exit"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, base::ErrorCode::kToolFailed);
  EXPECT_THAT(reply.error().message, ::testing::HasSubstr("exited with 0"));
  ExpectNextIsServed(WorkerKind::kDevice);
}

TEST_F(ProcessWorkersTest, AHangEndsAtItsLimit) {
  WorkerCall call = MakeCall(WorkerKind::kBuild, "hang");
  call.limit = std::chrono::milliseconds(50);
  const Reply reply = Run(std::move(call));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, base::ErrorCode::kTimeout);
  ExpectNextIsServed(WorkerKind::kBuild);
  EXPECT_EQ(workers_.counters().Of(WorkerKind::kBuild).timed_out, 1);
}

TEST_F(ProcessWorkersTest, WhatIsNoReplyCostsTheProcess) {
  for (const char* op : {"garbage", "other_id"}) {
    const Reply reply = Run(MakeCall(WorkerKind::kSource, op));
    ASSERT_FALSE(reply) << op;
    EXPECT_EQ(reply.error().code, base::ErrorCode::kToolFailed);
    ExpectNextIsServed(WorkerKind::kSource);
  }
  EXPECT_EQ(workers_.counters().Of(WorkerKind::kSource).garbled, 2);
  EXPECT_EQ(workers_.counters().Of(WorkerKind::kSource).started, 3);
}

TEST_F(ProcessWorkersTest, AMissingProgramIsTheEnvironmentsFault) {
  ProcessWorkers none(loop_, clock_, MakeSettings("/nonexistent/worker"));
  std::optional<Reply> got;
  none.Call(MakeCall(WorkerKind::kSource, "echo"), [&got](Reply reply) { got = std::move(reply); });
  while (!got) loop_.RunOnce(true);
  ASSERT_FALSE(*got);
  EXPECT_EQ(got->error().code, base::ErrorCode::kUnavailable);
}

// Requests write when they begin and end; a measurement's two lines must be neighbours.
TEST_F(ProcessWorkersTest, NothingRunsWhileSomethingIsMeasured) {
  const test::TemporaryFolder folder;
  const std::string log = folder / "log";
  int open = 0;
  const auto count = [&open](Reply reply) {
    EXPECT_TRUE(reply) << reply.error().message;
    --open;
  };
  for (int round = 0; round < 6; ++round) {
    for (const WorkerKind kind : {WorkerKind::kSource, WorkerKind::kBuild, WorkerKind::kBuild}) {
      workers_.Call(MakeCall(kind, "work", {{"log", log}, {"name", Name(kind)}}), count);
      ++open;
    }
    WorkerCall measure = MakeCall(WorkerKind::kDevice, "work", {{"log", log}, {"name", "measure"}});
    measure.exclusive = true;
    workers_.Call(std::move(measure), count);
    ++open;
  }
  while (open > 0) loop_.RunOnce(true);
  std::ifstream file(log);
  std::string line;
  bool measuring = false;
  int measured = 0;
  while (std::getline(file, line)) {
    if (measuring) {
      EXPECT_EQ(line, "end measure");
      ++measured;
    }
    measuring = line == "begin measure";
  }
  EXPECT_EQ(measured, 6);
  EXPECT_EQ(workers_.counters().exclusive_runs, 6);
}

TEST_F(ProcessWorkersTest, WhatIsForALaterRequestWaitsForNobody) {
  WorkerCall ahead = MakeCall(WorkerKind::kSource, "echo");
  ahead.only_if_free = true;
  ASSERT_TRUE(Run(ahead)) << "a process is started for it";
  std::vector<std::string> ended;
  const auto note = [&ended](const std::string& name) {
    return [&ended, name](const Reply& reply) {
      ended.push_back(name + (reply ? "" : " " + std::string(base::Name(reply.error().code))));
    };
  };
  workers_.Call(MakeCall(WorkerKind::kSource, "echo"), note("first"));
  workers_.Call(ahead, note("ahead"));
  workers_.Call(MakeCall(WorkerKind::kSource, "echo"), note("second"));
  while (ended.size() < 3) loop_.RunOnce(true);
  EXPECT_EQ(ended, (std::vector<std::string>{"ahead cancelled", "first", "second"}));
  workers_.Pause();
  EXPECT_FALSE(Run(ahead)) << "nothing begins in a pause";
  workers_.Resume();
  const WorkerCounters::PerKind counter = workers_.counters().Of(WorkerKind::kSource);
  EXPECT_EQ(counter.waiting, 0);
  EXPECT_EQ(counter.requests, 3);
}

TEST_F(ProcessWorkersTest, PauseTakesADeviceRequestBackAndResumeRunsItAgain) {
  const test::TemporaryFolder folder;
  const std::string flag = folder / "flag";
  std::optional<Reply> got;
  workers_.Call(MakeCall(WorkerKind::kDevice, "hang_once", {{"flag", flag}}),
                [&got](Reply reply) { got = std::move(reply); });
  while (!std::filesystem::exists(flag)) loop_.RunOnce(false);
  workers_.Pause();
  EXPECT_EQ(workers_.counters().Of(WorkerKind::kDevice).running, 0);
  EXPECT_EQ(workers_.counters().Of(WorkerKind::kDevice).waiting, 1);
  workers_.Resume();
  while (!got) loop_.RunOnce(true);
  EXPECT_TRUE(*got);
  EXPECT_EQ(workers_.counters().Of(WorkerKind::kDevice).started, 2);
}

TEST_F(ProcessWorkersTest, WhatIsTakenBackBeginsWithWhatItSaidBefore) {
  const test::TemporaryFolder folder;
  const std::string flag = folder / "flag";
  std::optional<Reply> got;
  workers_.Call(
      MakeCall(WorkerKind::kDevice, "hang_once", {{"flag", flag}, {"says", {{"steps", 3}}}}),
      [&got](Reply reply) { got = std::move(reply); });
  while (!std::filesystem::exists(flag)) loop_.RunOnce(false);
  loop_.RunOnce(false);  // what it said before is there to be read
  workers_.Pause();
  workers_.Resume();
  while (!got) loop_.RunOnce(true);
  ASSERT_TRUE(*got);
  EXPECT_EQ((**got)["echo"]["passed"], (Json{{"steps", 3}}));
}

TEST_F(ProcessWorkersTest, WhatAnswersQuestionsBeginsDuringAPause) {
  workers_.Pause();
  std::optional<Reply> got, held;
  workers_.Call(MakeCall(WorkerKind::kSource, "echo"), [&](Reply reply) { held = reply; });
  WorkerCall call = MakeCall(WorkerKind::kSource, "echo");
  call.answers_questions = true;
  workers_.Call(std::move(call), [&](Reply reply) { got = reply; });
  while (!got) loop_.RunOnce(true);
  EXPECT_TRUE(*got);
  EXPECT_FALSE(held);
  workers_.Resume();
  while (!held) loop_.RunOnce(true);
  EXPECT_TRUE(*held);
}

WorkerCall OnDevice(WorkerCall call, const std::string& device) {
  call.device = device;
  return call;
}

TEST_F(ProcessWorkersTest, AHeldDeviceIsFreeOfUsAndTheOthersGoOn) {
  const test::TemporaryFolder folder;
  const std::string flag = folder / "flag";
  std::optional<Reply> got;
  workers_.Call(OnDevice(MakeCall(WorkerKind::kDevice, "hang_once", {{"flag", flag}}), "cuda:0"),
                [&got](Reply reply) { got = std::move(reply); });
  while (!std::filesystem::exists(flag)) loop_.RunOnce(false);
  workers_.Hold("cuda:0");
  EXPECT_EQ(workers_.counters().Of(WorkerKind::kDevice).running, 0);
  EXPECT_EQ(workers_.counters().devices["cuda:0"].waiting, 1);
  EXPECT_GT(workers_.counters().devices["cuda:0"].spent["interrupted"].count(), 0);
  for (const char* device : {"cuda:1", "host"}) {
    EXPECT_TRUE(Run(OnDevice(MakeCall(WorkerKind::kDevice, "echo"), device))) << device;
  }
  EXPECT_FALSE(got);
  workers_.Release("cuda:0");
  while (!got) loop_.RunOnce(true);
  EXPECT_TRUE(*got);
  // An idle one's memory is freed too: the next request has a process of its own.
  const auto started = workers_.counters().Of(WorkerKind::kDevice).started;
  workers_.Hold("cuda:0");
  workers_.Release("cuda:0");
  EXPECT_TRUE(Run(OnDevice(MakeCall(WorkerKind::kDevice, "echo"), "cuda:0")));
  EXPECT_EQ(workers_.counters().Of(WorkerKind::kDevice).started, started + 1);
}

TEST_F(ProcessWorkersTest, SaysWhatTheTimeOfAGpuWentTo) {
  EXPECT_TRUE(Run(OnDevice(MakeCall(WorkerKind::kDevice, "echo"), "cuda:0")));
  EXPECT_TRUE(Run(OnDevice(MakeCall(WorkerKind::kBuild, "echo"), "cuda:0")));
  EXPECT_TRUE(Run(OnDevice(MakeCall(WorkerKind::kBuild, "echo"), "host")));
  const WorkerCounters counters = workers_.counters();
  ASSERT_EQ(counters.devices.size(), 1u);
  EXPECT_EQ(counters.devices.at("cuda:0").spent.count("proving"), 1u);
  EXPECT_EQ(counters.devices.at("cuda:0").spent.count("building"), 1u);
  EXPECT_EQ(counters.devices.at("cuda:0").spent.count("looking"), 0u);
}

TEST_F(ProcessWorkersTest, SaysWhatTheTimeOfAKernelWentTo) {
  const auto call = [](WorkerKind kind, const char* device) {
    WorkerCall one = OnDevice(MakeCall(kind, "echo"), device);
    one.kernel = "k";
    return one;
  };
  EXPECT_TRUE(workers_.SpentOn("k").empty());
  EXPECT_TRUE(Run(call(WorkerKind::kBuild, "cuda:0")));
  workers_.Hold("cuda:0");
  std::optional<Reply> got;
  workers_.Call(call(WorkerKind::kDevice, "cuda:0"),
                [&got](Reply reply) { got = std::move(reply); });
  // Of another kernel.
  EXPECT_TRUE(Run(MakeCall(WorkerKind::kSource, "echo")));
  EXPECT_EQ(workers_.SpentOn("k").count(kProving), 0u);
  EXPECT_GT(workers_.SpentOn("k")[kForOthers].count(), 0);
  workers_.Release("cuda:0");
  while (!got) loop_.RunOnce(true);
  Workers::Spent spent = workers_.SpentOn("k");
  EXPECT_GT(spent[kBuilding].count(), 0);
  EXPECT_GT(spent[kProving].count(), 0);
  EXPECT_EQ(spent.count(kLooking), 0u);
  EXPECT_TRUE(workers_.SpentOn("another").empty());
}

TEST_F(ProcessWorkersTest, OfWhatPassesNoProcessStays) {
  const auto started = [this] { return workers_.counters().Of(WorkerKind::kDevice).started; };
  const auto passing = [](const char* name) {
    WorkerCall call = OnDevice(MakeCall(WorkerKind::kDevice, "echo", {{"name", name}}), "cuda:0");
    call.lane = 5;
    call.passing = true;
    return call;
  };
  ASSERT_TRUE(Run(OnDevice(MakeCall(WorkerKind::kDevice, "echo"), "cuda:0")));
  ASSERT_EQ(started(), 1);
  int answered = 0;
  for (const char* one : {"a", "b"}) {
    workers_.Call(passing(one), [&answered](const Reply& reply) { answered += reply ? 1 : 0; });
  }
  while (answered < 2) loop_.RunOnce(true);
  EXPECT_EQ(started(), 2) << "the second waited for the first's";
  ASSERT_TRUE(Run(passing("c")));
  EXPECT_EQ(started(), 3);
  ASSERT_TRUE(Run(OnDevice(MakeCall(WorkerKind::kDevice, "echo"), "cuda:0")));
  EXPECT_EQ(started(), 3) << "those of other lanes stay";
}

TEST_F(ProcessWorkersTest, APauseEndsTheIdleWorkerOfAGpuAndKeepsTheHosts) {
  for (const char* device : {"cuda:0", "host"}) {
    ASSERT_TRUE(Run(OnDevice(MakeCall(WorkerKind::kDevice, "echo"), device)));
  }
  workers_.Pause();
  workers_.Resume();
  for (const char* device : {"cuda:0", "host"}) {
    const auto started = workers_.counters().Of(WorkerKind::kDevice).started;
    ASSERT_TRUE(Run(OnDevice(MakeCall(WorkerKind::kDevice, "echo"), device)));
    EXPECT_EQ(workers_.counters().Of(WorkerKind::kDevice).started - started,
              device == std::string("host") ? 0 : 1);
  }
}

// A worker also compares results while its device waits.
TEST_F(ProcessWorkersTest, AGpuIsBusyWhileItHasSomethingToRun) {
  const auto busy_after = [this](const Json& params) {
    const auto before = workers_.counters().devices["cuda:0"].busy;
    WorkerCall call = MakeCall(WorkerKind::kDevice, "work", params);
    call.device = "cuda:0";
    EXPECT_TRUE(Run(std::move(call)));
    return workers_.counters().devices["cuda:0"].busy - before;
  };
  using std::chrono::nanoseconds;
  EXPECT_EQ(busy_after({{"at_work", 0.0}}), nanoseconds(0));
  EXPECT_EQ(busy_after({{"at_work", 1e-9}}), nanoseconds(1));
  // Who says nothing, or more than it took, was at work all the time.
  EXPECT_GT(busy_after(Json::object()), nanoseconds(1));
  const auto much = busy_after({{"at_work", 1e6}});
  EXPECT_GT(much, nanoseconds(1));
  EXPECT_LT(much, std::chrono::hours(1));
}

TEST_F(ProcessWorkersTest, WaitingForATurnIsNoTimeOfTheWorkItself) {
  const auto spent_after = [this](const Json& params) {
    const auto before = workers_.SpentOn("k");
    WorkerCall call = MakeCall(WorkerKind::kDevice, "echo", params);
    call.device = "cuda:0";
    call.kernel = "k";
    EXPECT_TRUE(Run(std::move(call)));
    auto spent = workers_.SpentOn("k");
    for (const auto& [purpose, time] : before) spent[purpose] -= time;
    return spent;
  };
  using std::chrono::nanoseconds;
  auto spent = spent_after({{"waited", 1e-9}});
  EXPECT_EQ(spent[kForTurn], nanoseconds(1));
  EXPECT_GT(spent[kProving], nanoseconds(1));
  // No more than it took.
  spent = spent_after({{"waited", 1e6}});
  EXPECT_GT(spent[kForTurn], nanoseconds(1));
  EXPECT_LT(spent[kForTurn], std::chrono::hours(1));
  EXPECT_EQ(spent[kProving], nanoseconds(0));
  spent = spent_after(Json::object());
  EXPECT_EQ(spent[kForTurn], nanoseconds(0));
  EXPECT_GT(spent[kProving], nanoseconds(1));
}

// What the daemon does with an answer, and asks for because of it, no GPU waits for.
TEST_F(ProcessWorkersTest, AGpuGoesOnBeforeItsAnswerIsLookedAt) {
  std::int64_t before = 0;
  for (const char* device : {"cuda:0", "host"}) {
    std::optional<std::int64_t> begun;
    int answers = 0;
    for (int i = 0; i < 2; ++i) {
      WorkerCall call = MakeCall(WorkerKind::kDevice, "echo");
      call.device = device;
      workers_.Call(std::move(call), [&](Reply reply) {
        EXPECT_TRUE(reply);
        if (!begun) begun = workers_.counters().Of(WorkerKind::kDevice).requests - before;
        ++answers;
      });
    }
    while (answers < 2) loop_.RunOnce(true);
    // On the host a measurement that the answer asks for waits for whatever has begun.
    EXPECT_EQ(*begun, device == std::string("host") ? 1 : 2) << device;
    before = workers_.counters().Of(WorkerKind::kDevice).requests;
  }
}

TEST_F(ProcessWorkersTest, ProcessesEndAfterAnIdleWhile) {
  ProcessWorkers::Settings settings = MakeSettings(CUPILOT_FAKE_WORKER);
  // Due at once: it may come with the answer or in the next turn, so nothing is to be waited for.
  settings.idle = std::chrono::milliseconds(0);
  ProcessWorkers workers(loop_, clock_, settings);
  std::set<std::int64_t> pids;
  while (pids.size() < 2) {
    std::optional<Reply> got;
    workers.Call(MakeCall(WorkerKind::kSource, "echo"), [&got](Reply reply) { got = reply; });
    while (!got) loop_.RunOnce(true);
    ASSERT_TRUE(*got);
    pids.insert((**got)["pid"].get<std::int64_t>());
    loop_.RunOnce(false);
  }
  EXPECT_EQ(workers.counters().Of(WorkerKind::kSource).started, 2);
  workers.Stop();
}

TEST_F(ProcessWorkersTest, StopCancelsWhatIsOpenAndWhatComesLater) {
  std::vector<base::ErrorCode> codes;
  const auto keep = [&codes](Reply reply) {
    ASSERT_FALSE(reply);
    codes.push_back(reply.error().code);
  };
  workers_.Call(MakeCall(WorkerKind::kDevice, "hang"), keep);
  workers_.Call(MakeCall(WorkerKind::kDevice, "hang"), keep);
  while (workers_.counters().Of(WorkerKind::kDevice).running == 0) loop_.RunOnce(true);
  workers_.Stop();
  workers_.Call(MakeCall(WorkerKind::kDevice, "echo"), keep);
  while (codes.size() < 3) loop_.RunOnce(true);
  EXPECT_THAT(codes, ::testing::Each(base::ErrorCode::kCancelled));
}

}  // namespace
}  // namespace cupilot::evaluate
