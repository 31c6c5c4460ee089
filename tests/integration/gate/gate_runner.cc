#include "tests/integration/gate/gate_runner.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/file.h"
#include "evaluate/calls.h"
#include "tests/support/forwarding_workers.h"

namespace cupilot::gate {
namespace {

using evaluate::WorkerCall;
using evaluate::WorkerKind;
using records::Json;

protocol::MeasureReply InventTimes(const protocol::CandidateSet& set) {
  const bool cuda = evaluate::DeviceKind(set.device) == "cuda";
  protocol::MeasureReply reply;
  for (const records::Case& one : set.workload.cases) {
    for (const char* l2 : {"cold", "warm"}) {
      if (!cuda && std::string(l2) == "cold") continue;
      records::CaseResult result;
      result.name = one.name;
      result.original_us = 1000;
      result.variant_us = 500;
      result.speedup = 2;
      result.interval = {1.9, 2.1};
      result.samples = 60;
      result.l2 = l2;
      reply.cases.push_back(std::move(result));
    }
  }
  return reply;
}

}  // namespace

std::string Misjudged(const Candidate& candidate, const Outcome& outcome) {
  const std::string said =
      outcome.accepted ? std::string("accepted") : outcome.reason + ": " + outcome.detail;
  if (candidate.good()) {
    if (!outcome.passed()) return "a good one is refused: " + said;
    const bool guarded = outcome.guard.find(candidate.guard) != std::string::npos;
    return guarded ? "" : "its guard does not say " + candidate.guard + ": " + outcome.guard;
  }
  if (outcome.passed()) return "a bad one passes";
  const auto& expect = candidate.expect;
  if (std::find(expect.begin(), expect.end(), outcome.reason) != expect.end()) return {};
  std::string reasons;
  for (const std::string& reason : expect) reasons += (reasons.empty() ? "" : ", ") + reason;
  return "expected " + reasons + ", not " + said;
}

// Passes calls on, but for the times; and knows how long each operation took. The device gets one
// call at a time from here, so that none waits while its time runs.
class Runner::Front final : public test::ForwardingWorkers {
 public:
  Front(evaluate::Workers& workers, loop::Loop& loop) : ForwardingWorkers(workers), loop_(loop) {}

  // By variant's id, which is in what the stages are asked.
  std::map<std::string, std::map<std::string, double>> seconds;

  void Call(WorkerCall call, base::Callback<Json> done) override {
    if (call.op == "measure") return Invent(call, std::move(done));
    // What nvcc would make of it is not asked: it takes as long as all the rest.
    if (call.op == "build" && call.params.value("as_compiled", false)) {
      return Post(std::move(done), base::Fail(base::Unavailable("not asked")));
    }
    if (call.kind != WorkerKind::kDevice) return workers_.Call(std::move(call), std::move(done));
    waiting_.push_back({std::move(call), std::move(done)});
    Pump();
  }

 private:
  struct Waiting {
    WorkerCall call;
    base::Callback<Json> done;
  };

  void Invent(const WorkerCall& call, base::Callback<Json> done) {
    auto request = protocol::ParseMeasureRequest(call.params);
    if (!request) return Post(std::move(done), base::Fail(request.error()));
    Post(std::move(done), protocol::ToJson(InventTimes(request->set)));
  }

  void Post(base::Callback<Json> done, base::Result<Json> result) {
    loop_.Post([done = std::move(done), result = std::move(result)]() mutable {
      done(std::move(result));
    });
  }

  void Pump() {
    if (busy_ || waiting_.empty()) return;
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    const std::string op = next.call.op;
    const std::string variant = VariantOf(next.call.params);
    const auto begin = clock_.Now();
    workers_.Call(std::move(next.call), [this, op, variant, begin,
                                         done = std::move(next.done)](auto result) mutable {
      busy_ = false;
      seconds[variant][op] += std::chrono::duration<double>(clock_.Now() - begin).count();
      done(std::move(result));
      Pump();
    });
  }

  static std::string VariantOf(const Json& params) {
    const auto set = params.find("set");
    if (set == params.end() || !set->contains("variant")) return {};
    return (*set)["variant"].value("id", "");
  }

  loop::Loop& loop_;
  base::SystemClock clock_;
  std::deque<Waiting> waiting_;
  bool busy_ = false;
};

Runner::Runner(const Collection& collection, RunnerSettings settings)
    : collection_(collection), settings_(std::move(settings)) {
  evaluate::ProcessWorkers::Settings workers;
  workers.program = settings_.worker;
  workers.nice = 0;
  for (auto* limits : {&workers.limits.host, &workers.limits.gpu}) {
    (*limits)[static_cast<std::size_t>(WorkerKind::kSource)] = std::max(1, settings_.builders / 2);
    (*limits)[static_cast<std::size_t>(WorkerKind::kBuild)] = settings_.builders;
  }
  workers_ = std::make_unique<evaluate::ProcessWorkers>(loop_, clock_, workers);
  front_ = std::make_unique<Front>(*workers_, loop_);
  evaluator_ = std::make_unique<evaluate::WorkerEvaluator>(
      *front_, clock_,
      evaluate::WorkerEvaluator::Settings{{settings_.work_folder + "/artifacts", 120000},
                                          settings_.work_folder + "/work"});
}

Runner::~Runner() {
  workers_->Stop();
  loop_.RunOnce(false);
}

base::Result<evaluate::EvaluateRequest> Runner::Scan(const std::string& kernel) {
  evaluate::EvaluateRequest request;
  request.command.directory = settings_.work_folder;
  request.command.source = settings_.work_folder + "/" + kernel + ".cu";
  request.command.arguments = {settings_.compiler, "-O3", "-std=c++17", "-c",
                               request.command.source};
  request.device = settings_.device;
  // As a project compiles that is made for the GPU at hand.
  if (evaluate::DeviceKind(settings_.device) == "cuda") {
    request.command.arguments.insert(request.command.arguments.begin() + 1, "-arch=native");
  }
  TRY(base::MakeFolders(settings_.work_folder));
  TRY(base::WriteFileIfDifferent(request.command.source, collection_.kernels.at(kernel)));
  protocol::ScanRequest scan;
  scan.command = request.command;
  std::optional<base::Result<protocol::ScanReply>> reply;
  evaluate::Scan(*front_, scan, "host", [&reply](auto result) { reply = std::move(result); });
  while (!reply) loop_.RunOnce(true);
  if (!*reply) return base::Fail((*reply).error().In(kernel));
  if ((*reply)->kernels.size() != 1) {
    std::string why = kernel + ".cu has not one tagged kernel";
    for (const std::string& warning : (*reply)->warnings) why += "; " + warning;
    return base::Fail(base::InvalidArgument(why));
  }
  request.kernel = (*reply)->kernels[0];
  request.workload.kernel = request.kernel.name;
  request.workload.cases = request.kernel.cases;
  request.workload.tolerance = request.kernel.tolerance;
  const auto own = collection_.workloads.find(kernel);
  if (own != collection_.workloads.end()) request.workload = own->second;
  return request;
}

const base::Result<evaluate::EvaluateRequest>& Runner::RequestOf(const std::string& kernel) {
  auto found = requests_.find(kernel);
  if (found == requests_.end()) found = requests_.emplace(kernel, Scan(kernel)).first;
  return found->second;
}

void Runner::Start(const Trial& trial) {
  const auto& scanned = RequestOf(trial.candidate->kernel);
  Outcome failed;
  if (!scanned) {
    failed.reason = "error";
    failed.detail = scanned.error().message;
    return done_(trial, failed);
  }
  auto variant = records::ParseVariant(trial.candidate->variant);
  if (!variant) {
    failed.reason = "invalid_document";
    failed.detail = variant.error().message;
    return done_(trial, failed);
  }
  evaluate::EvaluateRequest request = *scanned;
  request.variant = *variant;
  request.seed = trial.seed;
  const std::string id = variant->id;
  ++under_way_;
  evaluator_->Evaluate(
      std::move(request), [this, trial, id](base::Result<records::Evaluation> evaluation) {
        --under_way_;
        Outcome outcome;
        if (evaluation) {
          outcome.accepted = evaluation->accepted;
          outcome.reason = evaluation->reason;
          outcome.detail = evaluation->detail;
          outcome.guard = evaluation->guard;
          outcome.checks = std::move(evaluation->checks);
          outcome.steps = evaluation->metrics.value("verify", records::Json::object());
        } else {
          outcome.reason = "error";
          outcome.detail = evaluation.error().message;
        }
        outcome.seconds = std::exchange(front_->seconds[id], {});
        done_(trial, outcome);
      });
}

void Runner::Run(const std::vector<Trial>& trials,
                 const std::function<void(const Trial&, const Outcome&)>& done,
                 const std::function<bool()>& enough) {
  done_ = done;
  for (const Trial& trial : trials) {
    if (enough && enough()) break;
    while (under_way_ >= settings_.at_once) loop_.RunOnce(true);
    Start(trial);
  }
  while (under_way_ > 0) loop_.RunOnce(true);
}

}  // namespace cupilot::gate
