// The stages of an evaluation: their order, what stops it, and what is an error instead.
#include "evaluate/worker_evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "evaluate/verdict.h"
#include "tests/daemon/evaluate/worker_evaluator_fixture.h"

namespace cupilot::evaluate {
namespace {

using records::Json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(WorkerEvaluatorTest, AcceptsAfterAllStages) {
  std::vector<std::string> stages;
  EvaluateRequest request = MakeRequest();
  request.progress = [&stages](std::string_view stage) { stages.emplace_back(stage); };
  const Outcome outcome = Run(std::move(request));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->accepted) << outcome->detail;
  EXPECT_THAT(stages,
              ElementsAre("check", "build", "verify", "measure", "build", "verify", "confirm"));
  EXPECT_THAT(workers_.calls(),
              ElementsAre("check_variant", "describe_device", "build", "twin", "build", "build",
                          "verify", "measure", "build", "build", "verify", "measure"));
  EXPECT_NEAR(outcome->speedup.value_or(0), 1.5, 1e-9);
  EXPECT_EQ(outcome->text_hash, "text");
  EXPECT_EQ(outcome->target, "host-x86-64-v3");
  EXPECT_EQ(outcome->date, "1970-01-01T00:00:01Z");
}

TEST_F(WorkerEvaluatorTest, SaysWhatEachStageTook) {
  EvaluateRequest request = MakeRequest();
  request.progress = [this](std::string_view stage) {
    clock_.now += std::chrono::seconds(stage == "build" ? 3 : stage == "confirm" ? 2 : 1);
  };
  const Outcome outcome = Run(std::move(request));
  ASSERT_TRUE(outcome) << outcome.error().message;
  // Twice a build and a verification: as a finalist, too.
  const Json expected = {{"check", 1.0},   {"build", 6.0}, {"verify", 2.0},
                         {"measure", 1.0}, {"turn", 0.0},  {"confirm", 2.0}};
  EXPECT_EQ(outcome->metrics["stage_seconds"], expected);
}

// A finalist of NVRTC's is built once more, by the compiler that makes what ships.
class FinalistTest : public WorkerEvaluatorTest {
 protected:
  FinalistTest() {
    workers_.On("describe_device", Always({{"name", "a GPU"}, {"arch", "sm_90"}}));
    workers_.On("build", [this](const Json& params) -> base::Result<Json> {
      protocol::BuildReply built;
      const bool as_compiled = params.value("as_compiled", false);
      if (as_compiled && unavailable_) return base::Fail(base::Unavailable("no nvcc"));
      built.artifact = as_compiled ? nvcc_ : original_;
      built.toolchain = as_compiled ? "nvcc toolkit 13" : "nvrtc 13.0";
      built.target = "compute_90,sm_90";
      built.data_hash = "data";
      built.text_hashes = {{"entry", as_compiled ? code_ : "text"},
                           {MakeRequest().kernel.name, as_compiled ? original_code_ : "first"}};
      return protocol::ToJson(built);
    });
    workers_.On("verify", [this](const Json& params) -> base::Result<Json> {
      const bool rest = params["depth"] == "rest";
      (rest ? proven_ : verified_).push_back(params["set"]["candidate_artifact"]);
      if (!rest) against_.push_back(params["set"]["original_artifact"]);
      protocol::VerifyReply reply;
      reply.passed = verified_.back() != nvcc_ || !wrong_;
      reply.reason = reply.passed ? "" : "wrong_result";
      reply.checks = {{"red_zones", true, ""}};
      return protocol::ToJson(reply);
    });
  }
  Outcome RunOnGpu(bool finalist = false) {
    EvaluateRequest request = MakeRequest();
    request.device = "cuda:0";
    request.finalist = finalist;
    return Run(std::move(request));
  }

  const std::string nvcc_ = folder_.Write("nvcc.cubin", "");
  std::string code_ = "text";  // what nvcc makes
  std::string original_code_ = "first";
  bool unavailable_ = false;                     // nvcc
  bool wrong_ = false;                           // what nvcc makes
  std::vector<std::string> verified_, against_;  // screened
  std::vector<std::string> proven_;              // and the rest
};

TEST_F(FinalistTest, TheSameCodeIsConfirmed) {
  const Outcome outcome = RunOnGpu();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->accepted) << outcome->detail;
  EXPECT_THAT(verified_, ElementsAre(original_));
  EXPECT_EQ(outcome->text_hash, "text");
  EXPECT_EQ(workers_.Count("measure"), 2);
}

TEST_F(FinalistTest, OtherCodeIsWhatIsVerifiedAndMeasured) {
  code_ = "other";
  const Outcome outcome = RunOnGpu();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->accepted) << outcome->detail;
  EXPECT_THAT(verified_, ElementsAre(original_, nvcc_));
  EXPECT_EQ(outcome->text_hash, "other");
  EXPECT_EQ(outcome->toolchain, "nvcc toolkit 13");
  EXPECT_EQ(workers_.Count("measure"), 3);
  ASSERT_EQ(outcome->checks.size(), 3u) << "each is said once";
}

TEST_F(FinalistTest, OtherCodeMayBeWrong) {
  code_ = "other";
  wrong_ = true;
  const Outcome outcome = RunOnGpu();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_FALSE(outcome->accepted);
  EXPECT_EQ(outcome->reason, "wrong_result");
  EXPECT_FALSE(outcome->metrics.contains("measure")) << "that was other code";
}

TEST_F(FinalistTest, AnotherOriginalIsWhatItIsMeasuredAgainst) {
  original_code_ = "second";
  const Outcome outcome = RunOnGpu();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->accepted) << outcome->detail;
  EXPECT_THAT(against_, ElementsAre(original_, nvcc_));
  EXPECT_EQ(workers_.Count("measure"), 3);
  // Those that follow begin with it.
  ASSERT_TRUE(RunOnGpu());
  ASSERT_EQ(against_.size(), 3u);
  EXPECT_EQ(against_.back(), nvcc_);
}

// What a search has looked at is proven as it ships, from the beginning.
TEST_F(FinalistTest, WhatWasLookedAtIsNotBuiltByNvrtcAgain) {
  const Outcome outcome = RunOnGpu(true);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->accepted) << outcome->detail;
  EXPECT_THAT(verified_, ElementsAre(nvcc_));
  EXPECT_THAT(against_, ElementsAre(original_)) << "nvcc makes the same of it";
  EXPECT_THAT(proven_, ElementsAre(nvcc_));
  EXPECT_EQ(outcome->toolchain, "nvcc toolkit 13");
  EXPECT_EQ(workers_.Count("measure"), 2);
  // The original and its twin, then original and candidate by nvcc, then both to be watched.
  EXPECT_EQ(workers_.Count("build"), 6);
}

TEST_F(FinalistTest, WithoutNvccWhatWasLookedAtIsProvenAsItWasBuilt) {
  unavailable_ = true;
  const Outcome outcome = RunOnGpu(true);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->accepted) << outcome->detail;
  EXPECT_THAT(verified_, ElementsAre(original_));
  EXPECT_EQ(outcome->toolchain, "nvrtc 13.0");
  EXPECT_EQ(workers_.Count("measure"), 2);
}

// Whether a capture repeats takes seconds, in which others are looked at, and it waits for no
// proof.
TEST_F(FinalistTest, ACaptureIsReplayedBesideLooksAndProofs) {
  constexpr int kLooks = 0, kBehindProofs = 2;
  workers_.On("replay", Always(protocol::ToJson(protocol::ReplayReply())));
  for (const char* device : {"cuda:0", "host"}) {
    EvaluateRequest request = MakeRequest();
    request.device = device;
    evaluator_.Replay(request, {}, [](const base::Result<protocol::ReplayReply>&) {});
    workers_.RunAll();
    const bool on_host = request.device == "host";
    EXPECT_EQ(workers_.LanesOf("replay").contains(kLooks), on_host) << device;
    EXPECT_TRUE(workers_.LanesOf("replay").contains(on_host ? kLooks : kBehindProofs)) << device;
  }
  EXPECT_EQ(workers_.Count("replay"), 2);
}

TEST_F(FinalistTest, WhetherItsCodeIsKnownIsAskedOnce) {
  original_code_ = "second";
  EvaluateRequest request = MakeRequest();
  request.device = "cuda:0";
  std::vector<std::string> asked;
  request.same_code = [&asked](const std::string& code, auto known) {
    asked.push_back(code);
    // Who has asked already would wait for its own verdict.
    if (asked.size() == 1) known(std::nullopt);
  };
  Outcome outcome = base::Fail(base::Internal("no answer"));
  evaluator_.Evaluate(std::move(request),
                      [&outcome](Outcome answer) { outcome = std::move(answer); });
  workers_.RunAll();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->accepted) << outcome->detail;
  EXPECT_EQ(asked.size(), 1u);
  EXPECT_THAT(against_, ElementsAre(original_, nvcc_));
}

TEST_F(FinalistTest, AProfileIsOfTheCodeThatWasMeasured) {
  code_ = "other";
  Outcome outcome = RunOnGpu();
  ASSERT_TRUE(outcome) << outcome.error().message;
  std::vector<std::string> profiled;
  workers_.On("profile", [&profiled](const Json& params) -> base::Result<Json> {
    profiled.push_back(params["set"]["candidate_artifact"]);
    protocol::ProfileReply reply;
    reply.rooflines["a"] = {{"source", "static"}};
    return protocol::ToJson(reply);
  });
  const auto profile = [this](const records::Evaluation& evaluation) {
    Outcome result = base::Fail(base::Internal("no answer"));
    EvaluateRequest request = MakeRequest();
    request.device = "cuda:0";
    evaluator_.Profile(std::move(request), evaluation,
                       [&result](Outcome answer) { result = std::move(answer); });
    workers_.RunAll();
    return result;
  };
  const Outcome completed = profile(*outcome);
  ASSERT_TRUE(completed) << completed.error().message;
  EXPECT_THAT(profiled, ElementsAre(nvcc_));
  EXPECT_THAT(workers_.LanesOf("profile"), ElementsAre(::testing::Gt(2)))
      << "behind those of proofs and replays";
  EXPECT_TRUE(completed->accepted);
  EXPECT_EQ(completed->metrics["case a"]["roofline"]["source"], "static");
  // Other code by now: nothing is said, and the verdict is not touched.
  code_ = "third";
  const Outcome changed = profile(*outcome);
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, base::ErrorCode::kUnavailable);
  EXPECT_EQ(profiled.size(), 1u);
}

TEST_F(FinalistTest, WithoutNvccItIsConfirmedAsItIs) {
  unavailable_ = true;
  const Outcome outcome = RunOnGpu();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->accepted) << outcome->detail;
  EXPECT_EQ(outcome->toolchain, "nvrtc 13.0");
}

TEST_F(WorkerEvaluatorTest, TheSecondProcessCanStillRejectIt) {
  int measured = 0;
  workers_.On("measure", [&measured](const Json& params) -> base::Result<Json> {
    EXPECT_EQ(params["confirm"], measured == 1);
    return protocol::ToJson(MakeMeasured(measured++ == 0 ? 1.5 : 1.0));
  });
  ExpectRejected("not_faster");
  EXPECT_EQ(measured, 2);
}

TEST_F(WorkerEvaluatorTest, ALoserIsNotConfirmed) {
  workers_.On("measure", Always(protocol::ToJson(MakeMeasured(1.01))));
  ExpectRejected("not_faster");
  EXPECT_EQ(workers_.Count("measure"), 1);
}

// Once is enough, also after a first measurement that was possible.
TEST_F(WorkerEvaluatorTest, AClaimUnderTheFloorIsNoWinAndItsNumbersAreKept) {
  protocol::MeasureReply claim = MakeMeasured(100);
  claim.cases[0].floor_us = 10;
  claim.metrics["a"]["necessary"] = {{"read", 4096}, {"written", 64}};
  claim.failed = true;
  claim.reason = "faster_than_physics";
  claim.detail = "case 'a' would take 1 us";
  for (const int possible : {0, 1}) {
    int measured = 0;
    workers_.On("measure", [&](const Json&) -> base::Result<Json> {
      return protocol::ToJson(measured++ < possible ? MakeMeasured(1.5) : claim);
    });
    const Outcome outcome = Run(MakeRequest());
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(measured, possible + 1);
    EXPECT_FALSE(outcome->accepted);
    EXPECT_EQ(outcome->reason, "faster_than_physics");
    EXPECT_THAT(outcome->detail, HasSubstr("would take 1 us"));
    EXPECT_FALSE(outcome->speedup);
    ASSERT_EQ(outcome->cases.size(), 1u);
    EXPECT_EQ(outcome->cases[0].variant_us, 1);
    EXPECT_EQ(outcome->cases[0].floor_us, 10);
    EXPECT_EQ(outcome->metrics["case a"]["necessary"]["read"], 4096);
  }
}

TEST_F(WorkerEvaluatorTest, WhatIsBeatenForCertainIsNotConfirmed) {
  workers_.On("measure", Always(protocol::ToJson(MakeMeasured(1.5))));
  EvaluateRequest request = MakeRequest();
  request.best_so_far = [](const auto&) { return 1.9; };
  const Outcome beaten = Run(std::move(request));
  ASSERT_TRUE(beaten) << beaten.error().message;
  EXPECT_FALSE(beaten->accepted);
  EXPECT_EQ(beaten->reason, "not_faster");
  EXPECT_EQ(beaten->metrics["beaten_by"], 1.9);
  EXPECT_NEAR(beaten->metrics["measure"]["speedup"].get<double>(), 1.5, 1e-9);
  EXPECT_EQ(workers_.Count("measure"), 1);
  // What may be as good is.
  request = MakeRequest();
  request.best_so_far = [](const auto&) { return 1.5; };
  const Outcome equal = Run(std::move(request));
  ASSERT_TRUE(equal) << equal.error().message;
  EXPECT_TRUE(equal->accepted) << equal->detail;
  EXPECT_EQ(workers_.Count("measure"), 3);
}

TEST_F(WorkerEvaluatorTest, WhatIsAcceptedIsTimedBesideWhatIsThere) {
  EvaluateRequest request = MakeRequest();
  request.rival = [this](double speedup) {
    EXPECT_NEAR(speedup, 1.5, 1e-9);
    EXPECT_EQ(workers_.Count("measure"), 2) << "only what was confirmed";
    records::Variant rival = MakeRequest().variant;
    rival.id = "rival";
    return std::optional(rival);
  };
  bool fails = false;
  workers_.On("measure", [&fails](const Json& params) -> base::Result<Json> {
    const auto measure = protocol::ParseMeasureRequest(params);
    if (!measure->rival) return protocol::ToJson(MakeMeasured(1.5));
    if (fails) return base::Fail(base::ToolFailed("ended by a signal"));
    return protocol::ToJson(MakeMeasured(0.9));
  });
  const Outcome outcome = Run(request);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->accepted) << "against the original it is faster";
  EXPECT_NEAR(outcome->speedup.value_or(0), 1.5, 1e-9);
  records::Evaluation rival = *outcome;
  rival.variant = "rival";
  rival.metrics.erase("against");
  const auto dueled = Dueled(*outcome, rival);
  ASSERT_TRUE(dueled);
  EXPECT_NEAR(dueled->speedup, 0.9, 1e-9);
  // Nothing hangs on it.
  fails = true;
  request.rival = [](double) { return std::optional(MakeRequest().variant); };
  const Outcome alone = Run(request);
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_TRUE(alone->accepted);
  EXPECT_FALSE(alone->metrics.contains("against"));
}

// A proof takes much longer than what came before it: others become finalists meanwhile.
TEST_F(WorkerEvaluatorTest, WhatIsBeatenWhileItWaitsIsNotProven) {
  const std::map<std::string, double> speedups = {{"first", 1.2}, {"second", 1.1}, {"third", 2.0}};
  std::vector<std::string> proven;
  workers_.On("verify", [&proven](const Json& params) {
    if (params["depth"] == "rest") proven.push_back(params["set"]["variant"]["id"]);
    protocol::VerifyReply reply;
    reply.passed = true;
    return protocol::ToJson(reply);
  });
  workers_.On("measure", [&speedups](const Json& params) {
    return protocol::ToJson(MakeMeasured(speedups.at(params["set"]["variant"]["id"])));
  });
  double best = 0;
  std::map<std::string, records::Evaluation> got;
  for (const auto& [name, speedup] : speedups) {
    EvaluateRequest request = MakeRequest();
    request.variant.id = name;
    request.best_so_far = [&best](const auto&) { return best; };
    evaluator_.Evaluate(std::move(request), [&, id = name](Outcome outcome) {
      ASSERT_TRUE(outcome) << outcome.error().message;
      if (outcome->accepted) best = std::max(best, (*outcome->interval)[0]);
      got[id] = std::move(*outcome);
    });
  }
  workers_.RunAll();
  ASSERT_EQ(got.size(), 3u);
  EXPECT_THAT(proven, ElementsAre("first", "third"));
  EXPECT_TRUE(got["first"].accepted && got["third"].accepted);
  EXPECT_EQ(got["second"].reason, "not_faster");
  EXPECT_NEAR(got["second"].metrics["beaten_by"].get<double>(), 2.0, 0.1);
}

TEST_F(WorkerEvaluatorTest, WhatIsBuiltToTheCodeOfAnotherTakesItsResult) {
  protocol::BuildReply built;
  built.artifact = original_;
  built.text_hashes = {{"entry", "text"}};
  EvaluateRequest request = MakeRequest();
  std::vector<std::string> asked;
  request.same_code = [&asked](const std::string& code, auto known) {
    asked.push_back(code);
    records::Evaluation earlier;
    earlier.variant = "earlier";
    known(asked.size() > 1 ? std::optional<records::Evaluation>() : earlier);
  };
  // A build that does not say what else it holds is not compared.
  workers_.On("build", Always(protocol::ToJson(built)));
  EXPECT_EQ(Run(request)->variant, request.variant.id);
  EXPECT_THAT(asked, ::testing::IsEmpty());
  built.data_hash = "data";
  workers_.On("build", Always(protocol::ToJson(built)));
  const auto verified = workers_.Count("verify");
  EXPECT_EQ(Run(request)->variant, "earlier");
  EXPECT_THAT(asked, ElementsAre("text data"));
  EXPECT_EQ(workers_.Count("verify"), verified);
  // Nothing is known: it is judged itself.
  EXPECT_EQ(Run(request)->variant, request.variant.id);
}

TEST_F(WorkerEvaluatorTest, AForbiddenConstructIsNeverBuilt) {
  protocol::CheckVariantReply checked;
  checked.reason = "forbidden_construct";
  workers_.On("check_variant", Always(protocol::ToJson(checked)));
  ExpectRejected("forbidden_construct");
  EXPECT_EQ(workers_.Count("build"), 0);
}

TEST_F(WorkerEvaluatorTest, WhatDoesNotVerifyIsNeverMeasured) {
  protocol::VerifyReply verified;
  verified.reason = "wrong_values";
  workers_.On("verify", Always(protocol::ToJson(verified)));
  ExpectRejected("wrong_values");
  EXPECT_EQ(workers_.Count("measure"), 0);
}

// The steps of a verification that only finalists are worth come after the first measurement.
TEST_F(WorkerEvaluatorTest, AFinalistIsVerifiedToTheEnd) {
  std::vector<std::string> depths;
  workers_.On("verify", [&depths](const Json& params) -> base::Result<Json> {
    depths.push_back(params["depth"]);
    protocol::VerifyReply verified;
    verified.passed = params["depth"] == "screening";
    verified.reason = verified.passed ? "" : "stateful";
    verified.checks = {{"red_zones", true, ""}};
    verified.steps[depths.back()] = {{"launches", 3}};
    records::CaseResult result;
    result.name = "a";
    result.error = verified.passed ? 0.5 : 2.5;
    verified.cases = {result};
    return protocol::ToJson(verified);
  });
  const Outcome outcome = Run(MakeRequest());
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_FALSE(outcome->accepted);
  EXPECT_EQ(outcome->reason, "stateful");
  EXPECT_THAT(depths, ElementsAre("screening", "rest"));
  EXPECT_EQ(workers_.Count("measure"), 1) << "it is not confirmed";
  EXPECT_EQ(outcome->metrics["verify"]["screening"]["launches"], 3);
  EXPECT_EQ(outcome->metrics["verify"]["rest"]["launches"], 3);
  EXPECT_EQ(std::count_if(outcome->checks.begin(), outcome->checks.end(),
                          [](const auto& check) { return check.name == "red_zones"; }),
            1);
}

// Its accesses are looked at in builds of their own, of the original and of the candidate.
TEST_F(WorkerEvaluatorTest, AFinalistIsBuiltToBeWatched) {
  std::vector<std::string> texts;
  bool fails = false;
  workers_.On("build", [&](const Json& params) -> base::Result<Json> {
    protocol::BuildReply built;
    built.artifact = original_;
    built.lacks = {"shared_memory"};
    if (params.value("watched", false)) {
      texts.push_back(params["text"]);
      built.artifact = "watched " + std::to_string(texts.size());
      built.lacks = {"neither is asked"};
      built.failed = fails;
      built.log = "no such option";
    }
    return protocol::ToJson(built);
  });
  std::vector<protocol::CandidateSet> sets;
  workers_.On("verify", [&](const Json& params) -> base::Result<Json> {
    sets.push_back(protocol::ParseVerifyRequest(params)->set);
    protocol::VerifyReply verified;
    verified.passed = true;
    return protocol::ToJson(verified);
  });
  ASSERT_TRUE(Run(MakeRequest()));
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[0], MakeRequest().kernel.closure_source);
  EXPECT_THAT(texts[1], HasSubstr("entry"));
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_EQ(sets[0].watched_candidate, "") << "screening does without";
  EXPECT_EQ(sets[1].watched_original, "watched 1");
  EXPECT_EQ(sets[1].watched_candidate, "watched 2");
  EXPECT_THAT(sets[1].lacks, ElementsAre("shared_memory"));
  // A compiler that cannot do it is no verdict.
  fails = true;
  const Outcome outcome = Run(MakeRequest());
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->accepted) << outcome->detail;
  EXPECT_EQ(sets.back().watched_candidate, "");
  EXPECT_THAT(sets.back().not_watched, HasSubstr("no such option"));
}

// What loses is not worth it.
TEST_F(WorkerEvaluatorTest, ALoserIsScreenedOnly) {
  workers_.On("measure", Always(protocol::ToJson(MakeMeasured(1.01))));
  ExpectRejected("not_faster");
  EXPECT_EQ(workers_.Count("verify"), 1);
}

TEST_F(WorkerEvaluatorTest, AWorkerThatDoesNotSurviveTheCandidateIsItsVerdict) {
  workers_.On("verify", Fails(base::ToolFailed("ended by a signal")));
  ExpectRejected("crashed");
  workers_.On("check_variant", Fails(base::ToolFailed("ended by a signal")));
  ExpectRejected("unsupported_construct");
}

// What a candidate may take is limited in the worker, which then says so: when the worker itself
// does not answer, the machine was busy, or the device hangs.
TEST_F(WorkerEvaluatorTest, AWorkerThatDoesNotAnswerIsNoVerdict) {
  for (const char* stage : {"measure", "verify"}) {
    workers_.On(stage, Fails(base::Timeout("too long")));
    ExpectError(base::ErrorCode::kTimeout);
  }
}

TEST_F(WorkerEvaluatorTest, AnIllegalWorkloadIsAnError) {
  protocol::VerifyReply verified;
  verified.original_failed = true;
  verified.detail = "it writes out of bounds";
  workers_.On("verify", Always(protocol::ToJson(verified)));
  ExpectError(base::ErrorCode::kInvalidArgument);
}

TEST_F(WorkerEvaluatorTest, AnOriginalThatDoesNotBuildIsAnError) {
  protocol::BuildReply failed;
  failed.failed = true;
  failed.log = "expected ';'";
  workers_.On("build", Always(protocol::ToJson(failed)));
  const Outcome outcome = Run(MakeRequest());
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, base::ErrorCode::kInvalidArgument);
  EXPECT_THAT(outcome.error().message, HasSubstr("expected ';'"));
}

TEST_F(WorkerEvaluatorTest, AMissingWorkerOrDeviceIsAnError) {
  workers_.On("describe_device", Fails(base::Unavailable("no worker")));
  ExpectError(base::ErrorCode::kUnavailable);
}

TEST_F(WorkerEvaluatorTest, WithoutATwinEqualityDecides) {
  workers_.On("twin", Fails(base::ToolFailed("ended by a signal")));
  workers_.On("verify", [](const Json& params) -> base::Result<Json> {
    EXPECT_EQ(params["set"]["twin_artifact"], "");
    EXPECT_EQ(params["set"]["twin"]["declined"], true);
    protocol::VerifyReply verified;
    verified.passed = true;
    return protocol::ToJson(verified);
  });
  const Outcome outcome = Run(MakeRequest());
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->accepted);
}

// A GPU has no type that is wider than double, and nobody watches its accesses.
TEST_F(WorkerEvaluatorTest, TwinsAndWatchedBuildsAreForWhereTheyRun) {
  protocol::TwinReply twin;
  twin.source = "twin";
  twin.device = "host";
  workers_.On("twin", Always(protocol::ToJson(twin)));
  protocol::BuildReply built;
  built.artifact = original_;
  built.text_hashes = {{"entry", "text"}, {"other", "more"}};
  std::vector<std::string> twins, watched, others;
  workers_.On("build", [&](const Json& params) -> base::Result<Json> {
    auto& devices = params["text"] == "twin"         ? twins
                    : params.value("watched", false) ? watched
                                                     : others;
    if (params["device"] == "host") {
      EXPECT_EQ(params["target"], "");
    }
    devices.push_back(params["device"].get<std::string>());
    return protocol::ToJson(built);
  });
  EvaluateRequest request = MakeRequest();
  request.device = "cuda:0";
  workers_.On("describe_device", Always({{"name", "a GPU"}, {"arch", "sm_90"}}));
  ASSERT_TRUE(Run(std::move(request)));
  EXPECT_THAT(twins, ElementsAre("host"));
  EXPECT_THAT(watched, ElementsAre("host", "host"));
  ASSERT_FALSE(others.empty());
  for (const std::string& device : others) EXPECT_EQ(device, "cuda:0");
}

TEST_F(WorkerEvaluatorTest, BitwiseProjectsNeedNoTwin) {
  EvaluateRequest request = MakeRequest();
  request.numerics = "bitwise";
  workers_.On("verify", [](const Json& params) -> base::Result<Json> {
    EXPECT_EQ(params["set"]["workload"]["tolerance"]["bitwise"], true);
    protocol::VerifyReply verified;
    verified.passed = true;
    return protocol::ToJson(verified);
  });
  EXPECT_TRUE(Run(std::move(request)));
  EXPECT_EQ(workers_.Count("twin"), 0);
}

TEST_F(WorkerEvaluatorTest, TheOriginalIsBuiltOnceForAllItsCandidates) {
  int done = 0;
  for (int i = 0; i < 3; ++i) {
    evaluator_.Evaluate(MakeRequest(), [&done](Outcome outcome) {
      EXPECT_TRUE(outcome && outcome->accepted);
      ++done;
    });
  }
  workers_.RunAll();
  EXPECT_EQ(done, 3);
  EXPECT_EQ(workers_.Count("twin"), 1);
  // Each finalist is built once more, and asks for the original likewise, which lies there.
  EXPECT_EQ(workers_.Count("build"), 2 + 3 * 3);
  EXPECT_TRUE(Run(MakeRequest()));
  EXPECT_EQ(workers_.Count("build"), 2 + 4 * 3);
}

TEST_F(WorkerEvaluatorTest, ADeletedArtifactIsBuiltAgain) {
  EXPECT_TRUE(Run(MakeRequest()));
  ASSERT_EQ(::remove(original_.c_str()), 0);
  EXPECT_TRUE(Run(MakeRequest()));
  EXPECT_EQ(workers_.Count("twin"), 2);
}

TEST_F(WorkerEvaluatorTest, StoppingTheWorkersEndsIt) {
  std::optional<Outcome> got;
  evaluator_.Evaluate(MakeRequest(), [&got](Outcome outcome) { got = std::move(outcome); });
  workers_.Stop();
  ASSERT_TRUE(got);
  ASSERT_FALSE(*got);
  EXPECT_EQ(got->error().code, base::ErrorCode::kCancelled);
}

}  // namespace
}  // namespace cupilot::evaluate
