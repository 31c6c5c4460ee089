// A search on a GPU on a simulated clock, with the workers' answers and how long each takes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cache/memory_store.h"
#include "evaluate/worker_evaluator.h"
#include "service/kernel_job.h"
#include "tests/daemon/service/simulated_workers.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::service {

class AheadTest : public ::testing::Test {
 protected:
  using Json = records::Json;
  using WorkerKind = evaluate::WorkerKind;
  using milliseconds = std::chrono::milliseconds;

  struct Times {
    milliseconds rewrite{100}, check{50}, build{500}, verify{80}, measure{120};
  };

  // A kernel with a hundred values of a tunable, on a GPU.
  void Begin(const Times& times, int cores) {
    job_.reset();
    evaluator_.reset();
    catalog_.reset();
    if (!keeps_records_) store_ = std::make_unique<cache::MemoryStore>();
    catalog_ = std::make_unique<Catalog>(*store_);
    pool_ = std::make_unique<Pool>(*store_, 100);
    clock_ = std::make_unique<test::ManualClock>();
    workers_ = std::make_unique<test::SimulatedWorkers>(*clock_, evaluate::LimitsFor(cores));
    evaluator_ = std::make_unique<evaluate::WorkerEvaluator>(
        *workers_, *clock_,
        evaluate::WorkerEvaluator::Settings{{folder_.path(), 1000}, folder_.path()});
    Answer(times);
    JobInput input;
    input.kernel.name = input.kernel.base_name = "k";
    input.kernel.key = "key";
    records::Tunable tunable;
    tunable.name = "WIDTH";
    tunable.default_value = 1;
    for (int value = 1; value <= 100; ++value) tunable.values.push_back(value);
    input.kernel.tunables = {tunable};
    records::Case one;
    one.name = "a";
    one.grid = one.block = {"1", "1", "1"};
    input.kernel.cases = input.workload.cases = {one};
    input.workload.kernel = "k";
    input.place.device = "cuda:0";
    input.place.identity = {"a GPU", "sm_90", 132, 1};
    input.budget_seconds = 1e6;
    if (change_) change_(input);
    job_ = std::make_unique<KernelJob>(
        KernelJob::Collaborators{*workers_, *evaluator_, *catalog_, *clock_, *pool_},
        std::move(input), [](const KernelJob&) {});
  }

  void EndStep() {
    while (job_->busy()) {
      ASSERT_TRUE(workers_->Advance());
      Watch();
    }
  }

  void Step() {
    job_->Step([](const base::Result<bool>&) {});
    EndStep();
  }

  // Until nothing is left or `most` candidates were asked for.
  void Tune(const Times& times, int cores, int most) {
    Begin(times, cores);
    for (int asked = 0; !job_->finished() && asked < most;) {
      Step();
      asked = static_cast<int>(job_->search()->ideas().size());
    }
    order_.clear();
    kinds_.clear();
    for (const search::Idea& idea : job_->search()->ideas()) {
      order_.push_back(idea.candidate.strategy.title);
      if (idea.outcome) kinds_.push_back(idea.outcome->kind);
    }
  }

  // After each event: the GPU has nothing to do only while everything that could be under way is.
  void Watch() {
    if (!workers_->DeviceIdle()) return;
    EXPECT_EQ(workers_->WaitingFor(WorkerKind::kDevice), 0u) << "the GPU waits beside its work";
    if (workers_->WaitingFor(WorkerKind::kBuild) > 0) {
      EXPECT_FALSE(workers_->CouldBuild()) << "a build waits beside a free worker";
    }
  }

  void Answer(const Times& times) {
    const auto always = [](Json json) {
      return [json = std::move(json)](const Json&) -> base::Result<Json> { return json; };
    };
    workers_->On("describe_device", milliseconds(1),
                 always({{"name", "a GPU"},
                         {"arch", "sm_90"},
                         {"sm_count", 132},
                         {"memory_bytes", 1},
                         {"driver", ""}}));
    workers_->On("prepare", milliseconds(1), always({{"prepared", true}}));
    protocol::ProposeReply proposed;
    if (much_data_) {
      proposed.features.emplace();
      proposed.features->values[records::FeatureAt("case_bytes")] = 64 << 20;
    }
    workers_->On("propose", milliseconds(1), always(protocol::ToJson(proposed)));
    workers_->On("retune", times.rewrite, [this](const Json& params) -> base::Result<Json> {
      const auto request = protocol::ParseRetuneRequest(params);
      protocol::RewriteReply reply;
      reply.variant.kernel = "k";
      reply.variant.entry = "v";
      reply.variant.source =
          "__global__ void v() { /* " + std::to_string(request->values[0].second) + " */ }";
      if (block_is_width_) {
        records::Launch launch;
        launch.entry = "v";
        launch.block = {std::to_string(request->values[0].second), "1", "1"};
        reply.variant.launches = {launch};
        reply.variant.entry.clear();
      }
      reply.variant.strategy.emplace();
      reply.variant.strategy->title = std::to_string(request->values[0].second);
      records::StrategyStep step;
      step.technique = search::kTunablesStep;
      step.parameters["WIDTH"] = request->values[0].second;
      reply.variant.strategy->steps = {step};
      return protocol::ToJson(reply);
    });
    protocol::CheckVariantReply checked;
    checked.passed = true;
    checked.entries = {"v"};
    workers_->On("check_variant", times.check, always(protocol::ToJson(checked)));
    protocol::TwinReply twin;
    twin.declined = true;
    workers_->On("twin", milliseconds(1), always(protocol::ToJson(twin)));
    protocol::BuildReply built;
    built.artifact = folder_.Write("artifact", "");
    built.target = "compute_90,sm_90";
    workers_->On("build", times.build, [this, built](const Json& params) -> base::Result<Json> {
      protocol::BuildReply reply = built;
      const std::string text = protocol::ParseBuildRequest(params)->text;
      if (const std::size_t at = text.find("/* "); at != std::string::npos && code_of_) {
        reply.text_hashes = {{"v", code_of_(std::stoi(text.substr(at + 3)))}};
        reply.data_hash = "none";
      }
      return protocol::ToJson(reply);
    });
    workers_->On("verify", times.verify, [this](const Json& params) -> base::Result<Json> {
      const auto request = protocol::ParseVerifyRequest(params);
      const int number = std::stoi(request->set.variant.strategy->title);
      verified_.push_back(number);
      protocol::VerifyReply reply;
      reply.passed = number <= most_right_;
      if (!reply.passed) reply.reason = "wrong_values";
      return protocol::ToJson(reply);
    });
    // Faster by its number, so that the search has something to follow.
    workers_->On("measure", times.measure, [this](const Json& params) -> base::Result<Json> {
      const auto request = protocol::ParseMeasureRequest(params);
      (request->rival     ? dueled_
       : request->probe   ? probed_
       : request->confirm ? confirmed_
                          : measured_)
          .push_back(std::stoi(request->set.variant.strategy->title));
      const auto alone = [this](const records::Variant& variant) {
        return (losers_ ? 0.5 : 1.1) + std::stod(variant.strategy->title) / (losers_ ? 1000 : 100);
      };
      const double speedup =
          alone(request->set.variant) / (request->rival ? alone(*request->rival) : 1);
      protocol::MeasureReply reply;
      for (const char* l2 : {"cold", "warm"}) {
        records::CaseResult result;
        result.name = "a";
        result.l2 = l2;
        result.original_us = original_us_;
        result.variant_us = original_us_ / speedup;
        result.speedup = speedup;
        result.interval = {speedup * 0.999, speedup * 1.001};
        reply.cases.push_back(result);
      }
      reply.device = {"a GPU", "sm_90", 132, 1};
      return protocol::ToJson(reply);
    });
    workers_->On("profile", times.measure, always(protocol::ToJson(protocol::ProfileReply())));
  }

  // What begins a candidate or its evaluation, asked for after `time`.
  int BegunAfter(std::chrono::nanoseconds time) const {
    return static_cast<int>(std::count_if(
        workers_->events().begin(), workers_->events().end(), [time](const auto& event) {
          return event.asked > time && (event.op == "retune" || event.op == "check_variant");
        }));
  }

  // What the device does for a candidate.
  static bool IsTrial(const test::SimulatedWorkers::Event& event) {
    return event.kind == WorkerKind::kDevice && event.op != "describe_device" &&
           event.op != "prepare";
  }

  // Of the time between the first and the last request of the device, the share that it had one.
  double BusyShare() const {
    std::chrono::nanoseconds first{0}, last{0}, busy{0};
    bool any = false;
    for (const auto& event : workers_->events()) {
      if (!IsTrial(event)) continue;
      if (!any) first = event.began;
      any = true;
      last = event.ended;
      busy += event.ended - event.began;
    }
    return any ? static_cast<double>(busy.count()) / static_cast<double>((last - first).count())
               : 0;
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<test::ManualClock> clock_;
  std::unique_ptr<test::SimulatedWorkers> workers_;
  std::unique_ptr<cache::MemoryStore> store_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<evaluate::WorkerEvaluator> evaluator_;
  std::unique_ptr<KernelJob> job_;
  std::vector<std::string> order_;  // what was tried
  std::vector<search::Outcome::Kind> kinds_;
  std::vector<int> measured_, confirmed_, dueled_;  // by number, which is how good it is
  std::function<void(JobInput&)> change_;
  bool block_is_width_ = false;
  bool losers_ = false;  // all are slower than the original
  double original_us_ = 100;
  bool much_data_ = false;  // so that candidates are probed
  int most_right_ = 100;    // those with greater numbers are wrong
  std::vector<int> probed_, verified_;
  bool keeps_records_ = false;               // of the job before
  std::function<std::string(int)> code_of_;  // what a candidate is built to; not set: nobody says
};

}  // namespace cupilot::service
