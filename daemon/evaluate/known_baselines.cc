#include "evaluate/known_baselines.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/file.h"

namespace cupilot::evaluate {
namespace {

constexpr std::size_t kKeptBaselines = 64;

}  // namespace

// Artifacts lie in a folder that may be deleted at any time.
const Baseline* KnownBaselines::FindWhole(const std::string& key) {
  const auto found = baselines_.find(key);
  if (found == baselines_.end()) return nullptr;
  if (base::FileExists(found->second.original_artifact) &&
      (found->second.twin_artifact.empty() || base::FileExists(found->second.twin_artifact))) {
    return &found->second;
  }
  baselines_.erase(found);
  std::erase(order_, key);
  return nullptr;
}

void KnownBaselines::Find(const EvaluateRequest& request, Need need, Callback done) {
  const std::string key = BaselineKey(request);
  if (const Baseline* whole = FindWhole(key)) return done(*whole);
  const auto [entry, begun] = under_way_.try_emplace(key);
  if (need == Need::kOriginal && entry->second.original) return done(*entry->second.original);
  entry->second.waiting.emplace_back(need, std::move(done));
  if (!begun) return;
  PrepareBaseline(
      workers_, request, settings_,
      [this, key](const Baseline& baseline) { OnOriginal(key, baseline); },
      [this, key](base::Result<Baseline> baseline) { OnPrepared(key, std::move(baseline)); });
}

void KnownBaselines::Keep(const std::string& key, const Baseline& baseline) {
  if (const auto known = baselines_.find(key); known != baselines_.end()) known->second = baseline;
}

void KnownBaselines::OnOriginal(const std::string& key, const Baseline& baseline) {
  UnderWay& under_way = under_way_[key];
  under_way.original = baseline;
  auto& waiting = under_way.waiting;
  const auto served = std::stable_partition(
      waiting.begin(), waiting.end(), [](const auto& one) { return one.first == Need::kAll; });
  std::vector<std::pair<Need, Callback>> ready(std::make_move_iterator(served),
                                               std::make_move_iterator(waiting.end()));
  waiting.erase(served, waiting.end());
  for (auto& [need, done] : ready) done(baseline);
}

void KnownBaselines::OnPrepared(const std::string& key, base::Result<Baseline> baseline) {
  if (baseline && !under_way_[key].outdated) {
    baselines_[key] = *baseline;
    order_.push_back(key);
    if (order_.size() > kKeptBaselines) {
      baselines_.erase(order_.front());
      order_.pop_front();
    }
  }
  UnderWay ended = std::move(under_way_[key]);
  under_way_.erase(key);
  for (auto& [need, done] : ended.waiting) done(baseline);
}

}  // namespace cupilot::evaluate
