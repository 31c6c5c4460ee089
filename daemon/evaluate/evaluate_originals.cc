// What the evaluator asks about a kernel's original, without any candidate.
#include <memory>
#include <utility>

#include "evaluate/calls.h"
#include "evaluate/object_checker.h"
#include "evaluate/worker_evaluator.h"

namespace cupilot::evaluate {
namespace {

// A search on a GPU begins with some candidates, each built by another process.
constexpr int kBuildersAtOnce = 8;

protocol::CandidateSet SetOfOriginal(const EvaluateRequest& request, std::string artifact,
                                     std::string work_folder) {
  protocol::CandidateSet set;
  set.kernel = request.kernel;
  set.workload = request.workload;
  set.original_artifact = std::move(artifact);
  set.seed = request.seed;
  set.device = request.device;
  set.work_folder = std::move(work_folder);
  return set;
}

}  // namespace

void WorkerEvaluator::BeginDevice(const std::string& device) {
  if (DeviceKind(device) == "cuda") {
    evaluate::BeginDevice(workers_, device, settings_.build.artifact_folder);
  }
}

void WorkerEvaluator::BeginBuilds(const records::CompileCommand& command, const std::string& device,
                                  const std::string& arch) {
  if (DeviceKind(device) != "cuda") return;
  EvaluateRequest request;
  request.command = command;
  request.device = device;
  DeviceDescription gpu;
  gpu.device.arch = arch;
  evaluate::BeginBuilds(workers_, MakeBuildRequest(request, gpu, {}, settings_.build), device,
                        kBuildersAtOnce);
}

void WorkerEvaluator::Prepare(const EvaluateRequest& request) {
  if (DeviceKind(request.device) != "cuda") return;
  baselines_.Find(request, KnownBaselines::Need::kAll, [](const base::Result<Baseline>&) {});
  DescribeDevice(workers_, request.device,
                 [&workers = workers_, &settings = settings_,
                  request](const base::Result<DeviceDescription>& device) {
                   if (!device) return;
                   // Of the artifact the folder counts: what will be built lies there.
                   const std::string& architecture = device->device.arch;
                   PrepareDevice(workers, SetOfOriginal(request,
                                                        settings.build.artifact_folder + "/" +
                                                            architecture + "/original",
                                                        settings.work_folder + "/" + architecture));
                 });
  // Once more with the original, which can be timed before there is a candidate.
  baselines_.Find(request, KnownBaselines::Need::kOriginal,
                  [&workers = workers_, &settings = settings_,
                   request](const base::Result<Baseline>& baseline) {
                    if (!baseline) return;
                    PrepareDevice(workers, SetOfOriginal(request, baseline->original_artifact,
                                                         settings.work_folder + "/" +
                                                             baseline->device.device.arch));
                  });
}

void WorkerEvaluator::Replay(EvaluateRequest request, protocol::LeftBehind after,
                             base::Callback<protocol::ReplayReply> done) {
  baselines_.Find(
      request, KnownBaselines::Need::kOriginal,
      [this, request, after = std::move(after),
       done = std::move(done)](base::Result<Baseline> baseline) mutable {
        if (!baseline) return done(base::Fail(std::move(baseline.error())));
        protocol::ReplayRequest replay;
        replay.set = SetOfOriginal(request, baseline->original_artifact,
                                   settings_.work_folder + "/" + baseline->device.device.arch);
        replay.after = std::move(after);
        // A kernel's first look waits for its replay, so replays have lanes of their own: beside
        // the looks at other kernels, and not behind their proofs, which take much longer.
        const bool apart = DeviceKind(request.device) == "cuda";
        if (!apart) return evaluate::Replay(workers_, replay, 0, std::move(done));
        const auto lanes = replay_lanes_.try_emplace(request.device, settings_.proof_lanes).first;
        std::shared_ptr<ProofLanes::Place> place = lanes->second.Enter(request.kernel.key);
        const int lane = settings_.proof_lanes + place->lane();
        evaluate::Replay(workers_, replay, lane,
                         [place, done = std::move(done)](auto reply) mutable {
                           place.reset();
                           done(std::move(reply));
                         });
      });
}

void WorkerEvaluator::CheckObject(const EvaluateRequest& request, const std::string& object,
                                  base::Callback<ObjectCheck> done) {
  if (DeviceKind(request.device) != "cuda") return done(ObjectCheck{});
  std::make_shared<ObjectChecker>(
      ObjectChecker::Around{workers_, baselines_, settings_.build, settings_.work_folder}, request,
      object, std::move(done))
      ->Start();
}

}  // namespace cupilot::evaluate
