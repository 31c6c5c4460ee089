// The baselines of the kernels that were evaluated lately. On the loop thread.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evaluate/baseline.h"

namespace cupilot::evaluate {

// Workers and settings outlive it, and it outlives what it calls back.
class KnownBaselines {
 public:
  using Callback = base::Callback<Baseline>;
  // What is needed of one: who only measures has no use for the twin, which takes longer than a
  // candidate's build.
  enum class Need { kOriginal, kAll };

  KnownBaselines(Workers& workers, const BuildSettings& settings)
      : workers_(workers), settings_(settings) {}

  // Several evaluations of one kernel wait for one baseline; a failed one is tried again by the
  // next evaluation. May call back at once.
  void Find(const EvaluateRequest& request, Need need, Callback done);
  // In place of the one that is known.
  void Keep(const std::string& key, const Baseline& baseline);
  // Also those that are being made are for nobody but who waits for them.
  void Clear() {
    baselines_.clear();
    order_.clear();
    for (auto& [key, under_way] : under_way_) under_way.outdated = true;
  }

 private:
  struct UnderWay {
    std::optional<Baseline> original;  // once it is built
    bool outdated = false;             // not to be known
    std::vector<std::pair<Need, Callback>> waiting;
  };
  const Baseline* FindWhole(const std::string& key);
  void OnOriginal(const std::string& key, const Baseline& baseline);
  void OnPrepared(const std::string& key, base::Result<Baseline> baseline);

  Workers& workers_;
  const BuildSettings& settings_;
  std::map<std::string, Baseline> baselines_;
  std::deque<std::string> order_;  // the oldest first
  std::map<std::string, UnderWay> under_way_;
};

}  // namespace cupilot::evaluate
