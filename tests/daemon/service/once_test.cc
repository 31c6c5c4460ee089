// One tune or evaluate without the service.
#include "service/once.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/processors.h"
#include "cache/memory_store.h"
#include "tests/support/fake_evaluator.h"
#include "tests/support/fake_project.h"
#include "tests/support/make_records.h"
#include "tests/support/manual_clock.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::service {
namespace {

using records::Json;
using ::testing::HasSubstr;

class OnceTest : public ::testing::Test {
 protected:
  OnceTest()
      : evaluator_([this](const evaluate::EvaluateRequest& request) {
          clock_.Advance(each_);
          return test::MakeEvaluation(request, 1.5);
        }),
        catalog_(store_),
        once_(loop_, {workers_, evaluator_, catalog_, clock_, pool_},
              [this](const Json& line) { lines_.push_back(line); }) {
    test::AnswerForFakeProjects(workers_);
    source_ = folder_.Write("main.cu", "kernel one a\n");
    folder_.Write("main.h", "a header\n");
  }

  // The final line.
  Json Run(const std::string& verb, Json params) {
    params["file"] = source_;
    params["kernel"] = params.value("kernel", "one");
    params["workload"] = records::ToJson(test::MakeSmallWorkload("one"));
    once_.Start(Json{{"verb", verb}, {"params", params}}.dump());
    for (int quiet = 0; quiet < 3; ++quiet) {
      loop_.RunOnce(false);
      while (workers_.RunOne() || evaluator_.AnswerOne()) quiet = 0;
    }
    return lines_.empty() ? Json::object() : lines_.back();
  }

  test::TemporaryFolder folder_;
  loop::Loop loop_;
  test::ManualClock clock_;
  cache::MemoryStore store_;
  test::FakeWorkers workers_;
  test::FakeEvaluator evaluator_;
  Catalog catalog_;
  Pool pool_{store_, 100};
  std::vector<Json> lines_;
  std::chrono::seconds each_{1};
  std::string source_;
  Once once_;
};

TEST_F(OnceTest, ABudgetInEvaluationsHasNoLimitOfTime) {
  each_ = std::chrono::minutes(10);
  const Json result = Run("tune", {{"evaluations", 3}})["result"];
  EXPECT_EQ(result["evaluations"], 3);
  EXPECT_EQ(result["schema"], "cupilot.tune/1");
  EXPECT_TRUE(result["variant"].is_object());
}

TEST_F(OnceTest, ABudgetInEvaluationsIsHeld) {
  const Json result = Run("tune", {{"evaluations", 2}})["result"];
  EXPECT_EQ(result["evaluations"], 2);
  EXPECT_EQ(result["ended"], "its evaluations are used up");
  EXPECT_EQ(evaluator_.evaluated().size(), 2u);
}

TEST_F(OnceTest, WithoutABudgetAMinuteIsEnough) {
  each_ = std::chrono::seconds(61);
  const Json result = Run("tune", Json::object())["result"];
  EXPECT_EQ(result["evaluations"], 1);
  EXPECT_EQ(result["ended"], "its time is used up");
}

TEST_F(OnceTest, AStrategyThatIsNotThereIsNamed) {
  const Json error = Run("tune", {{"strategy", "clever"}})["error"];
  EXPECT_EQ(error["code"], "invalid_argument");
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("there are random, number_search"));
}

TEST_F(OnceTest, ADeviceThatIsNotThereIsTheEnvironmentsFault) {
  workers_.On("describe_device", [](const Json& params) -> base::Result<Json> {
    return base::Fail(base::Unavailable(params["device"].get<std::string>() + ": no driver"));
  });
  const Json error = Run("tune", {{"device", "cuda:3"}})["error"];
  EXPECT_EQ(error["code"], "unavailable");
  EXPECT_EQ(error["message"], "cuda:3: no driver");
}

// With a toolkit whose compiler is there and is not run, also on machines that have none.
class OnceOnToolkitTest : public OnceTest {
 protected:
  OnceOnToolkitTest() {
    if (const char* before = std::getenv("CUDA_PATH")) before_ = before;
    const std::string nvcc = folder_.Write("toolkit/bin/nvcc", "#!/bin/false\n");
    std::filesystem::permissions(nvcc, std::filesystem::perms::owner_all);
    ::setenv("CUDA_PATH", (folder_ / "toolkit").c_str(), 1);
  }
  ~OnceOnToolkitTest() override {
    if (before_) {
      ::setenv("CUDA_PATH", before_->c_str(), 1);
    } else {
      ::unsetenv("CUDA_PATH");
    }
  }

 private:
  std::optional<std::string> before_;
};

TEST_F(OnceOnToolkitTest, AGpuIsTunedByTheToolkitsCompiler) {
  workers_.On("describe_device", [](const Json&) -> base::Result<Json> {
    return Json{{"name", "a GPU"}, {"arch", "sm_90"}, {"sm_count", 132}, {"memory_bytes", 1}};
  });
  Json scanned;
  workers_.On("scan", [&scanned](const Json& params) -> base::Result<Json> {
    scanned = params["command"]["arguments"];
    return base::Fail(base::Internal("seen"));
  });
  Run("tune", {{"device", "cuda:0"}});
  EXPECT_EQ(std::count(scanned.begin(), scanned.end(), Json("-arch=sm_90")), 1) << scanned;
  EXPECT_THAT(scanned[0].get<std::string>(), ::testing::EndsWith("nvcc"));
  EXPECT_THAT(scanned[0].get<std::string>(), ::testing::Not(HasSubstr("host_toolkit")));
}

class OnceOnGpuTest : public OnceOnToolkitTest {
 protected:
  OnceOnGpuTest() {
    workers_.On("architectures", [this](const Json&) -> base::Result<Json> {
      return Json{{"architectures", told_}};
    });
    workers_.On("describe_device", [this](const Json&) -> base::Result<Json> {
      scans_before_ = Scans();
      return Json{{"name", "a GPU"}, {"arch", "sm_90"}, {"sm_count", 132}, {"memory_bytes", 1}};
    });
    workers_.On("scan", [this](const Json& params) -> base::Result<Json> {
      follow_ = params["candidates_follow"];
      const Json& words = params["command"]["arguments"];
      const auto arch = std::find_if(words.begin(), words.end(), [](const Json& word) {
        return word.get<std::string>().starts_with("-arch=");
      });
      scanned_.push_back(arch->get<std::string>().substr(6));
      return base::Fail(base::Internal("of " + scanned_.back()));
    });
  }
  int Scans() const { return workers_.Count("scan"); }
  std::string Message() { return Run("tune", {{"device", "cuda:0"}})["error"]["message"]; }

  Json told_ = Json::array();  // the architectures that are known before the device is
  std::vector<std::string> scanned_;
  int scans_before_ = 0;  // the device was known
  Json follow_;           // whether the last scan said that candidates follow
};

TEST_F(OnceOnGpuTest, IsScannedForWhatTheMonitorSays) {
  workers_.Delay("describe_device");
  told_ = {"sm_90"};
  EXPECT_EQ(Message(), "of sm_90");
  EXPECT_EQ(scans_before_, 1);
  EXPECT_EQ(scanned_, std::vector<std::string>{"sm_90"}) << "once is enough";
  EXPECT_EQ(follow_, base::UsableProcessors() > 2);
  EXPECT_GT(workers_.Count("keep_unit"), 0);
}

TEST_F(OnceOnGpuTest, AnEvaluationHasNothingThatFollows) {
  told_ = {"sm_90"};
  Run("evaluate", {{"device", "cuda:0"}});
  EXPECT_EQ(scanned_, std::vector<std::string>{"sm_90"});
  EXPECT_EQ(follow_, false);
  EXPECT_EQ(workers_.Count("keep_unit"), 0);
  EXPECT_EQ(workers_.Count("architectures"), 0);
}

TEST_F(OnceOnGpuTest, WhatTheMonitorSaysTooLateIsNotHeard) {
  told_ = {"sm_80"};
  workers_.Delay("architectures");
  workers_.Delay("scan");
  EXPECT_EQ(Message(), "of sm_90");
  EXPECT_EQ(scanned_, std::vector<std::string>{"sm_90"});
}

TEST_F(OnceOnGpuTest, IsScannedAnewWhereItIsAnotherOne) {
  workers_.Delay("describe_device");
  told_ = {"sm_80"};
  EXPECT_EQ(Message(), "of sm_90");
  EXPECT_EQ(scanned_, (std::vector<std::string>{"sm_80", "sm_90"}));
}

// What was begun for another one may end after the device is known.
TEST_F(OnceOnGpuTest, ALateScanForAnotherOneIsNoAnswer) {
  told_ = {"sm_80"};
  workers_.Delay("describe_device");
  workers_.Delay("scan");
  EXPECT_EQ(Message(), "of sm_90");
  EXPECT_EQ(scanned_, (std::vector<std::string>{"sm_80", "sm_90"}));
}

TEST_F(OnceOnGpuTest, OfSeveralArchitecturesNoneIsGuessed) {
  workers_.Delay("describe_device");
  told_ = {"sm_80", "sm_90"};
  EXPECT_EQ(Message(), "of sm_90");
  EXPECT_EQ(scans_before_, 0);
}

TEST_F(OnceOnGpuTest, WhatIsWrongIsSaidOnce) {
  workers_.Delay("describe_device");
  told_ = {"sm_90"};
  std::filesystem::remove(source_);
  EXPECT_THAT(Message(), HasSubstr("main.cu"));
  EXPECT_EQ(Scans(), 0);
  EXPECT_EQ(lines_.size(), 1u);
}

TEST_F(OnceTest, AnUnknownKernelIsAnError) {
  const Json error = Run("evaluate", {{"kernel", "two"}})["error"];
  EXPECT_EQ(error["code"], "invalid_argument");
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("no kernel 'two'"));
}

}  // namespace
}  // namespace cupilot::service
