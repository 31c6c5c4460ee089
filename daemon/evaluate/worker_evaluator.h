// The evaluator over worker processes. On the loop thread; must outlive its evaluations, which end
// (with kCancelled) when the workers are stopped.
#pragma once

#include <map>
#include <string>

#include "base/clock.h"
#include "evaluate/evaluator.h"
#include "evaluate/finalists.h"
#include "evaluate/known_baselines.h"
#include "evaluate/proof_lanes.h"
#include "evaluate/workers.h"

namespace cupilot::evaluate {

class WorkerEvaluator final : public Evaluator {
 public:
  struct Settings {
    BuildSettings build;
    std::string work_folder;   // scratch of the device workers
    double probe_limit = 1.1;  // a candidate slower than this times the original stops early
    int proof_lanes = 1;       // of a GPU (WorkerCall::lane)
  };

  WorkerEvaluator(Workers& workers, const base::Clock& clock, Settings settings);
  ~WorkerEvaluator() override;

  void BeginDevice(const std::string& device) override;
  void BeginBuilds(const records::CompileCommand& command, const std::string& device,
                   const std::string& arch) override;
  void Prepare(const EvaluateRequest& request) override;
  void Evaluate(EvaluateRequest request, base::Callback<records::Evaluation> done) override;
  void Profile(EvaluateRequest request, records::Evaluation evaluation,
               base::Callback<records::Evaluation> done) override;
  void CheckObject(const EvaluateRequest& request, const std::string& object,
                   base::Callback<ObjectCheck> done) override;
  void Replay(EvaluateRequest request, protocol::LeftBehind after,
              base::Callback<protocol::ReplayReply> done) override;
  void ForgetDevices() override { baselines_.Clear(); }

 private:
  class Job;

  Workers& workers_;
  const base::Clock& clock_;
  const Settings settings_;
  Finalists finalists_;
  KnownBaselines baselines_;
  // By device; lanes of replays are numbered behind those of proofs. The one behind these is for
  // what bounds a winner, which takes seconds: in lane 0 it would keep all looks waiting.
  std::map<std::string, ProofLanes> proof_lanes_, replay_lanes_;
};

}  // namespace cupilot::evaluate
