#include "worker/verify.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "device/describe.h"
#include "worker/admission.h"
#include "worker/device_turn.h"
#include "worker/passed_steps.h"
#include "worker/published_guard.h"
#include "worker/size_switch.h"
#include "worker/sizes.h"
#include "worker/steps/step.h"
#include "worker/trial.h"
#include "worker/two_runs.h"

namespace cupilot::worker {
namespace {

// The original's time counts as well, since a twin takes hundreds of times as long; but with so few
// bytes nothing takes long.
constexpr std::int64_t kLeastBytes = std::int64_t{1} << 18;
constexpr double kLongUs = 300;

// Of the buffers of a case that stands in for this one, at most.
std::int64_t StandInBytes(const CasePlan& whole, const OriginalResult& results) {
  const double share = std::min(1.0, kLongUs / std::max(results.original_us, 1.0));
  const auto short_enough =
      static_cast<std::int64_t>(share * static_cast<double>(whole.layout.bytes));
  return std::min(kStandInBytes, std::max(kLeastBytes, short_enough));
}

// A case at a smaller size.
struct StandIn {
  StandIn(const protocol::VerifyRequest& request, records::Case one, CasePlan small, bool guess)
      : workload(std::move(one)),
        plan(std::move(small)),
        guessed(guess),
        trial(request, workload, plan) {
    trial.quick_workload = true;
  }
  const records::Case workload;
  const CasePlan plan;
  const bool guessed;  // what of it follows which scalar: what fails there is asked of the whole
  Trial trial;
};

double SecondsOf(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

bool IsAboutResults(const Finding& finding) {
  static constexpr std::string_view kReasons[] = {"wrong_values", "precision_loss", "stateful",
                                                  "race", "ignores_input"};
  return std::find(std::begin(kReasons), std::end(kReasons), finding.reason) != std::end(kReasons);
}

class Verification {
 public:
  Verification(const protocol::VerifyRequest& request,
               const std::function<void(const records::Json& passed)>& tell)
      : request_(request),
        set_(request.set),
        tell_(tell),
        before_(ParsePassedSteps(request.passed)) {}

  base::Result<protocol::VerifyReply> Run() {
    TRY_ASSIGN(const device::Properties properties, device::DescribeDevice(set_.device));
    const Admission admission = Admit(set_, properties);
    for (const std::string& name : admission.left) {
      reply_.cases.push_back(records::LeftToOriginal(name));
    }
    if (admission.cases.empty()) {
      Reject({"invalid_launch", kAdmitsNone});
      return std::move(reply_);
    }
    std::vector<CasePlan> plans;
    for (const records::Case& workload : admission.cases) {
      auto plan = PlanCase(set_.kernel, workload, properties, nullptr);
      if (!plan) {
        OriginalFailed("workload '" + workload.name + "': " + plan.error().message);
        return std::move(reply_);
      }
      // A verdict on what the original does not repeat is none: all is asked once more, and judged
      // by the rule for what varies.
      const bool varied = KnownToVary(set_.original_artifact);
      const protocol::VerifyReply before = reply_;
      TRY(VerifyCase(workload, *plan));
      if (!reply_.reason.empty() && KnownToVary(set_.original_artifact) != varied) {
        reply_ = before;
        before_.erase(workload.name);
        reply_.checks.push_back({"repeats", true,
                                 "the original gave other bits when it was asked again: judged by "
                                 "what may vary"});
        TRY(VerifyCase(workload, *plan));
      }
      if (!reply_.reason.empty() || reply_.original_failed) return std::move(reply_);
      plans.push_back(std::move(*plan));
    }
    reply_.guard = PublishedGuard(set_.kernel, set_.variant, plans);
    if (!AdmitsAny(reply_.guard, set_.variant, plans)) {
      Reject({"invalid_launch", kNeverRuns + reply_.guard});
      return std::move(reply_);
    }
    for (const CheckRow& check : kChecks) reply_.checks.push_back({check.name, true, check.what});
    for (const StepRow& step : kSteps) {
      if (Asked(step) && !Said(step.name)) reply_.checks.push_back({step.name, true, step.what});
    }
    reply_.passed = true;
    return std::move(reply_);
  }

 private:
  bool Asked(const StepRow& step) const {
    const bool depth = request_.depth == "all" || (request_.depth == "screening") == step.screening;
    const auto& names = request_.left_out;
    return depth && std::find(names.begin(), names.end(), step.name) == names.end();
  }

  bool Said(const std::string& name) const {
    return std::any_of(reply_.checks.begin(), reply_.checks.end(),
                       [&](const records::Check& check) { return check.name == name; });
  }

  void OriginalFailed(const std::string& detail) {
    reply_.original_failed = true;
    reply_.detail = detail;
  }

  void Reject(const Finding& finding) {
    reply_.reason = finding.reason;
    reply_.detail = finding.detail;
    reply_.checks.push_back({finding.reason, false, finding.detail});
  }

  base::Result<> VerifyCase(const records::Case& workload, const CasePlan& original) {
    Trial trial(request_, workload, original);
    std::unique_ptr<StandIn> stand_in;
    // The steps rely on it, whichever of them are asked; and a workload that is none is nothing
    // that the candidate could be judged by.
    TRY_ASSIGN(const auto results, trial.Workload());
    if (!results->dropped.empty()) {
      OriginalFailed("the workload '" + workload.name + "': " + results->dropped);
      return {};
    }
    const std::int64_t most = StandInBytes(original, *results);
    bool looked_for = original.layout.bytes <= most;
    TRY_ASSIGN(Finding finding, trial.Start());
    PassedCase& passed = passed_[workload.name] = PassedBefore(workload.name);
    trial.Carry(passed.errors, passed.exact);
    for (const StepRow& step : kSteps) {
      if (!finding.reason.empty()) break;
      if (!Asked(step)) continue;
      if (passed.steps.contains(step.name)) {
        AddCost(step.name, passed.steps[step.name]);
        continue;
      }
      if (step.any_size && !std::exchange(looked_for, true)) {
        TRY_ASSIGN(stand_in, FindStandIn(trial, *results, most));
      }
      const bool small = step.any_size && stand_in;
      records::Json cost = {{"launches", 0}, {"seconds", 0.0}};
      TRY_ASSIGN(finding, RunStep(step, small ? stand_in->trial : trial, cost));
      if (small && stand_in->guessed && !finding.reason.empty()) {
        trial.Note("whole_case", std::string(step.name) +
                                     " is asked of it: at a guessed smaller size " +
                                     finding.reason + ", " + finding.detail);
        cost.erase("caught");
        stand_in.reset();
        TRY_ASSIGN(finding, RunStep(step, trial, cost));
      }
      AddCost(step.name, cost);
      if (!finding.reason.empty()) break;
      // What later steps rely on is asked by each try.
      if (step.run != &StepWorkload) passed.steps[step.name] = cost;
      AddNotes(trial, stand_in.get(), passed.notes);
      passed.errors = trial.errors();
      passed.exact = trial.exact();
      passed.varies = KnownToVary(set_.original_artifact);
      if (tell_) tell_(ToJson(passed_));
    }
    TRY_ASSIGN(finding, ExplainOverlap(trial, std::move(finding)));
    if (IsAboutResults(finding)) TRY(trial.references().AskAgain(*results));
    AddNotes(trial, stand_in.get(), passed.notes);
    reply_.checks.insert(reply_.checks.end(), passed.notes.begin(), passed.notes.end());
    if (!finding.reason.empty()) {
      Reject(finding);
    } else {
      AddResult(trial);
    }
    return {};
  }

  // Null: no smaller size is known to be legal and admitted.
  base::Result<std::unique_ptr<StandIn>> FindStandIn(Trial& trial, const OriginalResult& results,
                                                     std::int64_t most) {
    TRY_ASSIGN(const device::Properties properties, device::DescribeDevice(set_.device));
    const CasePlan& whole = trial.scene().original;
    auto smaller = SmallerSize(set_.kernel, trial.workload(), whole, properties, most);
    const bool guessed = !smaller;
    if (guessed) {
      smaller = SmallerByGuess(set_.kernel, trial.workload(), whole, properties, most);
    }
    if (!smaller) return nullptr;
    auto plan = PlanCase(set_.kernel, *smaller, properties, nullptr);
    if (!plan) return nullptr;
    auto found = std::make_unique<StandIn>(request_, *smaller, std::move(*plan), guessed);
    const auto scene = found->trial.MakeScene(found->plan);
    if (!scene) return nullptr;
    const std::string differ =
        WhySizesDiffer(set_.kernel, set_.variant, {trial.scene().original, trial.scene().launches},
                       {scene->original, scene->launches});
    if (!differ.empty()) {
      trial.Note("whole_case", "looked at by all steps: " + differ);
      return nullptr;
    }
    TRY_ASSIGN(const bool legal, IsLegalSize(found->trial, found->plan, results));
    if (!legal) return nullptr;
    TRY_ASSIGN(const Finding finding, found->trial.Start());
    if (!finding.reason.empty()) return nullptr;
    return found;
  }

  // What an earlier try has shown of a case, if this one would judge it in the same way.
  PassedCase PassedBefore(const std::string& name) {
    const auto before = before_.find(name);
    if (before == before_.end()) return {};
    const bool same = before->second.varies == KnownToVary(set_.original_artifact);
    return same ? before->second : PassedCase();
  }

  // Those that are not there yet.
  static void AddNotes(const Trial& trial, const StandIn* stand_in,
                       std::vector<records::Check>& notes) {
    const auto add = [&notes](records::Check note) {
      const bool known = std::any_of(notes.begin(), notes.end(), [&](const records::Check& one) {
        return one.name == note.name && one.detail == note.detail;
      });
      if (!known) notes.push_back(std::move(note));
    };
    if (stand_in != nullptr) {
      for (records::Check note : stand_in->trial.notes()) {
        note.detail += " (" + stand_in->workload.name + ")";
        add(std::move(note));
      }
    }
    for (const records::Check& note : trial.notes()) add(note);
  }

  // All cases together.
  void AddCost(const std::string& step, const records::Json& cost) {
    records::Json& all = reply_.steps[step];
    if (all.is_null()) all = records::Json::object();
    for (const auto& [name, value] : cost.items()) {
      if (value.is_number_integer()) {
        all[name] = all.value(name, std::int64_t{0}) + value.get<std::int64_t>();
      } else if (value.is_number()) {
        all[name] = all.value(name, 0.0) + value.get<double>();
      } else {
        all[name] = value;
      }
    }
  }

  // What it takes is added to `cost`.
  base::Result<Finding> RunStep(const StepRow& step, Trial& trial, records::Json& cost) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const auto waited = WaitedForTurns();
    const std::int64_t before = trial.launches();
    TRY_ASSIGN(Finding finding, step.run(trial));
    const double seconds = SecondsOf(Clock::now() - begin);
    const double of_them = SecondsOf(WaitedForTurns() - waited);
    if (of_them > 0.001) cost["waited"] = cost.value("waited", 0.0) + of_them;
    cost["launches"] = cost["launches"].get<std::int64_t>() + trial.launches() - before;
    cost["seconds"] = cost["seconds"].get<double>() + seconds;
    if (step.run == &StepWorkload) {
      TRY_ASSIGN(const auto workload, trial.Workload());
      cost["original_us"] = workload->original_us;
    }
    if (!finding.reason.empty()) {
      cost["caught"] = finding.check.empty() ? finding.reason : finding.check;
    }
    return finding;
  }

  void AddResult(const Trial& trial) {
    records::CaseResult result;
    result.name = trial.workload().name;
    result.l2 = "warm";
    if (trial.with_twin()) {
      result.error = trial.errors().candidate;
      result.original_error = trial.errors().original;
    }
    reply_.cases.push_back(std::move(result));
  }

  const protocol::VerifyRequest& request_;
  const protocol::CandidateSet& set_;
  const std::function<void(const records::Json& passed)>& tell_;
  PassedSteps before_;
  PassedSteps passed_;
  protocol::VerifyReply reply_;
};

}  // namespace

base::Result<protocol::VerifyReply> Verify(
    const protocol::VerifyRequest& request,
    const std::function<void(const records::Json& passed)>& tell) {
  if (request.depth != "all" && request.depth != "screening" && request.depth != "rest") {
    return base::Fail(
        base::InvalidArgument("depth: '" + request.depth + "' is none of all, screening, rest"));
  }
  return Verification(request, tell).Run();
}

}  // namespace cupilot::worker
