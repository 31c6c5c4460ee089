#include "worker/verify.h"

#include <algorithm>

#include "device/describe.h"
#include "worker/checks/check.h"
#include "worker/lease.h"
#include "worker/program.h"
#include "worker/published_guard.h"
#include "worker/reference.h"

namespace cupilot::worker {
namespace {

using std::chrono::milliseconds;

// Limits for a candidate: bounded by what the original needs, with room for slow ones.
milliseconds LimitFor(double original_us) {
  const double ms = std::clamp(20 * original_us / 1000, 2000.0, 10000.0);
  return milliseconds(static_cast<int>(ms));
}

// What runs of one case are about.
struct Subject {
  const CasePlan& original;
  const CasePlan& plan;
  records::Json program;
};

class Verification {
 public:
  explicit Verification(const protocol::CandidateSet& set) : set_(set) {}

  base::Result<protocol::VerifyReply> Run() {
    TRY_ASSIGN(const device::Properties properties, device::DescribeDevice(set_.device));
    std::vector<CasePlan> plans;
    for (const records::Case& workload : set_.workload.cases) {
      auto plan = PlanCase(set_.kernel, workload, properties, nullptr);
      if (!plan) return OriginalFailed("workload '" + workload.name + "': " + plan.error().message);
      TRY(VerifyCase(workload, *plan));
      if (!reply_.reason.empty() || reply_.original_failed) return std::move(reply_);
      plans.push_back(std::move(*plan));
    }
    for (const CheckRow& check : kChecks) reply_.checks.push_back({check.name, true, check.what});
    reply_.passed = true;
    reply_.guard = PublishedGuard(set_.kernel, set_.variant, plans);
    return std::move(reply_);
  }

 private:
  protocol::VerifyReply OriginalFailed(const std::string& detail) {
    reply_.original_failed = true;
    reply_.detail = detail;
    return std::move(reply_);
  }

  void Reject(const Finding& finding) {
    reply_.reason = finding.reason;
    reply_.detail = finding.detail;
    reply_.checks.push_back({finding.reason, false, finding.detail});
  }

  base::Result<> VerifyCase(const records::Case& workload, const CasePlan& original) {
    CasePlan plan = original;
    auto program = VariantProgram(set_.kernel, set_.variant, plan);
    if (!program) {
      const bool unsupported = program.error().code == base::ErrorCode::kUnsupported;
      Reject({unsupported ? "unsupported_construct" : "invalid_launch", program.error().message});
      return {};
    }
    auto lease =
        Lease::Take(set_.device, Role::kCandidate, static_cast<std::size_t>(plan.layout.bytes),
                    {set_.candidate_artifact});
    if (!lease && lease.error().code == base::ErrorCode::kInvalidArgument) {
      Reject({"invalid_launch", lease.error().message});
      return {};
    }
    if (!lease) return base::Fail(lease.error());
    References references(set_, workload, original);
    const Subject subject{original, plan, ToJson(*program, plan.layout, 0)};
    Errors errors;
    std::vector<const GateFill*> fills = {nullptr};
    for (const GateFill& fill : kGateFills) {
      if (fill.active) fills.push_back(&fill);
    }
    // Checks that need runs of their own (other addresses, aliased arguments, repeats, other sizes)
    // are further steps here.
    for (const GateFill* fill : fills) {
      TRY_ASSIGN(const auto reference, references.Find(fill));
      if (Counts(workload, *reference, fill)) {
        TRY(VerifyFill(subject, *reference, fill, *lease, errors));
      }
      if (!reply_.reason.empty() || reply_.original_failed) return {};
    }
    records::CaseResult result;
    result.name = workload.name;
    result.l2 = "warm";
    if (with_twin_) {
      result.error = errors.candidate;
      result.original_error = errors.original;
    }
    reply_.cases.push_back(std::move(result));
    return {};
  }

  // Whether a fill is one to judge by; says in the record if it is not.
  bool Counts(const records::Case& workload, const OriginalResult& reference,
              const GateFill* fill) {
    if (reference.redundant) return false;
    if (reference.dropped.empty()) return true;
    if (fill == nullptr) {
      OriginalFailedInPlace("the workload '" + workload.name + "': " + reference.dropped);
    } else {
      reply_.checks.push_back({NameOf(fill), true, "dropped: " + reference.dropped});
    }
    return false;
  }

  base::Result<> VerifyFill(const Subject& subject, const OriginalResult& reference,
                            const GateFill* fill, const Lease& lease, Errors& errors) {
    PrepareArena(subject.plan.layout, *reference.inputs, kPoison, lease.memory());
    auto ran = lease.Run(0, subject.program, LimitFor(reference.original_us));
    const Observation seen{set_, subject.original, subject.plan, reference, fill, lease.memory()};
    if (!ran && ran.error().code == base::ErrorCode::kUnavailable) return base::Fail(ran.error());
    if (!ran) {
      // A crash after a write outside of the buffers is the write's doing.
      const Finding outside = CheckRedZones(seen, errors);
      if (!outside.reason.empty()) {
        Reject(outside);
      } else {
        RejectRun(ran.error());
      }
      return {};
    }
    for (const CheckRow& check : kChecks) {
      const Finding finding = check.run(seen, errors);
      if (!finding.reason.empty()) {
        Reject(finding);
        return {};
      }
    }
    reply_.checks.push_back({NameOf(fill), true, HowCompared(subject.original, reference)});
    return {};
  }

  static std::string NameOf(const GateFill* fill) {
    return std::string("fill ") + (fill == nullptr ? "workload" : fill->name);
  }

  // By what floating outputs were judged on a fill; empty: there is none.
  std::string HowCompared(const CasePlan& plan, const OriginalResult& reference) {
    std::string how;
    for (std::size_t r = 0; r < plan.layout.regions.size(); ++r) {
      const Region& region = plan.layout.regions[r];
      if (!region.output || !region.type.floating()) continue;
      switch (EqualityOf(set_, region, reference.outputs[r])) {
        case Equality::kTolerance:
          how = "by the declared tolerance";
          break;
        case Equality::kErrorRule:
          with_twin_ = true;
          how = "errors measured against the double twin";
          break;
        case Equality::kBits:
          how = "bit by bit" + (reference.no_twin.empty() ? "" : ": " + reference.no_twin);
          break;
      }
    }
    return how;
  }

  void OriginalFailedInPlace(const std::string& detail) {
    reply_.original_failed = true;
    reply_.detail = detail;
  }

  void RejectRun(const base::Error& error) {
    if (error.code == base::ErrorCode::kTimeout) return Reject({"timed_out", error.message});
    if (error.code == base::ErrorCode::kInvalidArgument) {
      return Reject({"invalid_launch", error.message});
    }
    Reject({"crashed", error.message});
  }

  const protocol::CandidateSet& set_;
  bool with_twin_ = false;
  protocol::VerifyReply reply_;
};

}  // namespace

base::Result<protocol::VerifyReply> Verify(const protocol::VerifyRequest& request) {
  return Verification(request.set).Run();
}

}  // namespace cupilot::worker
