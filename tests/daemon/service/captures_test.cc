// What was captured of a program's kernels decides on what they are tuned.
#include "tests/daemon/service/captures_fixture.h"

namespace cupilot::service {
namespace {

using records::Json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using workloads::Captured;

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
  Captured other = MakeCaptured("one", "other");
  other.cases[0].grid[0] = "2";
  Add({other});
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

TEST_F(CapturesTest, ALaterCaptureThatDiffersByNoiseVoidsNothing) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  Captured captured = MakeCaptured("one", "small");
  captured.cases.push_back(captured.cases[0]);
  captured.cases[1].name = "large";
  captured.cases[1].weight = 4500;
  Add({captured});
  Drain();
  const std::vector<std::string> published = project_.PublishedVariants();
  ASSERT_FALSE(published.empty());
  const std::size_t before = tuned_on_.size(), replays = evaluator_.replays.size();
  captured.cases[0].weight = 510;
  captured.cases[1].weight = 4700;
  captured.launches[0].microseconds = 5210;
  Add({captured});
  Drain();
  EXPECT_EQ(tuned_on_.size(), before) << "tuned again";
  EXPECT_EQ(evaluator_.replays.size(), replays);
  EXPECT_EQ(project_.PublishedVariants(), published);
  EXPECT_EQ(Row("one")["program_us"], 5210) << "what the program spends is the later one's";
}

// A run of the whole program after one that was asked for by the kernel's name.
TEST_F(CapturesTest, ACaptureThatOnlyCountsLeavesWhatWasRecorded) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  Add({MakeCaptured("one")});
  Drain();
  Captured counted = MakeCaptured("one");
  counted.cases.clear();
  counted.replaces_tag = false;
  counted.launches[0].cases.clear();
  counted.launches[0].calls = 9;
  Add({counted});
  Drain();
  EXPECT_EQ(FindKernel(*service_, "one", "")->kernel->cases.at(0).name, "seen");
  EXPECT_EQ(service_->captured().All().at(0)->Calls(), 9);
}

// The compiler, which takes a second, has nothing to say about them.
TEST_F(CapturesTest, AllOfASourceAreTakenAtOnceWithoutReadingIt) {
  Prepare("kernel one a\nkernel two b\nkernel three c\n");
  Start();
  Drain();
  const std::int64_t before = service_->counters().scans;
  int taken = 0;
  service_->OnEvent(
      [&taken](const std::string& name, const Json&) { taken += name == "scanned" ? 1 : 0; });
  const auto cases = [this](const char* name) {
    return FindKernel(*service_, name, "")->kernel->cases.at(0).name;
  };
  Add({MakeCaptured("one"), MakeCaptured("two"), MakeCaptured("three")});
  Drain();
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(cases("two"), "seen");
  ASSERT_TRUE(service_->DropCaptured(project_.source(), "two"));
  Drain();
  EXPECT_EQ(taken, 2);
  EXPECT_EQ(cases("two"), "only") << "that of its tag";
  EXPECT_EQ(cases("three"), "seen");
  EXPECT_EQ(service_->counters().scans, before);
}

// Of a source that was edited meanwhile it would be another kernel's.
TEST_F(CapturesTest, AnEditedSourceIsReadAgain) {
  settings_.quiet = std::chrono::hours(1);  // nobody says that there was an edit
  Prepare("kernel one a\n");
  Start();
  Drain();
  const std::int64_t before = service_->counters().scans;
  const Captured captured = MakeCaptured("one");
  project_.WriteSource("something else\nkernel one a\n");
  Add({captured});
  Drain();
  EXPECT_GE(service_->counters().scans, before + 1);
  const auto place = FindKernel(*service_, "one", "");
  EXPECT_EQ(place->kernel->line, 2);
  EXPECT_EQ(place->kernel->cases.at(0).name, "seen");
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

// A structure that grows keeps its name.
TEST_F(CapturesTest, OfOtherSizesItIsDroppedByName) {
  Prepare("kernel one a bytes=4\n");
  Start();
  Drain();
  Captured captured = MakeCaptured("one");
  captured.sizes = workloads::SizesOf(*FindKernel(*service_, "one", "")->kernel);
  Add({captured});
  Drain();
  ASSERT_EQ(tuned_on_.back(), "one: seen;");
  project_.WriteSource("kernel one a bytes=8\n");
  DrainUntil([&] { return service_->captured().All().empty(); });
  Drain();
  EXPECT_EQ(tuned_on_.back(), "one: only;");
  EXPECT_THAT(Explain("one")["warnings"].dump(), HasSubstr("captured workload of one was dropped"));
}

// -DREAL=float in one target, -DREAL=double in another.
TEST_F(CapturesTest, TargetsThatGiveAKernelOtherParametersHaveCapturesOfTheirOwn) {
  Prepare("kernel one a more=REAL workload=none\n");
  test::FakeProject other(folder_.path());
  other.SetTarget("other");
  project_.command().arguments.push_back("-DREAL=float");
  other.command().arguments.push_back("-DREAL=double");
  project_.Compile();
  other.Compile();
  Start();
  Drain();
  const auto kernel_of = [&](const std::string& target) -> const records::Kernel& {
    for (const auto& [folder, state] : service_->objects()) {
      if (state.target.name == target) return state.scan->kernels.at(0);
    }
    static const records::Kernel none;
    return none;
  };
  // The plan of a capture has both.
  const Json plan = *CapturePlanDocument(*service_, Here());
  ASSERT_EQ(plan["kernels"].size(), 2u);
  std::vector<Captured> all;
  for (const char* target : {"app", "other"}) {
    const records::Kernel& kernel = kernel_of(target);
    Captured captured;
    captured.kernel = records::LabelOf(kernel);
    captured.file = kernel.file;
    for (const records::Parameter& parameter : kernel.parameters) {
      captured.parameters.push_back(parameter.canonical);
    }
    captured.device = "host";
    records::Case one;
    one.name = std::string("of ") + target;
    one.grid = one.block = {"1", "1", "1"};
    for (const records::Parameter& parameter : kernel.parameters) {
      records::Argument argument;
      argument.name = parameter.name;
      argument.type = parameter.type;
      argument.value = "1";
      if (parameter.kind == records::ParameterKind::kPointer) {
        argument.value = "";
        argument.count = "64";
      }
      one.arguments.push_back(argument);
    }
    captured.cases = {one};
    all.push_back(captured);
  }
  Add({all[0]});
  Drain();
  Add({all[1]});
  Drain();
  EXPECT_EQ(service_->captured().All().size(), 2u);
  EXPECT_EQ(kernel_of("app").cases.at(0).name, "of app");
  EXPECT_EQ(kernel_of("other").cases.at(0).name, "of other");
  Restart();
  Drain();
  EXPECT_EQ(service_->captured().All().size(), 2u);
  EXPECT_EQ(kernel_of("app").cases.at(0).name, "of app");
  // What no target has any more goes, and only that.
  other.command().arguments.back() = "-DREAL=half";
  other.Compile();
  DrainUntil([&] { return service_->captured().All().size() == 1; });
  EXPECT_EQ(kernel_of("app").cases.at(0).name, "of app");
  EXPECT_TRUE(kernel_of("other").cases.empty());
  EXPECT_THAT(service_->captured().All().at(0)->parameters.back(), "float");
}

TEST_F(CapturesTest, CasesThatCannotBeReplayedAreLeftOut) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  Captured captured = MakeCaptured("one");
  captured.cases.push_back(captured.cases[0]);
  captured.cases[1].name = "again";
  captured.replays[FindKernel(*service_, "one", "")->kernel->key]["seen"] = {
      .times = 1, .reason = "another result"};
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
  captured.after["seen"]["out"] = *blobs::BlobStore(state() + "/blobs").Put("what it left");
  Add({captured});
  Drain();
  ASSERT_EQ(evaluator_.replays.size(), 1u);
  EXPECT_EQ(evaluator_.replays[0], captured.after);
  EXPECT_EQ(ReplayOf("one", "seen").times, 100);
  Restart();
  Drain();
  EXPECT_EQ(evaluator_.replays.size(), 1u);
  EXPECT_EQ(tuned_on_.back(), "one: seen;");
}

// Sums of floats differ from run to run: a later capture of the same launches has other results.
TEST_F(CapturesTest, ACaptureThatComesDuringAReplayIsReplayedItself) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  blobs::BlobStore blobs(state() + "/blobs");
  Captured captured = MakeCaptured("one");
  captured.after["seen"]["out"] = *blobs.Put("what it left");
  Captured later = captured;
  later.after["seen"]["out"] = *blobs.Put("what it left later");
  evaluator_.on_replay = [&] {
    evaluator_.on_replay = nullptr;
    Add({later});
  };
  Add({captured});
  Drain();
  ASSERT_EQ(evaluator_.replays.size(), 2u);
  EXPECT_EQ(evaluator_.replays[1], later.after);
  EXPECT_EQ(tuned_on_.back(), "one: seen;");
  EXPECT_EQ(Row("one")["state"], "done") << Row("one").dump();
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
  EXPECT_EQ(ReplayOf("one", "seen").reason, "run 37 differs");
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

// What an edit broke says nothing of the kernel as it was, and the other way round.
TEST_F(CapturesTest, AnotherTextOfTheKernelIsReplayedAnew) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  evaluator_.replayed["seen"] = {.name = "seen", .times = 0, .reason = "other bits"};
  Add({MakeCaptured("one")});
  Drain();
  ASSERT_EQ(evaluator_.replays.size(), 1u);
  EXPECT_EQ(FindKernel(*service_, "one", "")->kernel->cases.at(0).name, "only");
  evaluator_.replayed.clear();
  project_.WriteSource("kernel one b\n");
  DrainUntil([&] { return evaluator_.replays.size() == 2; });
  Drain();
  EXPECT_EQ(ReplayOf("one", "seen").reason, "");
  EXPECT_EQ(tuned_on_.back(), "one: seen;");
  // Of the text that is no more nothing is kept.
  EXPECT_EQ(service_->captured().All().at(0)->replays.size(), 1u);
}

TEST_F(CapturesTest, HowOftenASlowCaseWasReplayedIsSaid) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  evaluator_.replayed["seen"] = {.name = "seen", .times = 7, .wanted = 100, .seconds = 10};
  Add({MakeCaptured("one")});
  Drain();
  EXPECT_EQ(tuned_on_.back(), "one: seen;");
  EXPECT_THAT(Explain("one")["warnings"].dump(),
              HasSubstr("the captured case 'seen': the same bits as in the program, replayed 7 "
                        "times within 10 s, equal"));
  const Json shown = *WorkloadDocument(*service_, Here({{"kernel", "one"}}));
  EXPECT_EQ(shown["replays"]["seen"]["times"], 7);
  EXPECT_EQ(shown["replays"]["seen"]["wanted"], 100);
  EXPECT_EQ(WorkloadListDocument(*service_, Here())->at("workloads").at(0)["not_reproducible"], 0);
}

TEST_F(CapturesTest, WhatCouldNotBeReplayedIsNoEvidence) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  tuned_on_.clear();
  evaluator_.replay_error = base::Internal("the baseline is odd");
  Add({MakeCaptured("one")});
  Drain();
  EXPECT_TRUE(tuned_on_.empty()) << tuned_on_[0];
  EXPECT_THAT(Row("one")["why"].get<std::string>(), HasSubstr("the baseline is odd"));
  // One case of a reply is marked, and the others are as good.
  evaluator_.replay_error.reset();
  evaluator_.replayed["seen"] =
      protocol::NotReplayed("seen", base::ToolFailed("the worker was ended by Aborted"));
  Captured captured = MakeCaptured("one");
  captured.cases.push_back(captured.cases[0]);
  captured.cases[1].name = "again";
  Add({captured});
  Drain();
  ASSERT_FALSE(tuned_on_.empty());
  EXPECT_EQ(tuned_on_.back(), "one: again;");
  EXPECT_THAT(Explain("one")["warnings"].dump(),
              HasSubstr("'seen' is not used: it cannot be replayed: the worker was ended"));
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
  EXPECT_EQ(ReplayOf("one", "seen").reason, "by rounding");
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

// Launches with other integers run the original whatever wins.
TEST_F(CapturesTest, OfLaunchesThatNoCaseStandsForNothingCanBeWon) {
  Prepare("kernel one a\nkernel two b\n");
  Start();
  Drain();
  Captured stepped = MakeCaptured("one"), steady = MakeCaptured("two");
  stepped.cases[0].weight = stepped.launches[0].microseconds = 900;
  stepped.launches[0].cases = {stepped.cases[0].name};
  stepped.launches.push_back(stepped.launches[0]);
  stepped.launches[1].microseconds = 90000;
  stepped.launches[1].cases.clear();
  steady.cases[0].weight = steady.launches[0].microseconds = 9000;
  steady.launches[0].cases = {steady.cases[0].name};
  Add({stepped, steady});
  Drain();
  const Json list = ListDocument(*service_, "")["kernels"];
  EXPECT_EQ(list[0]["kernel"], "two");
  EXPECT_NEAR(list[0]["winnable_us"].get<double>(), 6000, 100);
  EXPECT_NEAR(list[1]["winnable_us"].get<double>(), 600, 10);
  EXPECT_EQ(list[1]["program_us"], 90900);
}

// As a saxpy at 98 % of the bandwidth, of which nothing will ever be accepted.
TEST_F(CapturesTest, WhatIsAtItsFloorDoesNotHeadTheListThoughNothingWasAccepted) {
  judge_ = [](const evaluate::EvaluateRequest& request) {
    records::Evaluation evaluation = test::MakeEvaluation(request, 0.9);
    for (records::CaseResult& result : evaluation.cases) {
      result.name = request.workload.cases.at(0).name;
      result.original_us = 100;
      result.variant_us = 110;
      result.floor_us = request.kernel.name == "one" ? 98 : 10;
    }
    return evaluation;
  };
  Prepare("kernel one a\nkernel two b\n");
  Start();
  Drain();
  Captured heavy = MakeCaptured("one"), light = MakeCaptured("two");
  heavy.cases[0].weight = heavy.launches[0].microseconds = 9000;
  Add({heavy, light});
  Drain();
  const Json list = ListDocument(*service_, "")["kernels"];
  EXPECT_EQ(list[0]["kernel"], "two");
  EXPECT_NEAR(list[0]["winnable_us"].get<double>(), 450, 1);
  EXPECT_NEAR(list[1]["winnable_us"].get<double>(), 180, 1);
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
