#include "worker/verify.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "device/host/host_properties.h"
#include "worker/arena.h"
#include "worker/program.h"
#include "worker/published_guard.h"
#include "worker/reference.h"
#include "worker/runner.h"

namespace cupilot::worker {
namespace {

using records::Json;
using std::chrono::milliseconds;

struct Finding {
  std::string reason;  // empty: nothing wrong
  std::string detail;
};

std::string Where(const Region& region, std::size_t element) {
  return "'" + region.name + "'[" + std::to_string(element) + "]";
}

// Limits for a candidate: bounded by what the original needs, with room for slow ones.
milliseconds LimitFor(double original_us) {
  const double ms = std::clamp(20 * original_us / 1000, 2000.0, 10000.0);
  return milliseconds(static_cast<int>(ms));
}

class CaseJudge {
 public:
  CaseJudge(const protocol::CandidateSet& set, const CasePlan& original, const CasePlan& plan)
      : set_(set), original_(original), plan_(plan) {}

  // `before`: the arena as the runner got it.
  Finding Judge(const OriginalResult& reference, const GateFill* fill,
                std::span<const std::byte> before, std::span<const std::byte> after) {
    Finding finding = CheckRedZones(after);
    if (finding.reason.empty()) finding = CheckInputs(before, after);
    for (std::size_t r = 0; finding.reason.empty() && r < original_.layout.regions.size(); ++r) {
      if (original_.layout.regions[r].output) finding = CheckOutput(r, reference, fill, after);
    }
    return finding;
  }
  double error() const { return error_; }
  double original_error() const { return original_error_; }

 private:
  Finding CheckRedZones(std::span<const std::byte> after) const {
    std::size_t at = 0;
    std::vector<const Region*> sorted;
    for (const Region& region : plan_.layout.regions) sorted.push_back(&region);
    std::sort(sorted.begin(), sorted.end(),
              [](const Region* a, const Region* b) { return a->offset < b->offset; });
    for (std::size_t i = 0; i <= sorted.size(); ++i) {
      const std::size_t end =
          i < sorted.size() ? static_cast<std::size_t>(sorted[i]->offset) : after.size();
      for (; at < end; ++at) {
        if (after[at] == kRedByte) continue;
        const Region* near = i > 0 ? sorted[i - 1] : sorted[i];
        return {"out_of_bounds", "a byte outside of all buffers was written, near '" + near->name +
                                     "' (" + std::to_string(near->bytes()) +
                                     " bytes), at its byte " +
                                     std::to_string(static_cast<std::int64_t>(at) - near->offset)};
      }
      if (i < sorted.size()) at = end + static_cast<std::size_t>(sorted[i]->bytes());
    }
    return {};
  }

  Finding CheckInputs(std::span<const std::byte> before, std::span<const std::byte> after) const {
    for (const Region& region : plan_.layout.regions) {
      if (!region.input || region.output) continue;
      const auto offset = static_cast<std::size_t>(region.offset);
      for (std::size_t i = offset; i < offset + static_cast<std::size_t>(region.bytes()); ++i) {
        if (before[i] == after[i]) continue;
        return {"modified_input",
                "the input " +
                    Where(region, (i - offset) / static_cast<std::size_t>(region.type.size())) +
                    " was changed"};
      }
    }
    return {};
  }

  Finding CheckOutput(std::size_t index, const OriginalResult& reference, const GateFill* fill,
                      std::span<const std::byte> after) {
    const Region& region = original_.layout.regions[index];
    const ReferenceOutput& expected = reference.outputs[index];
    const std::byte* candidate = after.data() + plan_.layout.regions[index].offset;
    const auto size = static_cast<std::size_t>(region.type.size());
    const auto count = static_cast<std::size_t>(region.count);
    const bool by_bits = !expected.expected && !HasTolerance(region);
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte* c = candidate + i * size;
      const std::byte* o = expected.bytes.data() + i * size;
      if (std::memcmp(c, o, size) == 0) continue;
      if (!expected.unwritten.empty() && expected.unwritten[i]) {
        return {"wrong_values", Where(region, i) + " was written, which the original leaves alone" +
                                    FillName(fill)};
      }
      if (!region.input && std::all_of(c, c + size, [](std::byte b) { return b == kPoison; })) {
        return {"unwritten_output", Where(region, i) + " was not written" + FillName(fill)};
      }
      if (by_bits) {
        const auto lane = static_cast<std::int64_t>(i) * region.type.lanes;
        return {"wrong_values", Where(region, i) + ": expected " +
                                    device::ShowNumber(expected.bytes.data(), lane, region.type) +
                                    ", got " + device::ShowNumber(candidate, lane, region.type) +
                                    ", bitwise equality is demanded" + FillName(fill)};
      }
    }
    if (by_bits) return {};
    return CheckNumbers(region, expected, candidate, fill);
  }

  bool HasTolerance(const Region& region) const {
    return region.type.floating() && set_.workload.tolerance && !set_.workload.tolerance->bitwise &&
           set_.workload.tolerance->relative;
  }

  Finding CheckNumbers(const Region& region, const ReferenceOutput& expected,
                       const std::byte* candidate, const GateFill* fill) {
    const auto count = static_cast<std::size_t>(region.count * region.type.lanes);
    std::vector<double> c(count), o(count);
    double squares = 0;
    for (std::size_t i = 0; i < count; ++i) {
      c[i] = device::ReadNumber(candidate, static_cast<std::int64_t>(i), region.type);
      o[i] = device::ReadNumber(expected.bytes.data(), static_cast<std::int64_t>(i), region.type);
      if (std::isfinite(o[i])) squares += o[i] * o[i];
    }
    const double rms = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(count, 1)));
    if (HasTolerance(region)) return CheckRelative(region, c, o, rms, fill);
    const bool dense = fill == nullptr || fill->dense;
    const Rho rho = RhoOf(c, o, *expected.expected);
    const Limits limits = LimitsOf(expected.original_rho, InputsOfOneOutput(count), dense);
    error_ = std::max(error_, rho.rms);
    original_error_ = std::max(original_error_, expected.original_rho.rms);
    if (Passes(rho, limits)) return {};
    const std::size_t i = rho.worst;
    const double scale = std::max(std::fabs(o[i]), rms);
    const bool close = std::fabs(c[i] - o[i]) <= 0.01 * scale;
    char text[400];
    std::snprintf(text, sizeof text,
                  "%s: expected %.9g, got %.9g (exact %.9g); error %.3g units, rms %.3g; allowed "
                  "%.3g and rms %.3g; the original has %.3g and rms %.3g%s",
                  Where(region, i).c_str(), o[i], c[i], expected.expected->exact[i], rho.max,
                  rho.rms, limits.max, limits.rms, expected.original_rho.max,
                  expected.original_rho.rms, FillName(fill).c_str());
    return {close ? "precision_loss" : "wrong_values", text};
  }

  Finding CheckRelative(const Region& region, const std::vector<double>& c,
                        const std::vector<double>& o, double rms, const GateFill* fill) const {
    const double limit = *set_.workload.tolerance->relative;
    for (std::size_t i = 0; i < c.size(); ++i) {
      const bool same_class = std::isfinite(o[i]) == std::isfinite(c[i]);
      const double error = std::fabs(c[i] - o[i]) / std::max({std::fabs(o[i]), rms, 1e-300});
      if (c[i] == o[i] || (std::isnan(o[i]) && std::isnan(c[i])) ||
          (same_class && error <= limit)) {
        continue;
      }
      char text[240];
      std::snprintf(text, sizeof text, "%s: expected %.9g, got %.9g; relative error %.3g of %.3g%s",
                    Where(region, i).c_str(), o[i], c[i], error, limit, FillName(fill).c_str());
      return {error <= 0.01 ? "precision_loss" : "wrong_values", text};
    }
    return {};
  }

  // How many inputs reach one output, from below: all inputs over all outputs.
  double InputsOfOneOutput(std::size_t outputs) const {
    double inputs = 0;
    for (const Region& region : original_.layout.regions) {
      if (region.input) inputs += static_cast<double>(region.count * region.type.lanes);
    }
    return std::max(1.0,
                    std::ceil(inputs / static_cast<double>(std::max<std::size_t>(outputs, 1))));
  }

  std::string FillName(const GateFill* fill) const {
    return std::string(" (fill ") + (fill == nullptr ? "of the workload" : fill->name) +
           ", case '" + plan_.name + "', seed " + std::to_string(set_.seed) + ")";
  }

  const protocol::CandidateSet& set_;
  const CasePlan& original_;
  const CasePlan& plan_;
  double error_ = 0;
  double original_error_ = 0;
};

class Verification {
 public:
  explicit Verification(const protocol::CandidateSet& set) : set_(set) {}

  base::Result<protocol::VerifyReply> Run() {
    std::vector<CasePlan> plans;
    for (const records::Case& workload : set_.workload.cases) {
      auto plan = PlanCase(set_.kernel, workload, device::DescribeHost(), nullptr);
      if (!plan) return OriginalFailed("workload '" + workload.name + "': " + plan.error().message);
      TRY(VerifyCase(workload, *plan));
      if (!reply_.reason.empty() || reply_.original_failed) return std::move(reply_);
      plans.push_back(std::move(*plan));
    }
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

  void Reject(const std::string& reason, const std::string& detail) {
    reply_.reason = reason;
    reply_.detail = detail;
    reply_.checks.push_back({reason, false, detail});
  }

  base::Result<> VerifyCase(const records::Case& workload, const CasePlan& original) {
    CasePlan plan = original;
    auto program = VariantProgram(set_.kernel, set_.variant, plan);
    if (!program) {
      const bool unsupported = program.error().code == base::ErrorCode::kUnsupported;
      Reject(unsupported ? "unsupported_construct" : "invalid_launch", program.error().message);
      return {};
    }
    TRY_ASSIGN(Arena arena, Arena::Create(static_cast<std::size_t>(plan.layout.bytes)));
    TRY_ASSIGN(Runner runner, Runner::Start(arena, {set_.candidate_artifact}));
    CaseJudge judge(set_, original, plan);
    std::vector<const GateFill*> fills = {nullptr};
    for (const GateFill& fill : kGateFills) {
      if (fill.active) fills.push_back(&fill);
    }
    for (const GateFill* fill : fills) {
      TRY(VerifyFill(workload, original, plan, *program, fill, arena, runner, judge));
      if (!reply_.reason.empty() || reply_.original_failed) return {};
    }
    records::CaseResult result;
    result.name = workload.name;
    result.l2 = "warm";
    if (!set_.twin_artifact.empty()) {
      result.error = judge.error();
      result.original_error = judge.original_error();
    }
    reply_.cases.push_back(std::move(result));
    return {};
  }

  base::Result<> VerifyFill(const records::Case& workload, const CasePlan& original,
                            const CasePlan& plan, const Program& program, const GateFill* fill,
                            Arena& arena, Runner& runner, CaseJudge& judge) {
    const std::string name = std::string("fill ") + (fill == nullptr ? "workload" : fill->name);
    TRY_ASSIGN(const auto reference, FindReference(set_, workload, original, fill));
    if (!reference->dropped.empty()) {
      if (fill == nullptr) {
        OriginalFailedInPlace("the workload '" + workload.name + "': " + reference->dropped);
        return {};
      }
      reply_.checks.push_back({name, true, "dropped: " + reference->dropped});
      return {};
    }
    TRY(PrepareArena(plan, fill, set_.seed, kPoison, arena.bytes()));
    const std::vector<std::byte> before(arena.bytes().begin(), arena.bytes().end());
    auto ran =
        runner.Ask({{"op", "run"}, {"module", 0}, {"program", ToJson(program, plan.layout, 0)}},
                   LimitFor(reference->original_us));
    const Finding finding = judge.Judge(*reference, fill, before, arena.bytes());
    if (!ran) {
      RejectRun(ran.error(), finding);
      return {};
    }
    if (!finding.reason.empty()) {
      Reject(finding.reason, finding.detail);
      return {};
    }
    reply_.checks.push_back({name, true, ""});
    return {};
  }

  void OriginalFailedInPlace(const std::string& detail) {
    reply_.original_failed = true;
    reply_.detail = detail;
  }

  // A crash after a write outside of the buffers is the write's doing.
  void RejectRun(const base::Error& error, const Finding& finding) {
    if (finding.reason == "out_of_bounds") return Reject(finding.reason, finding.detail);
    if (error.code == base::ErrorCode::kTimeout) return Reject("timed_out", error.message);
    if (error.code == base::ErrorCode::kInvalidArgument) {
      return Reject("invalid_launch", error.message);
    }
    Reject("crashed", error.message);
  }

  const protocol::CandidateSet& set_;
  protocol::VerifyReply reply_;
};

}  // namespace

base::Result<protocol::VerifyReply> Verify(const protocol::VerifyRequest& request) {
  return Verification(request.set).Run();
}

}  // namespace cupilot::worker
