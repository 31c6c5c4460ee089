// compute-sanitizer's tools on what a finalist does on a GPU, where the toolkit has them: what no
// result shows, as the GPU's own instructions make it. Beside the step "accesses", which needs
// kernels that can be built for the host device.
//
// Buffers are parts of one allocation that is written before: what lies between them memcheck and
// initcheck do not see; red zones and poisons are there for that.
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/compiler_program.h"
#include "base/file.h"
#include "base/hash.h"
#include "device/describe.h"
#include "source/swap/variant_text.h"
#include "worker/admission.h"
#include "worker/device_turn.h"
#include "worker/few_blocks.h"
#include "worker/kept.h"
#include "worker/program.h"
#include "worker/sanitized_runs.h"
#include "worker/sanitizer_looks.h"
#include "worker/sizes.h"
#include "worker/steps/step.h"
#include "worker/toolkits.h"

namespace cupilot::worker {
namespace {

constexpr const char* kSanitizersStep = "compute_sanitizer";
// Each takes a second or more.
constexpr std::size_t kMostCases = 2;

constexpr std::uint64_t kSanitizedSeed = 1;
// Of a device whose memory the tools' processes may keep a little of.
constexpr std::int64_t kMemoryToKeepIn = std::int64_t{16} << 30;
constexpr std::size_t kBytesOfOne = 1 << 10, kKeptReportBytes = kBytesOfOne << 12;

std::string NotLooked(const std::string& one_case, const std::string& why) {
  return "case '" + one_case + "': not looked at: " + why;
}

std::string FindSanitizer(const protocol::VerifyRequest& request) {
  for (const std::string& toolkit : ToolkitsOf(request.compiler, request.compile_folder)) {
    const std::string program = toolkit + "/bin/compute-sanitizer";
    if (base::FileExists(program)) return program;
  }
  return base::FindProgram("compute-sanitizer", "");
}

// Of those that are run with the candidate.
bool IsAmongFirst(const Trial& trial, const device::Properties& properties) {
  const std::vector<records::Case> cases = Admit(trial.set(), properties).cases;
  const auto end = cases.begin() + static_cast<std::ptrdiff_t>(std::min(kMostCases, cases.size()));
  return std::any_of(cases.begin(), end,
                     [&](const records::Case& one) { return one.name == trial.workload().name; });
}

// Nothing of it is empty that is not in the case's own size: where a loop has no rounds, nothing is
// to be seen.
bool IsWhole(const Layout& layout, const Layout& own) {
  return std::equal(layout.regions.begin(), layout.regions.end(), own.regions.begin(),
                    own.regions.end(), [](const Region& one, const Region& of_own) {
                      return (one.count > 0) == (of_own.count > 0);
                    });
}

// Where the case names no sizes: one that is a guess, and legal; nothing where there is none.
base::Result<std::optional<records::Case>> GuessedSize(Trial& trial,
                                                       const device::Properties& properties) {
  const protocol::CandidateSet& set = trial.set();
  auto guess = SmallerByGuess(set.kernel, trial.workload(), trial.scene().original, properties,
                              kStandInBytes);
  if (!guess) return guess;
  const auto plan = PlanCase(set.kernel, *guess, properties, nullptr);
  if (!plan) return std::nullopt;
  TRY_ASSIGN(const auto workload, trial.Workload());
  Trial sized(trial.request(), *guess, *plan);
  sized.quick_workload = true;
  TRY_ASSIGN(const bool legal, IsLegalSize(sized, *plan, *workload));
  if (!legal) return std::nullopt;
  return guess;
}

// The case itself, or another size of it that the guard admits (SizeForSanitizers).
base::Result<std::optional<Trial::Scene>> SceneFor(Trial& trial,
                                                   const device::Properties& properties) {
  const Trial::Scene& own = trial.scene();
  std::vector<records::Case> cases = OtherSizes(trial.set().kernel, trial.workload(), own.original);
  if (cases.empty() && !IsSmallForSanitizers(own.plan.layout.bytes)) {
    TRY_ASSIGN(auto guess, GuessedSize(trial, properties));
    if (guess) cases.push_back(std::move(*guess));
  }
  std::vector<std::optional<Trial::Scene>> scenes;
  std::vector<std::optional<std::int64_t>> bytes;
  for (const records::Case& one : cases) {
    scenes.emplace_back();
    auto plan = PlanCase(trial.set().kernel, one, properties, nullptr);
    if (plan && IsWhole(plan->layout, own.original.layout)) {
      if (auto scene = trial.MakeScene(std::move(*plan))) scenes.back() = std::move(*scene);
    }
    bytes.push_back(scenes.back() ? std::optional(scenes.back()->plan.layout.bytes) : std::nullopt);
  }
  const auto at = SizeForSanitizers(own.plan.layout.bytes, bytes);
  if (!at) return std::nullopt;
  if (*at == 0) return own;
  return std::move(scenes[*at - 1]);
}

class Sanitizers {
 public:
  Sanitizers(const protocol::CandidateSet& set, std::string sanitizer, const Trial::Scene& scene,
             std::int64_t device_bytes)
      : set_(set),
        sanitizer_(std::move(sanitizer)),
        scene_(scene),
        small_(IsSmallForSanitizers(scene.plan.layout.bytes)),
        keep_(small_ && device_bytes >= kMemoryToKeepIn),
        candidate_(scene.program),
        original_(
            ToJson(OriginalProgram(scene.original, set.kernel.name), scene.original.layout, 0)) {
    if (small_) return;
    const auto code = source::CandidateText(set.kernel, set.variant);
    few_ = code && LeaveFewBlocks(*code, candidate_);
    // What both do alike is seen of both.
    if (few_) LeaveFewBlocks(set.kernel.closure_source, original_);
  }

  const records::Json& candidate() const { return candidate_; }
  bool few() const { return few_; }

  // `launches`: of the candidate, are added to.
  SanitizerLook Look(const CaseInputs& inputs, std::int64_t& launches) const {
    return LookWithSanitizers(
        scene_.original.name, small_, set_.lacks,
        [&](const std::vector<const SanitizerTool*>& tools, std::chrono::milliseconds limit) {
          launches += static_cast<std::int64_t>(tools.size());
          return RunAll({sanitizer_, set_.device, set_.candidate_artifact, candidate_,
                         scene_.plan.layout, inputs, Scratch(), keep_},
                        tools, limit);
        },
        [&](const std::vector<const SanitizerTool*>& tools, std::chrono::milliseconds limit) {
          return RunAll({sanitizer_, set_.device, set_.original_artifact, original_,
                         scene_.original.layout, inputs, Scratch(), keep_},
                        tools, limit);
        });
  }

 private:
  using Subject = SanitizedRuns::Subject;
  std::string Scratch() const { return set_.work_folder + "/sanitizers"; }
  // Nothing that a verdict rests on is measured beside them.
  static std::vector<SanitizedRun> RunAll(const Subject& subject,
                                          const std::vector<const SanitizerTool*>& tools,
                                          std::chrono::milliseconds limit) {
    const auto turn = TakeTurnForTools(subject.device);
    if (!turn) {
      std::vector<SanitizedRun> none;
      none.reserve(tools.size());
      for (const SanitizerTool* tool : tools)
        none.push_back({tool, "", turn.error().message, false});
      return none;
    }
    return SanitizedRuns(subject, tools, limit).Wait();
  }

  const protocol::CandidateSet& set_;
  const std::string sanitizer_;
  const Trial::Scene& scene_;
  const bool small_, keep_;
  records::Json candidate_, original_;  // programs
  bool few_ = false;                    // blocks of the candidate
};

}  // namespace

base::Result<Finding> StepSanitizers(Trial& trial) {
  const auto not_looked = [&](const std::string& why) {
    trial.Note(kSanitizersStep, NotLooked(trial.workload().name, why));
    return Finding{};
  };
  if (trial.set().device == "host") return not_looked("it is a GPU's, and this is the host device");
  TRY_ASSIGN(const device::Properties properties, device::DescribeDevice(trial.set().device));
  if (!IsAmongFirst(trial, properties)) {
    return not_looked("only the first " + std::to_string(kMostCases) + " cases are");
  }
  const std::string sanitizer = FindSanitizer(trial.request());
  if (sanitizer.empty()) {
    return not_looked("the toolkit has no compute-sanitizer (package cuda-sanitizer)");
  }
  TRY_ASSIGN(const auto scene, SceneFor(trial, properties));
  if (!scene) return not_looked("no size is small enough");
  // The same inputs whatever the seed: what is asked again (by a second verification, for one) was
  // answered.
  protocol::CandidateSet set = trial.set();
  set.seed = kSanitizedSeed;
  const auto inputs = FindInputs(set, scene->original, nullptr);
  if (!inputs && inputs.error().code == base::ErrorCode::kInvalidArgument) {
    return not_looked(inputs.error().message);
  }
  if (!inputs) return base::Fail(inputs.error());
  const Sanitizers sanitizers(set, sanitizer, *scene, properties.memory_bytes);
  static Kept<SanitizerLook>& kept = *new Kept<SanitizerLook>(kKeptReportBytes);
  const std::string key = base::Hasher()
                              .Add(set.device)
                              .Add(set.candidate_artifact)
                              .Add(set.original_artifact)
                              .Add(sanitizers.candidate().dump())
                              .Add(InputsKey(set, scene->original.name, nullptr))
                              .Hex();
  auto looked = kept.Find(key);
  if (!looked) {
    std::int64_t launches = 0;
    looked = std::make_shared<SanitizerLook>(sanitizers.Look(**inputs, launches));
    trial.CountLaunches(launches);
    if (looked->whole) kept.Put(key, looked, kBytesOfOne);
  }
  const std::string of = sanitizers.few() ? " (of its first blocks)" : "";
  for (const std::string& note : looked->notes) trial.Note(kSanitizersStep, note + of);
  Finding finding = looked->finding;
  if (!finding.reason.empty()) finding.check = kSanitizersStep;
  return finding;
}

}  // namespace cupilot::worker
