// The evaluator over worker processes. On the loop thread; must outlive its evaluations, which end
// (with kCancelled) when the workers are stopped.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "evaluate/baseline.h"
#include "evaluate/evaluator.h"
#include "evaluate/finalists.h"
#include "evaluate/workers.h"

namespace cupilot::evaluate {

class WorkerEvaluator final : public Evaluator {
 public:
  struct Settings {
    BuildSettings build;
    std::string work_folder;   // scratch of the device workers
    double probe_limit = 1.1;  // a candidate slower than this times the original stops early
  };

  WorkerEvaluator(Workers& workers, const base::Clock& clock, Settings settings);
  ~WorkerEvaluator() override;

  void Evaluate(EvaluateRequest request, base::Callback<records::Evaluation> done) override;
  void Profile(EvaluateRequest request, records::Evaluation evaluation,
               base::Callback<records::Evaluation> done) override;
  void Replay(EvaluateRequest request, protocol::LeftBehind after,
              base::Callback<protocol::ReplayReply> done) override;

 private:
  class Job;
  using BaselineCallback = base::Callback<Baseline>;

  // Several evaluations of one kernel wait for one baseline; a failed one is tried again by the
  // next evaluation. May call back at once.
  void FindBaseline(const EvaluateRequest& request, BaselineCallback done);
  void OnBaseline(const std::string& key, base::Result<Baseline> baseline);
  // In place of the one that is known.
  void KeepBaseline(const std::string& key, const Baseline& baseline);

  Workers& workers_;
  const base::Clock& clock_;
  const Settings settings_;
  Finalists finalists_;
  std::map<std::string, Baseline> baselines_;
  std::deque<std::string> baseline_order_;  // the oldest first
  std::map<std::string, std::vector<BaselineCallback>> waiting_;
};

}  // namespace cupilot::evaluate
