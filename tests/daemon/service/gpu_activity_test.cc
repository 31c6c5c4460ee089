// What others do on a GPU stops the work there, and only there.
#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "protocol/worker_messages.h"
#include "tests/daemon/service/gpu_fixture.h"
#include "tests/support/make_records.h"

namespace cupilot::service {
namespace {

using records::Json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class GpuActivityTest : public GpuTest {
 protected:
  GpuActivityTest() {
    settings_.gpu.quiet = settings_.gpu.pause = {};
    workers_.On("sample", [this](const Json&) -> base::Result<Json> {
      Json gpus = Json::array();
      for (const Json& gpu : gpus_) {
        const std::string uuid = gpu["uuid"];
        Json processes = Json::array();
        if (foreign_load_.count(uuid) != 0) {
          processes.push_back({{"pid", 7}, {"own", false}, {"load", foreign_load_[uuid]}});
        }
        gpus.push_back({{"uuid", uuid},
                        {"power", power_},
                        {"processes", processes},
                        {"display", display_},
                        {"load", load_}});
      }
      return Json{{"gpus", gpus}, {"reason", ""}};
    });
  }

  std::map<std::string, int> foreign_load_;  // by uuid
  std::string power_ = "active";
  bool display_ = false;
  Json load_ = nullptr;
};

TEST_F(GpuActivityTest, BusyIsWhatTheDriverSays) {
  load_ = 20;
  Prepare("kernel one a\n");
  Start();
  WorkUntil([&] { return evaluator_.open() > 0; });
  const auto look = [&](int times) {
    for (const int until = workers_.Count("sample") + times; workers_.Count("sample") < until;) {
      loop_->RunOnce(true);
      clock_.Advance(std::chrono::seconds(1));
      workers_.RunAll();
    }
  };
  look(1);
  look(2);
  const double share = StatusDocument(*service_)["devices"][1]["busy_share"];
  EXPECT_NEAR(share, 0.2, 1e-6);
  load_ = 80;
  look(6);
  const Json gpu = StatusDocument(*service_)["devices"][1];
  EXPECT_GT(gpu["busy_share"], 0.3);
  EXPECT_LT(gpu["busy_share"], 0.8);
  EXPECT_NEAR(gpu["busy_seconds"].get<double>(),
              gpu["busy_share"].get<double>() * gpu["tuning_seconds"].get<double>(), 1e-6);
  EXPECT_TRUE(gpu["left_seconds"].empty()) << gpu["left_seconds"];
}

TEST_F(GpuActivityTest, SaysHowLongAGpuWasLeftToOthers) {
  foreign_load_["GPU-cuda:0"] = 80;
  Prepare("kernel one a\n");
  Start();
  Drain();
  const auto left = [&] {
    const Json gpu = StatusDocument(*service_)["devices"][1];
    return gpu["left_seconds"].value("others", 0.0);
  };
  for (const int until = workers_.Count("sample") + 3; workers_.Count("sample") < until;) {
    loop_->RunOnce(true);
    clock_.Advance(std::chrono::seconds(2));
    workers_.RunAll();
  }
  EXPECT_GE(left(), 4.0);
}

TEST_F(GpuActivityTest, AGpuInUseIsLeftAlone) {
  foreign_load_["GPU-cuda:0"] = 80;
  Prepare("kernel one a\n");
  Start();
  Drain();
  EXPECT_THAT(workers_.held(), Contains("cuda:0"));
  EXPECT_THAT(evaluator_.evaluated(), IsEmpty());
  EXPECT_EQ(IdleReason(), "gpu in use");
  const Json status = StatusDocument(*service_);
  EXPECT_EQ(status["state"], "paused");
  EXPECT_EQ(status["devices"][1]["state"], "others");
  EXPECT_THAT(status["devices"][1]["why"].get<std::string>(), HasSubstr("80 %"));
  foreign_load_.clear();
  DrainUntil([&] { return IdleReason() == "done"; });
  EXPECT_THAT(workers_.held(), Not(Contains("cuda:0")));
  EXPECT_THAT(evaluator_.evaluated(), Not(IsEmpty()));
}

TEST_F(GpuActivityTest, WhoComesGetsItAtOnceAndTheTimeIsNotOurs) {
  settings_.seconds_per_kernel = 90;
  Prepare("kernel one a\n");
  Start();
  while (evaluator_.open() == 0) {
    workers_.RunOne();
    loop_->RunOnce(false);
  }
  EXPECT_THAT(workers_.held(), IsEmpty());
  foreign_load_["GPU-cuda:0"] = 80;
  // The next sample, and no evaluation that ends by itself.
  while (workers_.held().empty()) {
    loop_->RunOnce(true);
    workers_.RunAll();
  }
  EXPECT_THAT(workers_.held(), Contains("cuda:0"));
  clock_.Advance(std::chrono::minutes(30));
  foreign_load_.clear();
  DrainUntil([&] { return IdleReason() == "done"; });
  EXPECT_THAT(Row("one")["tried"].get<int>(), ::testing::Ge(2));
}

// Two kernels of many candidates, one at a time: after the first one's turn it is between steps,
// with evaluations under way, and the second one is busy.
class DroppedTest : public GpuActivityTest {
 protected:
  DroppedTest() {
    settings_.parallel = 1;
    judge_ = [this](const evaluate::EvaluateRequest& request) {
      clock_.Advance(std::chrono::seconds(1));
      return Judge(request, 1.5);
    };
    workers_.On("propose", [](const Json&) -> base::Result<Json> {
      protocol::Proposal proposal;
      proposal.technique = "launch_bounds";
      proposal.applies = true;
      for (int i = 0; i < 60; ++i) proposal.parameters.push_back({{"threads", i}});
      protocol::ProposeReply reply;
      reply.proposals = {proposal};
      return protocol::ToJson(reply);
    });
    Prepare("kernel one a\nkernel two b\n");
    Start();
    WorkUntil([&] { return evaluator_.open() > 0; });
    // Both have had their first pass, which is one candidate; then the turn of one has ended.
    std::set<std::string> begun;
    const auto answer = [&] {
      ASSERT_TRUE(evaluator_.AnswerOne());
      loop_->RunOnce(false);
      workers_.RunAll();
      const Json status = StatusDocument(*service_);
      for (const Json& now : status["now"]) begun.insert(now["kernel"]);
    };
    while (begun.size() < 2 && !HasFatalFailure()) answer();
    begun.clear();
    while (begun.size() < 2 && !HasFatalFailure()) answer();
    workers_.RunAll();
    EXPECT_EQ(StatusDocument(*service_)["now"].size(), 1u);
    std::filesystem::remove_all(project_.build_folder());
    WorkUntil([&] { return service_->projects().empty(); });
  }
};

TEST_F(DroppedTest, WhatIsUnderWayEndsAndNothingElseBegins) {
  EXPECT_EQ(StatusDocument(*service_)["now"].size(), 2u);
  const std::size_t evaluated = evaluator_.evaluated().size();
  const int rewrites = workers_.Count("rewrite");
  EXPECT_GT(evaluator_.open(), 0u);
  Drain();
  EXPECT_EQ(evaluator_.evaluated().size(), evaluated);
  EXPECT_EQ(workers_.Count("rewrite"), rewrites);
  EXPECT_THAT(StatusDocument(*service_)["now"], IsEmpty());
  EXPECT_EQ(StatusDocument(*service_)["devices"][1]["state"], "not needed");
}

TEST_F(DroppedTest, WhoComesStillGetsTheGpu) {
  ASSERT_GT(evaluator_.open(), 0u);
  ASSERT_THAT(workers_.held(), IsEmpty());
  foreign_load_["GPU-cuda:0"] = 80;
  WorkUntil([&] { return !workers_.held().empty(); });
  EXPECT_THAT(workers_.held(), Contains("cuda:0"));
}

TEST_F(GpuActivityTest, OtherGpusGoOn) {
  Have({Gpu("cuda:0", "NVIDIA H200"), Gpu("cuda:1", "NVIDIA H100 PCIe")});
  foreign_load_["GPU-cuda:0"] = 80;
  Prepare("kernel one a\n");
  Start();
  DrainUntil([&] { return IdleReason() == "gpu in use"; });
  EXPECT_THAT(devices_, ::testing::AllOf(Not(IsEmpty()), ::testing::Each("cuda:1")));
}

TEST_F(GpuActivityTest, ASleepingGpuIsNotAsked) {
  power_ = "suspended";
  Prepare("kernel one a\n");
  Start();
  Drain();
  EXPECT_EQ(workers_.Count("list_devices"), 0);
  EXPECT_THAT(Row("one")["why"].get<std::string>(), HasSubstr("sleeps"));
}

TEST_F(GpuActivityTest, WithoutWorkNobodyLooks) {
  Prepare("kernel one a\n");
  Start();
  DrainUntil([&] { return IdleReason() == "done"; });
  const int samples = workers_.Count("sample");
  EXPECT_GT(samples, 0);
  DrainEvents();
  EXPECT_LE(workers_.Count("sample"), samples + 1);
  EXPECT_EQ(StatusDocument(*service_)["devices"][1]["state"], "not needed");
}

class LongCaseTest : public GpuActivityTest {
 protected:
  LongCaseTest() {
    judge_ = [this](const evaluate::EvaluateRequest& request) {
      records::Evaluation evaluation = Judge(request, 1.5);
      evaluation.cases.clear();
      std::string names;
      for (const records::Case& one : request.workload.cases) {
        records::CaseResult result = test::MakeCaseResult(one.name, 1.5);
        if (one.name == "only") result.original_us = 80000;
        evaluation.cases.push_back(result);
        names += one.name + " ";
      }
      ran_.push_back(names);
      return evaluation;
    };
    Prepare("kernel one a smaller=little\n");
  }
  std::vector<std::string> ran_;  // the cases of each evaluation
};

TEST_F(LongCaseTest, BesideADisplayTheKernelIsTunedOnItsSmallerCases) {
  display_ = true;
  Start();
  DrainUntil([&] { return IdleReason() == "done"; });
  ASSERT_GE(ran_.size(), 2u);
  const auto full = std::count(ran_.begin(), ran_.end(), "only little ");
  EXPECT_GE(full, 1) << "until it was known";
  EXPECT_EQ(ran_.back(), "little ");
  EXPECT_EQ(Row("one")["state"], "done");
  EXPECT_EQ(Row("one")["published"], true);
  EXPECT_THAT(Explain("one")["warnings"].dump(), HasSubstr("tuned without 'only'"));
  // The next daemon does not run it again.
  const auto published = project_.PublishedVariants();
  const std::size_t ran = ran_.size();
  Restart();
  DrainUntil([&] { return IdleReason() == "done"; });
  EXPECT_EQ(ran_.size(), ran);
  EXPECT_EQ(project_.PublishedVariants(), published);
}

TEST_F(LongCaseTest, WithoutADisplayAllCasesAreRun) {
  Start();
  DrainUntil([&] { return IdleReason() == "done"; });
  EXPECT_THAT(ran_, ::testing::AllOf(Not(IsEmpty()), ::testing::Each("only little ")));
  EXPECT_EQ(Explain("one")["warnings"].dump().find("tuned without"), std::string::npos);
}

TEST_F(GpuActivityTest, ALongKernelIsNotTunedBesideADisplay) {
  display_ = true;
  judge_ = [this](const evaluate::EvaluateRequest& request) {
    records::Evaluation evaluation = Judge(request, 0.9);
    evaluation.cases[0].original_us = 80000;
    return evaluation;
  };
  Prepare("kernel one a\n");
  Start();
  DrainUntil([&] { return IdleReason() == "done"; });
  EXPECT_EQ(Row("one")["state"], "declined");
  EXPECT_THAT(Row("one")["why"].get<std::string>(), HasSubstr("a display is attached"));
}

}  // namespace
}  // namespace cupilot::service
