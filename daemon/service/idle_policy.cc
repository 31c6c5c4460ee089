#include "service/idle_policy.h"

#include <algorithm>
#include <charconv>

#include "service/project.h"

namespace cupilot::service {
namespace {
constexpr const char* kFact = "snoozed_until";
}

IdlePolicy::IdlePolicy(const base::Clock& clock, Catalog& catalog)
    : clock_(clock), catalog_(catalog) {
  if (const auto saved = catalog_.Fact(kFact)) {
    std::from_chars(saved->data(), saved->data() + saved->size(), snoozed_until_);
  }
}

base::Result<> IdlePolicy::Snooze(std::int64_t seconds) {
  const std::int64_t until = clock_.WallTime().count() + seconds * 1'000'000'000;
  TRY(catalog_.SaveFact(kFact, std::to_string(until)));
  snoozed_until_ = until;
  return {};
}

base::Result<> IdlePolicy::Resume() {
  TRY(catalog_.SaveFact(kFact, "0"));
  snoozed_until_ = 0;
  return {};
}

bool IdlePolicy::AnyBuildRuns(const std::vector<std::string>& build_folders) const {
  const std::int64_t now = clock_.WallTime().count();
  return std::any_of(build_folders.begin(), build_folders.end(),
                     [now](const std::string& folder) { return BuildRuns(folder, now); });
}

}  // namespace cupilot::service
