#include "service/job_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

namespace cupilot::service {
namespace {

using Kind = search::Outcome::Kind;

// Reasons in the order in which they first came, each with who gave it.
class Reasons {
 public:
  void Add(const std::string& who, const std::string& reason) {
    for (auto& [known, names] : reasons_) {
      if (known != reason) continue;
      names += ", " + who;
      return;
    }
    reasons_.emplace_back(reason, who);
  }
  bool empty() const { return reasons_.empty(); }
  std::string Text() const {
    if (reasons_.size() == 1) return reasons_[0].first;
    std::string text;
    for (const auto& [reason, names] : reasons_) {
      text += (text.empty() ? "" : "; ") + names + ": " + reason;
    }
    return text;
  }

 private:
  std::vector<std::pair<std::string, std::string>> reasons_;
};

std::string WhyNothingToTry(const KernelJob& job) {
  Reasons reasons;
  for (const search::Opinion& opinion : job.opinions()) {
    if (!opinion.applies) reasons.Add(opinion.technique, opinion.reason);
  }
  for (const search::Idea& idea : job.search()->ideas()) {
    if (idea.outcome) reasons.Add(idea.asked, idea.outcome->reason);
  }
  return "nothing could be tried" + (reasons.empty() ? "" : ": " + reasons.Text());
}

bool NothingTried(const KernelJob& job) {
  return job.finished() && job.search() != nullptr && CountIdeas(job).tried == 0;
}

}  // namespace

Tally CountIdeas(const KernelJob& job) {
  Tally tally;
  if (job.search() == nullptr) return tally;
  for (const search::Idea& idea : job.search()->ideas()) {
    if (!idea.outcome) continue;
    if (!idea.outcome->same_code.empty()) {
      ++tally.same_code;
      continue;
    }
    const Kind kind = idea.outcome->kind;
    tally.tried += kind == Kind::kAccepted || kind == Kind::kRejected ? 1 : 0;
    // What is beaten was not accepted, though the search may build on it.
    tally.accepted += kind == Kind::kAccepted && idea.outcome->reason.empty() ? 1 : 0;
    tally.declined += kind == Kind::kDeclined ? 1 : 0;
  }
  return tally;
}

records::Json ExpectedJson(const KernelJob& job) {
  const auto expected = job.Expected();
  if (!expected) return nullptr;
  return {{"gain", expected->gain}, {"evaluations", expected->evaluations}};
}

records::Json NumbersJson(const KernelJob& job) {
  if (job.search() == nullptr || job.search()->numbers().size() == 0) return nullptr;
  const auto& ideas = job.search()->ideas();
  const auto tried = std::count_if(ideas.begin(), ideas.end(), [](const search::Idea& idea) {
    return idea.outcome && !idea.candidate.values.empty();
  });
  return {{"points", job.search()->numbers().size()}, {"tried", tried}};
}

records::Json CurveJson(const KernelJob& job) {
  std::vector<double> bests;
  double best = 1.0;
  if (job.search() != nullptr) {
    for (const search::Idea& idea : job.search()->ideas()) {
      if (!idea.outcome || !idea.outcome->same_code.empty()) continue;
      const Kind kind = idea.outcome->kind;
      if (kind == Kind::kAccepted) best = std::max(best, idea.outcome->speedup.value_or(1.0));
      if (kind == Kind::kAccepted || kind == Kind::kRejected) bests.push_back(best);
    }
  }
  records::Json curve = records::Json::array();
  const std::size_t points = std::min(bests.size(), kCurvePoints);
  for (std::size_t i = 1; i <= points; ++i) {
    curve.push_back(std::round(bests[i * bests.size() / points - 1] * 1000) / 1000);
  }
  return curve;
}

records::Json BudgetJson(const KernelJob& job) {
  return {{"seconds", std::round(job.spent_seconds() * 10) / 10},
          {"of_seconds", job.input().budget_seconds},
          {"evaluations", CountIdeas(job).tried},
          {"of_evaluations", job.input().budget_evaluations}};
}

std::map<std::string, std::int64_t> CountDropped(const KernelJob& job) {
  std::map<std::string, std::int64_t> dropped;
  if (job.search() == nullptr) return dropped;
  for (const search::Idea& idea : job.search()->ideas()) {
    if (idea.outcome && !idea.outcome->limit.empty()) ++dropped[idea.outcome->limit];
  }
  return dropped;
}

std::string StateOf(const records::Kernel& kernel, const KernelJob* job,
                    const std::string& no_device) {
  if (!kernel.declined.empty()) return "declined";
  if (kernel.cases.empty()) return "no workload";
  if (!no_device.empty()) return "no device";
  if (job == nullptr || (!job->busy() && job->search() == nullptr && !job->finished())) {
    return "waiting";
  }
  if (!job->failure().empty() || NothingTried(*job)) return "declined";
  return job->finished() ? "done" : "tuning";
}

std::string WhyUntuned(const records::Kernel& kernel, const KernelJob* job,
                       const std::string& no_device) {
  if (!kernel.declined.empty()) return kernel.declined;
  if (kernel.cases.empty()) {
    return kernel.file + ":" + std::to_string(kernel.line) +
           ": no workload: run `cupilot capture -- PROGRAM`, or add a line '// cupilot: workload "
           "...' "
           "above the kernel";
  }
  if (!no_device.empty()) return no_device;
  if (job == nullptr) return {};
  if (!job->failure().empty()) return job->failure();
  return NothingTried(*job) ? WhyNothingToTry(*job) : "";
}

std::string WhyOriginal(const records::Kernel& kernel, const KernelJob* job,
                        const std::string& no_device) {
  if (const std::string why = WhyUntuned(kernel, job, no_device); !why.empty()) return why;
  if (job == nullptr || job->search() == nullptr) return "not tried yet";
  const search::Idea* closest = nullptr;
  for (const search::Idea& idea : job->search()->ideas()) {
    if (!idea.outcome || !idea.outcome->speedup) continue;
    if (closest == nullptr || *idea.outcome->speedup > *closest->outcome->speedup) closest = &idea;
  }
  const Tally tally = CountIdeas(*job);
  std::string text = std::to_string(tally.tried) + " tried, none proven faster";
  if (closest != nullptr) {
    char speedup[32];
    std::snprintf(speedup, sizeof speedup, "%.2f", *closest->outcome->speedup);
    text += "; closest: " + closest->candidate.strategy.title + " (" + speedup + ", " +
            closest->outcome->reason + ")";
  }
  return text;
}

}  // namespace cupilot::service
