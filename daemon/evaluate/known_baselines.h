// The baselines of the kernels that were evaluated lately. On the loop thread.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "evaluate/baseline.h"

namespace cupilot::evaluate {

// Workers and settings outlive it, and it outlives what it calls back.
class KnownBaselines {
 public:
  using Callback = base::Callback<Baseline>;

  KnownBaselines(Workers& workers, const BuildSettings& settings)
      : workers_(workers), settings_(settings) {}

  // Several evaluations of one kernel wait for one baseline; a failed one is tried again by the
  // next evaluation. May call back at once.
  void Find(const EvaluateRequest& request, Callback done);
  // In place of the one that is known.
  void Keep(const std::string& key, const Baseline& baseline);
  void Clear() {
    baselines_.clear();
    order_.clear();
  }

 private:
  void OnPrepared(const std::string& key, base::Result<Baseline> baseline);

  Workers& workers_;
  const BuildSettings& settings_;
  std::map<std::string, Baseline> baselines_;
  std::deque<std::string> order_;  // the oldest first
  std::map<std::string, std::vector<Callback>> waiting_;
};

}  // namespace cupilot::evaluate
