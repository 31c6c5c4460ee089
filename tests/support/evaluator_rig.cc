#include "tests/support/evaluator_rig.h"

#include "base/install_layout.h"
#include "evaluate/calls.h"

namespace cupilot::test {
namespace {

evaluate::ProcessWorkers::Settings MakeSettings() {
  evaluate::ProcessWorkers::Settings settings;
  settings.program = base::LibexecFolder() + "/cupilot-worker";
  settings.nice = 0;
  return settings;
}

}  // namespace

EvaluatorRig::EvaluatorRig() : workers_(loop_, clock_, MakeSettings()) { PutInFront(workers_); }

EvaluatorRig::~EvaluatorRig() {
  workers_.Stop();
  loop_.RunOnce(false);
}

void EvaluatorRig::PutInFront(evaluate::Workers& front) {
  front_ = &front;
  evaluator_.emplace(
      front, clock_,
      // What takes long because something else runs here is no slow candidate.
      evaluate::WorkerEvaluator::Settings{{folder_ / "artifacts", 60000}, folder_ / "work", 1000});
}

std::optional<evaluate::EvaluateRequest> EvaluatorRig::RequestFor(const std::string& file,
                                                                  const std::string& text,
                                                                  const std::string& kernel) {
  evaluate::EvaluateRequest request;
  request.command.source = folder_.Write(file, text);
  request.command.directory = folder_.path();
  request.command.arguments = {base::HostToolkitFolder() + "/bin/nvcc", "-O3", "-std=c++17", "-c",
                               request.command.source};
  protocol::ScanRequest scan;
  scan.command = request.command;
  if (!kernel.empty()) scan.kernels = {kernel};
  const auto reply = Wait<protocol::ScanReply>(
      [&](auto done) { evaluate::Scan(*front_, scan, "host", std::move(done)); });
  if (!reply || reply->kernels.size() != 1) {
    ADD_FAILURE() << file << ": " << (reply ? "not one kernel" : reply.error().message);
    return std::nullopt;
  }
  request.kernel = reply->kernels[0];
  request.workload.kernel = request.kernel.name;
  request.workload.cases = request.kernel.cases;
  request.workload.tolerance = request.kernel.tolerance;
  return request;
}

base::Result<records::Evaluation> EvaluatorRig::Evaluate(evaluate::EvaluateRequest request) {
  return Wait<records::Evaluation>(
      [&](auto done) { evaluator_->Evaluate(std::move(request), std::move(done)); });
}

base::Result<protocol::ReplayReply> EvaluatorRig::Replay(evaluate::EvaluateRequest request,
                                                         protocol::LeftBehind after) {
  return Wait<protocol::ReplayReply>([&](auto done) {
    evaluator_->Replay(std::move(request), std::move(after), std::move(done));
  });
}

}  // namespace cupilot::test
