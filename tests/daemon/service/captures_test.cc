// What was captured of a program's kernels decides on what they are tuned.
#include "base/file.h"
#include "service/capture_requests.h"
#include "tests/daemon/service/service_fixture.h"

namespace cupilot::service {
namespace {

using records::Json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using workloads::Captured;

class CapturesTest : public ServiceTest {
 protected:
  CapturesTest() {
    judge_ = [this](const evaluate::EvaluateRequest& request) {
      std::string names;
      for (const records::Case& one : request.workload.cases) names += one.name + ";";
      tuned_on_.push_back(request.kernel.name + ": " + names);
      return test::MakeEvaluation(request, 1.5);
    };
  }

  // As a capture of kernel `name` of the fake project makes it, from a case of its own.
  Captured MakeCaptured(const std::string& name, const std::string& case_name = "seen") {
    const auto place = FindKernel(*service_, name, "");
    EXPECT_TRUE(place) << name;
    const records::Kernel& kernel = *place->kernel;
    Captured captured;
    captured.kernel = records::LabelOf(kernel);
    captured.file = kernel.file;
    for (const records::Parameter& parameter : kernel.parameters) {
      captured.parameters.push_back(parameter.canonical);
    }
    captured.program = "app";
    captured.device = "host";
    captured.replaces_tag = true;
    records::Case one = kernel.cases.at(0);
    one.name = case_name;
    one.weight = 500;
    captured.cases = {one};
    captured.launches.resize(1);
    captured.launches[0].calls = 5;
    captured.launches[0].microseconds = 500;
    captured.launches[0].cases = {case_name};
    return captured;
  }

  void Add(const std::vector<Captured>& all, const Json& untagged = nullptr) {
    Json list = Json::array();
    for (const Captured& captured : all) list.push_back(workloads::ToJson(captured));
    const std::string file = folder_ / "captures.json";
    ASSERT_TRUE(base::WriteFileAtomically(
        file, records::CompactJson(
                  {{"schema", "cupilot.captures/1"}, {"captures", list}, {"untagged", untagged}})));
    const auto added =
        AddCaptures(*service_, {{"file", file}, {"folder", project_.build_folder()}});
    ASSERT_TRUE(added) << added.error().message;
  }

  Json Here(const Json& more = Json::object()) {
    Json params = {{"folder", project_.build_folder()}};
    params.update(more);
    return params;
  }

  std::vector<std::string> tuned_on_;
};

TEST_F(CapturesTest, WhatWasCapturedIsTunedOnFromThenOn) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  ASSERT_FALSE(tuned_on_.empty());
  EXPECT_EQ(tuned_on_.back(), "one: only;");
  Add({MakeCaptured("one")});
  Drain();
  EXPECT_EQ(tuned_on_.back(), "one: seen;");
  EXPECT_EQ(Row("one")["state"], "done");
  // Also by a daemon that starts later.
  tuned_on_.clear();
  Restart();
  Drain();
  EXPECT_TRUE(tuned_on_.empty()) << tuned_on_[0];
  EXPECT_EQ(FindKernel(*service_, "one", "")->kernel->cases.at(0).name, "seen");
  // Until it is dropped.
  ASSERT_TRUE(DropWorkload(*service_, Here({{"kernel", "one"}})));
  Drain();
  EXPECT_EQ(FindKernel(*service_, "one", "")->kernel->cases.at(0).name, "only");
}

TEST_F(CapturesTest, ALaterCaptureTakesTheEarlierOnesPlace) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  Add({MakeCaptured("one")});
  Drain();
  Add({MakeCaptured("one", "other")});
  Drain();
  EXPECT_EQ(tuned_on_.back(), "one: other;");
  EXPECT_EQ(service_->captured().All().size(), 1u);
}

// As `cupilot list` shows them: by the time that can still be won.
TEST_F(CapturesTest, WhatTakesMostOfTheProgramIsWorkedOnFirst) {
  settings_.parallel = 1;
  std::string order;
  judge_ = [&](const evaluate::EvaluateRequest& request) {
    // What began before the capture is of the tag's case.
    if (request.workload.cases.at(0).name == "seen") order += request.kernel.name;
    clock_.Advance(std::chrono::minutes(1));
    records::Evaluation evaluation = test::MakeEvaluation(request, 1.5);
    for (records::CaseResult& result : evaluation.cases) {
      result.name = request.workload.cases.at(0).name;
      result.original_us = 100;
      result.variant_us = request.kernel.name == "b" ? 1 : 90;
      result.floor_us = 1;
    }
    return evaluation;
  };
  Prepare("kernel a x\nkernel b y\nkernel c z\n");
  Start();
  std::vector<Captured> all;
  WorkUntil([&] { return service_->counters().scans == 1; });
  for (const auto& [name, microseconds] :
       {std::pair("a", 500.0), std::pair("b", 50000.0), std::pair("c", 2000.0)}) {
    all.push_back(MakeCaptured(name));
    all.back().cases[0].weight = microseconds;
    all.back().launches[0].microseconds = microseconds;
  }
  Add(all);
  Drain();
  // b has reached its floor with its first variant, so nothing is left to win there.
  ASSERT_GE(order.size(), 2u);
  EXPECT_EQ(order.substr(0, 2), "bc") << order;
  const Json rows = ListDocument(*service_, "")["kernels"];
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["kernel"], "c");
  EXPECT_EQ(rows[2]["kernel"], "b");
}

// The same launches, but not as often as before: other things are worth while.
TEST_F(CapturesTest, ALaterCaptureWithAnotherDistributionWeighsAndTunesAnew) {
  std::vector<std::string> weights;
  judge_ = [&](const evaluate::EvaluateRequest& request) {
    std::string text;
    for (const records::Case& one : request.workload.cases) {
      text += one.name + "=" + std::to_string(static_cast<int>(one.weight)) + ";";
    }
    weights.push_back(text);
    return test::MakeEvaluation(request, 1.5);
  };
  Prepare("kernel one a\n");
  Start();
  Drain();
  Captured captured = MakeCaptured("one", "small");
  captured.cases.push_back(captured.cases[0]);
  captured.cases[1].name = "large";
  captured.cases[1].weight = 4500;
  Add({captured});
  Drain();
  ASSERT_EQ(weights.back(), "small=500;large=4500;");
  const std::size_t before = weights.size();
  Add({captured});
  Drain();
  EXPECT_EQ(weights.size(), before) << "tuned again on the same";
  captured.cases[0].weight = 7000;
  Add({captured});
  Drain();
  ASSERT_GT(weights.size(), before);
  EXPECT_EQ(weights.back(), "small=7000;large=4500;");
  EXPECT_EQ(Row("one")["state"], "done");
}

TEST_F(CapturesTest, ASourceIsReadOnceForAllOfItsCaptures) {
  Prepare("kernel one a\nkernel two b\nkernel three c\n");
  Start();
  Drain();
  const std::int64_t before = service_->counters().scans;
  Add({MakeCaptured("one"), MakeCaptured("two"), MakeCaptured("three")});
  Drain();
  EXPECT_EQ(service_->counters().scans, before + 1);
}

TEST_F(CapturesTest, WhatATagSaysHoldsUnlessItWasAskedFor) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  Captured captured = MakeCaptured("one");
  captured.replaces_tag = false;
  Add({captured});
  Drain();
  EXPECT_EQ(tuned_on_.back(), "one: only;");
  EXPECT_EQ(Row("one")["program_us"], 500);
}

TEST_F(CapturesTest, OfOtherParametersItIsDroppedByName) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  Captured captured = MakeCaptured("one");
  captured.parameters.back() = "long";
  Add({captured});
  Drain();
  EXPECT_TRUE(service_->captured().All().empty());
  EXPECT_EQ(FindKernel(*service_, "one", "")->kernel->cases.at(0).name, "only");
  const Json warnings = Explain("one")["warnings"];
  ASSERT_FALSE(warnings.empty());
  EXPECT_THAT(warnings.dump(), HasSubstr("captured workload of one was dropped"));
}

TEST_F(CapturesTest, CasesThatCannotBeReplayedAreLeftOut) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  Captured captured = MakeCaptured("one");
  captured.cases.push_back(captured.cases[0]);
  captured.cases[1].name = "again";
  captured.replays["seen"] = {.times = 1, .reason = "another result"};
  Add({captured});
  Drain();
  EXPECT_EQ(tuned_on_.back(), "one: again;");
}

TEST_F(CapturesTest, WhatWasCapturedIsReplayedOnceBeforeItIsTunedOn) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  EXPECT_TRUE(evaluator_.replays.empty()) << "nothing was captured";
  Captured captured = MakeCaptured("one");
  captured.after["seen"]["out"] = "a hash";
  Add({captured});
  Drain();
  ASSERT_EQ(evaluator_.replays.size(), 1u);
  EXPECT_EQ(evaluator_.replays[0], captured.after);
  EXPECT_EQ(service_->captured().All().at(0)->replays.at("seen").times, 100);
  Restart();
  Drain();
  EXPECT_EQ(evaluator_.replays.size(), 1u);
  EXPECT_EQ(tuned_on_.back(), "one: seen;");
}

TEST_F(CapturesTest, ACaseThatIsNotReproducibleIsTunedOnNoMore) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  evaluator_.replayed["seen"] = {.name = "seen", .times = 36, .reason = "run 37 differs"};
  Captured captured = MakeCaptured("one");
  captured.cases.push_back(captured.cases[0]);
  captured.cases[1].name = "again";
  tuned_on_.clear();
  Add({captured});
  Drain();
  ASSERT_FALSE(tuned_on_.empty());
  for (const std::string& what : tuned_on_) EXPECT_EQ(what, "one: again;");
  EXPECT_EQ(service_->captured().All().at(0)->replays.at("seen").reason, "run 37 differs");
  EXPECT_EQ(WorkloadListDocument(*service_, Here())->at("workloads").at(0)["not_reproducible"], 1);
}

TEST_F(CapturesTest, WhereNoCaseIsReproducibleItIsSaid) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  evaluator_.replayed["seen"] = {.name = "seen", .times = 1, .reason = "run 2 differs"};
  tuned_on_.clear();
  Add({MakeCaptured("one")});
  Drain();
  // On what its tag says, which was tuned before.
  EXPECT_TRUE(tuned_on_.empty()) << tuned_on_[0];
  EXPECT_EQ(FindKernel(*service_, "one", "")->kernel->cases.at(0).name, "only");
  EXPECT_THAT(Explain("one")["warnings"].dump(), HasSubstr("not reproducible"));
  EXPECT_THAT(Explain("one")["warnings"].dump(), HasSubstr("run 2 differs"));
}

TEST_F(CapturesTest, OtherRoundingIsNotedAndTunedOn) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  evaluator_.replayed["seen"] = {
      .name = "seen", .times = 100, .reason = "by rounding", .rounding = true};
  Add({MakeCaptured("one")});
  Drain();
  EXPECT_EQ(tuned_on_.back(), "one: seen;");
  EXPECT_EQ(service_->captured().All().at(0)->replays.at("seen").reason, "by rounding");
}

TEST_F(CapturesTest, AReplayTakesNothingOfTheKernelsTime) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  evaluator_.on_replay = [this] { clock_.Advance(std::chrono::hours(10)); };
  tuned_on_.clear();
  Add({MakeCaptured("one")});
  Drain();
  EXPECT_EQ(evaluator_.replays.size(), 1u);
  ASSERT_FALSE(tuned_on_.empty());
  const auto place = FindKernel(*service_, "one", "");
  EXPECT_LT(service_->FindJob(*place->object, *place->kernel)->spent_seconds(), 60);
}

TEST_F(CapturesTest, OnAnotherKindOfDeviceNothingIsReplayed) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  Captured captured = MakeCaptured("one");
  captured.device = "cuda";
  Add({captured});
  Drain();
  EXPECT_TRUE(evaluator_.replays.empty());
  EXPECT_EQ(tuned_on_.back(), "one: seen;");
}

TEST_F(CapturesTest, TheListBeginsWithTheTimeThatCanStillBeWon) {
  Prepare("kernel one a\nkernel two b\nkernel three c\n");
  Start();
  Drain();
  Captured light = MakeCaptured("two"), heavy = MakeCaptured("three");
  heavy.cases[0].weight = heavy.launches[0].microseconds = 9000;
  Add({light, heavy});
  Drain();
  std::vector<std::string> order;
  const Json list = ListDocument(*service_, "");
  for (const Json& row : list["kernels"]) order.push_back(row["kernel"]);
  EXPECT_THAT(order, ElementsAre("three", "two", "one"));
  // 1.5 times as fast is won already.
  EXPECT_NEAR(list["kernels"][0]["winnable_us"].get<double>(), 6000, 100);
  EXPECT_TRUE(list["kernels"][2]["winnable_us"].is_null());
}

TEST_F(CapturesTest, KernelsWorthATagAreListed) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  Add({}, Json::array({{{"kernel", "heavy(float*)"}, {"calls", 3}, {"microseconds", 7.0}}}));
  const Json list = ListDocument(*service_, project_.build_folder());
  ASSERT_EQ(list["untagged"].size(), 1u);
  EXPECT_EQ(list["untagged"][0]["kernel"], "heavy(float*)");
  Restart();
  Drain();
  EXPECT_EQ(ListDocument(*service_, project_.build_folder())["untagged"].size(), 1u);
}

TEST_F(CapturesTest, ThePlanNamesTheProjectsKernelsAndWhoseTagsHaveWorkloads) {
  Prepare("kernel one a\nkernel two b\n");
  Start();
  EXPECT_FALSE((*CapturePlanDocument(*service_, Here()))["complete"].get<bool>());
  Drain();
  const auto plan = CapturePlanDocument(*service_, Here());
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_TRUE((*plan)["complete"].get<bool>());
  ASSERT_EQ((*plan)["kernels"].size(), 2u);
  const Json& kernel = (*plan)["kernels"][0];
  EXPECT_EQ(kernel["signature"], "_Zone");
  EXPECT_TRUE(kernel["has_workload"].get<bool>());
  EXPECT_EQ(kernel.value("closure_source", ""), "");
  EXPECT_EQ((*CapturePlanDocument(*service_, Here({{"kernel", "two"}})))["kernels"].size(), 1u);
  const auto nowhere = CapturePlanDocument(*service_, {{"folder", "/nowhere"}});
  EXPECT_THAT(nowhere.error().message, HasSubstr("no tuned project contains /nowhere"));
}

TEST_F(CapturesTest, ListsAndShowsWhatWasCaptured) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  EXPECT_TRUE((*WorkloadListDocument(*service_, Here()))["workloads"].empty());
  const auto nothing = WorkloadDocument(*service_, Here({{"kernel", "one"}}));
  EXPECT_THAT(nothing.error().message, HasSubstr("nothing was captured of 'one'"));
  Add({MakeCaptured("one")});
  Drain();
  const Json list = *WorkloadListDocument(*service_, Here());
  ASSERT_EQ(list["workloads"].size(), 1u);
  EXPECT_EQ(list["workloads"][0]["calls"], 5);
  const auto shown = WorkloadDocument(*service_, Here({{"kernel", "one"}}));
  ASSERT_TRUE(shown);
  EXPECT_EQ((*shown)["workload"]["cases"][0]["name"], "seen");
}

TEST_F(CapturesTest, ContentsBeyondTheLimitGoWithWhatNeedsThem) {
  settings_.captured_bytes = 1;
  Prepare("kernel one a\n");
  Start();
  Drain();
  blobs::BlobStore blobs(state() + "/blobs");
  Captured captured = MakeCaptured("one");
  records::Fill fill;
  fill.kind = "file";
  fill.path = "blob:" + *blobs.Put("contents of the program's memory");
  captured.cases[0].arguments[0].fill = fill;
  Add({captured});
  Drain();
  EXPECT_TRUE(blobs.List().empty());
  EXPECT_TRUE(service_->captured().All().empty());
  EXPECT_EQ(FindKernel(*service_, "one", "")->kernel->cases.at(0).name, "only");
}

TEST_F(CapturesTest, DamagedFilesAreErrors) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  const std::string file = folder_ / "bad.json";
  // One record that cannot be read costs the others nothing.
  const Json mixed = {
      {"captures", {{{"schema", "x"}, {"kernel", "bad"}}, workloads::ToJson(MakeCaptured("one"))}}};
  ASSERT_TRUE(base::WriteFileAtomically(file, records::CompactJson(mixed)));
  const auto added = AddCaptures(*service_, {{"file", file}});
  ASSERT_TRUE(added);
  ASSERT_EQ((*added)["problems"].size(), 1u);
  EXPECT_THAT((*added)["problems"][0].get<std::string>(), HasSubstr("bad: "));
  EXPECT_EQ(service_->captured().All().size(), 1u);
  ASSERT_TRUE(base::WriteFileAtomically(file, "not json"));
  EXPECT_FALSE(AddCaptures(*service_, {{"file", file}}));
  EXPECT_FALSE(AddCaptures(*service_, {{"file", file + ".none"}}));
}

}  // namespace
}  // namespace cupilot::service
