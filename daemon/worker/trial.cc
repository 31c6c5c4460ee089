#include "worker/trial.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "device/parallel.h"
#include "worker/check_nearby.h"
#include "worker/placement.h"
#include "worker/program.h"

namespace cupilot::worker {
namespace {

using std::chrono::milliseconds;

// Limits for a candidate: bounded by what the original needs, with room for slow ones and for a
// machine that is busy: to find that a GPU faulted takes half a second on one that is not.
milliseconds TrialLimitFor(double original_us) {
  const double ms = std::clamp(20 * original_us / 1000, 5000.0, 10000.0);
  return milliseconds(static_cast<int>(ms));
}

// Another arena for a series would be another process, or another context of a GPU.
std::size_t RoomFor(const Layout& layout) {
  return static_cast<std::size_t>(layout.bytes + kSeriesRoom);
}

// Elements that the original leaves alone and that hold what lay there before the run get the
// poison of the reference's run: results can be compared then, whatever it was.
void PutPoisonBack(const Layout& layout, const OriginalResult& reference, const Before& before,
                   std::span<std::byte> arena) {
  if (before.contents == nullptr && before.poison == kPoison) return;
  for (std::size_t r = 0; r < reference.outputs.size(); ++r) {
    const std::vector<bool>& unwritten = reference.outputs[r].unwritten;
    const Region& region = layout.regions[r];
    const auto size = static_cast<std::size_t>(region.type.size());
    std::byte* data = arena.data() + region.offset;
    for (std::size_t i = 0; i < unwritten.size(); ++i) {
      if (!unwritten[i] || !before.IsUntouched(r, data, i, size)) continue;
      std::memset(data + i * size, std::to_integer<int>(kPoison), size);
    }
  }
}

bool SameBits(const Observation& seen) {
  for (std::size_t r = 0; r < seen.reference.outputs.size(); ++r) {
    const std::vector<std::byte>& expected = seen.reference.outputs[r].bytes;
    const std::byte* got = seen.after.data() + seen.plan.layout.regions[r].offset;
    if (!device::SameBytes(expected.data(), got, expected.size())) return false;
  }
  return true;
}

}  // namespace

Trial::Trial(const protocol::VerifyRequest& request, const records::Case& workload,
             CasePlan original)
    : request_(request),
      workload_(workload),
      original_(std::move(original)),
      references_(request.set, workload, original_) {}

bool Trial::LeftOut(const std::string& name) const {
  const auto& names = request_.left_out;
  return std::find(names.begin(), names.end(), name) != names.end();
}

base::Result<Trial::Scene> Trial::MakeScene(CasePlan original) const {
  Scene scene{std::move(original), {}, {}, {}};
  scene.plan = scene.original;
  TRY_ASSIGN(scene.launches, VariantProgram(set().kernel, set().variant, scene.plan));
  scene.program = ToJson(scene.launches, scene.plan.layout, 0);
  return scene;
}

base::Result<Finding> Trial::Start() {
  auto scene = MakeScene(original_);
  if (!scene) {
    const bool unsupported = scene.error().code == base::ErrorCode::kUnsupported;
    return Finding{unsupported ? "unsupported_construct" : "invalid_launch", scene.error().message};
  }
  scene_ = std::move(*scene);
  auto taken = MakeRoom(scene_->plan.layout);
  if (!taken && taken.error().code == base::ErrorCode::kInvalidArgument) {
    return Finding{"invalid_launch", taken.error().message};
  }
  if (!taken) return base::Fail(taken.error());
  return Finding{};
}

base::Result<> Trial::MakeRoom(const Layout& layout) {
  const std::size_t bytes = RoomFor(layout);
  if (lease_ && lease_->memory().size() >= bytes) return {};
  const std::size_t room = std::max(bytes, lease_ ? lease_->memory().size() : 0);
  std::vector<std::string> modules = {set().candidate_artifact};
  if (module_ == 1) modules.insert(modules.begin(), set().original_artifact);
  const Role role = restarted_ ? Role::kFinalist : Role::kCandidate;
  lease_.reset();  // before the new one needs the memory
  TRY_ASSIGN(Lease lease, Lease::Take(set().device, role, room, modules));
  lease_ = std::move(lease);
  workload_ran_last = false;
  return {};
}

base::Result<> Trial::Restart(bool with_original) {
  module_ = with_original ? 1 : 0;
  restarted_ = true;
  lease_.reset();
  return MakeRoom(scene_->plan.layout);
}

base::Result<Finding> Trial::Judge(const Question& question, const Before& before) {
  return JudgeAt(*scene_, question, before);
}

base::Result<Finding> Trial::JudgeAt(const Scene& scene, const Question& question,
                                     const Before& before) {
  return RunAndCheck(scene, question, before, true);
}

base::Result<Finding> Trial::RunOn(const Question& question, const Before& before) {
  return RunAndCheck(*scene_, question, before, false);
}

base::Result<Finding> Trial::RunAndCheck(const Scene& scene, const Question& question,
                                         const Before& before, bool results) {
  TRY(MakeRoom(scene.plan.layout));
  const auto arena = lease_->memory().subspan(0, static_cast<std::size_t>(scene.plan.layout.bytes));
  PrepareArena(scene.plan.layout, *question.reference.inputs, before, arena);
  launches_ += 1;
  workload_ran_last = false;
  auto ran = Launch(scene, question.reference.original_us);
  if (!ran && ran.error().code == base::ErrorCode::kUnavailable) return base::Fail(ran.error());
  const Observation seen{set(), scene.original, scene.plan,     question.reference,
                         arena, question.fill,  question.dense, before};
  if (!ran) return FailedRun(seen, ran.error());
  PutPoisonBack(scene.plan.layout, question.reference, before, arena);
  return Check(seen, question, results);
}

base::Result<Finding> Trial::RunSeries(const Question& question, const Before& before,
                                       const SeriesRequest& series) {
  const Layout& layout = scene_->plan.layout;
  TRY(MakeRoom(layout));
  const auto arena = lease_->memory().subspan(0, static_cast<std::size_t>(layout.bytes));
  PrepareArena(layout, *question.reference.inputs, before, arena);
  launches_ += static_cast<std::int64_t>(series.pokes.size());
  workload_ran_last = false;
  const double each = question.reference.original_us * static_cast<double>(series.pokes.size());
  auto ran = lease_->runner().Ask(SeriesOp(series, module_, scene_->program, layout),
                                  2 * TrialLimitFor(each));
  if (ran) return Finding{};
  if (ran.error().code == base::ErrorCode::kUnavailable) return base::Fail(ran.error());
  return FailedRun({set(), scene_->original, scene_->plan, question.reference, arena, question.fill,
                    question.dense, before},
                   ran.error());
}

std::vector<std::vector<std::byte>> Trial::ResultsOfSeries(int run) const {
  return SeriesResults(scene_->original.layout, scene_->plan.layout, lease_->memory(), run);
}

void Trial::PutResults(const Question& question, const Before& before,
                       const std::vector<std::vector<std::byte>>& results) {
  const Layout& layout = scene_->plan.layout;
  const auto arena = lease_->memory().subspan(0, static_cast<std::size_t>(layout.bytes));
  PrepareArena(layout, *question.reference.inputs, before, arena);
  for (std::size_t r = 0; r < results.size(); ++r) {
    std::copy(results[r].begin(), results[r].end(), arena.begin() + layout.regions[r].offset);
  }
  workload_ran_last = false;
}

base::Result<Finding> Trial::JudgeResults(const Question& question, const Before& before) {
  const auto bytes = static_cast<std::size_t>(scene_->plan.layout.bytes);
  return Check({set(), scene_->original, scene_->plan, question.reference,
                lease_->memory().subspan(0, bytes), question.fill, question.dense, before},
               question, true);
}

base::Result<Finding> Trial::Check(const Observation& seen, const Question& question,
                                   bool results) {
  if (!results || !NeedsTwin(seen)) return CheckWhole(seen, results);
  TRY_ASSIGN(const auto whole, references_.WithTwin(seen.reference));
  const bool dense =
      question.gate_fill == nullptr ? seen.dense : IsDense(question.gate_fill, *whole);
  return CheckWhole(
      {seen.set, seen.original, seen.plan, *whole, seen.after, seen.fill, dense, seen.before},
      results);
}

base::Result<std::shared_ptr<const OriginalResult>> Trial::TwinWhereBitsDiffer(
    std::shared_ptr<const OriginalResult> reference) {
  const auto bytes = static_cast<std::size_t>(scene_->plan.layout.bytes);
  const bool differ = NeedsTwin({set(),
                                 scene_->original,
                                 scene_->plan,
                                 *reference,
                                 lease_->memory().subspan(0, bytes),
                                 "",
                                 true,
                                 {}});
  if (!differ) return reference;
  return references_.WithTwin(*reference);
}

base::Result<Finding> Trial::CheckWhole(const Observation& seen, bool results) {
  TRY_ASSIGN(Finding finding, CheckNearby(references_, seen, errors_, [&](const CheckRow& check) {
               return !LeftOut(check.name) && (results || !check.of_results);
             }));
  if (finding.reason == "wrong_values" || finding.reason == "precision_loss") {
    TRY(references_.AskAgain(seen.reference));
  }
  if (finding.reason.empty()) exact_ = exact_ && (!results || SameBits(seen));
  return finding;
}

base::Result<records::Json> Trial::Launch(const Scene& scene, double original_us) {
  records::Json request = {{"op", "run"},
                           {"module", module_},
                           {"program", scene.program},
                           {"bytes", scene.plan.layout.bytes}};
  if (!schedule.empty()) request["schedule"] = schedule;
  return lease_->runner().Ask(request, TrialLimitFor(original_us));
}

Finding Trial::FailedRun(const Observation& seen, const base::Error& error) {
  // A crash after a write outside of the buffers is the write's doing.
  Finding outside = LeftOut("out_of_bounds") ? Finding{} : CheckRedZones(seen, errors_);
  if (!outside.reason.empty()) {
    outside.check = "out_of_bounds";
    return outside;
  }
  const std::string detail = error.message + FillName(seen);
  if (error.code == base::ErrorCode::kTimeout) return {"timed_out", detail};
  if (error.code == base::ErrorCode::kInvalidArgument) return {"invalid_launch", detail};
  return {"crashed", detail};
}

base::Result<Finding> Trial::RunOriginal(const OriginalResult& reference) {
  const Layout& layout = scene_->plan.layout;
  Before before;
  before.keep_workspaces = true;
  PrepareArena(layout, *reference.inputs, before, lease_->memory());
  const records::Json program =
      ToJson(OriginalProgram(scene_->original, set().kernel.name), layout, 0);
  auto ran = lease_->Run(0, program, TrialLimitFor(reference.original_us));
  if (!ran && ran.error().code == base::ErrorCode::kUnavailable) return base::Fail(ran.error());
  if (ran) return Finding{};
  return Finding{"stateful", "beside the candidate the original fails: " + ran.error().message};
}

base::Result<std::shared_ptr<const OriginalResult>> Trial::Workload() {
  TRY_ASSIGN(auto reference, references_.Find(nullptr));
  if (!reference->dropped.empty() && has_workload_) {  // it was not kept, and was run again
    return base::Fail(base::InvalidArgument("the original of '" + set().kernel.name +
                                            "' fails when it runs again: " + reference->dropped));
  }
  has_workload_ = reference->dropped.empty();
  if (quick_workload || !reference->twin_waits) return reference;
  return references_.WithTwin(*reference);
}

base::Result<const GateFill*> Trial::AnotherFill() {
  TRY_ASSIGN(const auto workload, references_.Find(nullptr));
  for (const GateFill& fill : kGateFills) {
    if (!fill.active) continue;
    TRY_ASSIGN(const auto reference, references_.Find(&fill));
    if (!reference->redundant && WhyNotJudgedBy(*reference, *workload).empty()) return &fill;
  }
  return nullptr;
}

void Trial::Note(const std::string& name, const std::string& detail) {
  notes_.push_back({name, true, detail});
}

void Trial::Carry(const Errors& errors, bool exact) {
  errors_.candidate = std::max(errors_.candidate, errors.candidate);
  errors_.original = std::max(errors_.original, errors.original);
  exact_ = exact_ && exact;
}

// By what floating outputs were judged on a fill; empty: there is none.
std::string Trial::HowCompared(const OriginalResult& reference) {
  std::string how;
  for (std::size_t r = 0; r < original_.layout.regions.size(); ++r) {
    const Region& region = original_.layout.regions[r];
    if (!region.output || !region.type.floating()) continue;
    switch (EqualityOf(set(), region, reference.outputs[r])) {
      case Equality::kSet:
        break;
      case Equality::kTolerance:
        how = "by the declared tolerance";
        break;
      case Equality::kErrorRule:
        with_twin_ = true;
        how = "errors measured against the double twin";
        break;
      case Equality::kBits:
        how = reference.twin_waits ? "the original's bits" : "bit by bit";
        if (!reference.no_twin.empty()) how += ": " + reference.no_twin;
        break;
    }
  }
  return how;
}

}  // namespace cupilot::worker
