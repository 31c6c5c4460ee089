// compute-sanitizer's tools on what a finalist does on a GPU, where the toolkit has them: what no
// result shows, as the GPU's own instructions make it. Beside the step "accesses", which needs
// kernels that can be built for the host device.
//
// Buffers are parts of one allocation that is written before: what lies between them memcheck and
// initcheck do not see; red zones and poisons are there for that.
#include <algorithm>
#include <utility>

#include "base/compiler_program.h"
#include "base/file.h"
#include "device/describe.h"
#include "worker/program.h"
#include "worker/sanitized_runs.h"
#include "worker/sizes.h"
#include "worker/steps/step.h"
#include "worker/toolkits.h"

namespace cupilot::worker {
namespace {

constexpr const char* kSanitizersStep = "compute_sanitizer";
constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;  // of a case's buffers; they are slow
// Each takes a second or more.
constexpr std::size_t kMostCases = 2;

void SayNotLooked(Trial& trial, const std::string& why) {
  trial.Note(kSanitizersStep, "case '" + trial.workload().name + "': not looked at: " + why);
}

std::string FindSanitizer(const protocol::VerifyRequest& request) {
  for (const std::string& toolkit : ToolkitsOf(request.compiler, request.compile_folder)) {
    const std::string program = toolkit + "/bin/compute-sanitizer";
    if (base::FileExists(program)) return program;
  }
  return base::FindProgram("compute-sanitizer", "");
}

bool IsAmongFirst(const Trial& trial) {
  const auto& cases = trial.set().workload.cases;
  const auto end = cases.begin() + static_cast<std::ptrdiff_t>(std::min(kMostCases, cases.size()));
  return std::any_of(cases.begin(), end,
                     [&](const records::Case& one) { return one.name == trial.workload().name; });
}

// The case itself, or the first other size of it that is small enough and that the guard admits.
base::Result<std::optional<Trial::Scene>> SceneFor(const Trial& trial) {
  const Trial::Scene& own = trial.scene();
  if (own.plan.layout.bytes <= kMostBytes) return own;
  TRY_ASSIGN(const device::Properties properties, device::DescribeDevice(trial.set().device));
  for (const records::Case& one : OtherSizes(trial.set().kernel, trial.workload(), own.original)) {
    auto plan = PlanCase(trial.set().kernel, one, properties, nullptr);
    if (!plan || plan->layout.bytes > kMostBytes) continue;
    auto scene = trial.MakeScene(std::move(*plan));
    if (scene && scene->plan.layout.bytes <= kMostBytes) return std::move(*scene);
  }
  return std::nullopt;
}

std::vector<SanitizedRun> RunAll(const Trial& trial, const std::string& sanitizer,
                                 const std::string& artifact, const records::Json& program,
                                 const Layout& layout, const CaseInputs& inputs,
                                 const std::vector<const SanitizerTool*>& tools) {
  const protocol::CandidateSet& set = trial.set();
  return SanitizedRuns({sanitizer, set.device, artifact, program, layout, inputs,
                        set.work_folder + "/sanitizers"},
                       tools)
      .Wait();
}

// What the tools found in the candidate on `scene`, and do not find in the original.
base::Result<Finding> Look(Trial& trial, const std::string& sanitizer, const Trial::Scene& scene,
                           const CaseInputs& inputs) {
  const protocol::CandidateSet& set = trial.set();
  const CasePlan& original = scene.original;
  std::vector<const SanitizerTool*> tools;
  for (const SanitizerTool& tool : kSanitizerTools) tools.push_back(&tool);
  trial.CountLaunches(static_cast<std::int64_t>(tools.size()));
  std::string clean;
  for (const SanitizedRun& run : RunAll(trial, sanitizer, set.candidate_artifact, scene.program,
                                        scene.plan.layout, inputs, tools)) {
    const std::string tool = run.tool->name;
    if (!run.failed.empty()) {
      SayNotLooked(trial, tool + ": " + run.failed);
      continue;
    }
    if (run.error.empty()) {
      clean += (clean.empty() ? "" : ", ") + tool;
      continue;
    }
    const records::Json program =
        ToJson(OriginalProgram(original, set.kernel.name), original.layout, 0);
    const SanitizedRun same = RunAll(trial, sanitizer, set.original_artifact, program,
                                     original.layout, inputs, {run.tool})
                                  .front();
    if (same.error.empty()) {
      return Finding{run.tool->reason,
                     "compute-sanitizer's " + tool + ": " + run.error + " (case '" + original.name +
                         "', seed " + std::to_string(set.seed) + ")",
                     kSanitizersStep};
    }
    trial.Note(kSanitizersStep,
               tool + ": does not count, since the original does the like: " + run.error);
  }
  if (!clean.empty()) {
    trial.Note(kSanitizersStep, "case '" + original.name + "': nothing found by " + clean);
  }
  return Finding{};
}

}  // namespace

base::Result<Finding> StepSanitizers(Trial& trial) {
  if (trial.set().device == "host" || !IsAmongFirst(trial)) return Finding{};
  const std::string sanitizer = FindSanitizer(trial.request());
  if (sanitizer.empty()) {
    SayNotLooked(trial, "the toolkit has no compute-sanitizer (package cuda-sanitizer)");
    return Finding{};
  }
  TRY_ASSIGN(const auto scene, SceneFor(trial));
  if (!scene) {
    SayNotLooked(trial, "no size is small enough");
    return Finding{};
  }
  const auto inputs = FindInputs(trial.set(), scene->original, nullptr);
  if (!inputs && inputs.error().code != base::ErrorCode::kInvalidArgument) {
    return base::Fail(inputs.error());
  }
  if (!inputs) {
    SayNotLooked(trial, inputs.error().message);
    return Finding{};
  }
  return Look(trial, sanitizer, *scene, **inputs);
}

}  // namespace cupilot::worker
