#include "evaluate/known_baselines.h"

#include <algorithm>
#include <utility>

#include "base/file.h"

namespace cupilot::evaluate {
namespace {

constexpr std::size_t kKeptBaselines = 64;

}  // namespace

void KnownBaselines::Find(const EvaluateRequest& request, Callback done) {
  const std::string key = BaselineKey(request);
  if (auto found = baselines_.find(key); found != baselines_.end()) {
    // Its artifacts lie in a folder that may be deleted at any time.
    if (base::FileExists(found->second.original_artifact) &&
        (found->second.twin_artifact.empty() || base::FileExists(found->second.twin_artifact))) {
      return done(found->second);
    }
    baselines_.erase(found);
    std::erase(order_, key);
  }
  std::vector<Callback>& waiting = waiting_[key];
  waiting.push_back(std::move(done));
  if (waiting.size() > 1) return;
  PrepareBaseline(workers_, request, settings_, [this, key](base::Result<Baseline> baseline) {
    OnPrepared(key, std::move(baseline));
  });
}

void KnownBaselines::Keep(const std::string& key, const Baseline& baseline) {
  if (const auto known = baselines_.find(key); known != baselines_.end()) known->second = baseline;
}

void KnownBaselines::OnPrepared(const std::string& key, base::Result<Baseline> baseline) {
  if (baseline) {
    baselines_[key] = *baseline;
    order_.push_back(key);
    if (order_.size() > kKeptBaselines) {
      baselines_.erase(order_.front());
      order_.pop_front();
    }
  }
  std::vector<Callback> waiting = std::move(waiting_[key]);
  waiting_.erase(key);
  for (Callback& done : waiting) done(baseline);
}

}  // namespace cupilot::evaluate
