// What the language leaves undefined and the candidate does: signed overflows, shifts by all bits
// or more, indices beyond an array's bounds and the like. A compiler may make of it what it likes,
// here or in the program that the variant is put into, whatever results were here. Compilers' own
// checks
// (-fsanitize=undefined) find it, in the runs that the step "accesses" asks for too.
//
// What the original does too, somewhere, does not count; nor what headers of the runtime do.
#include <algorithm>
#include <set>
#include <string_view>

#include "host_runtime/include/cupilot_host_watch.h"
#include "source/swap/variant_text.h"
#include "worker/steps/step.h"
#include "worker/watched_scenes.h"

namespace cupilot::worker {
namespace {

constexpr const char* kUndefinedStep = "undefined";
constexpr std::size_t kMostQuoted = 160;

// A GPU's instruction for it gives the nearest number, or 0 of what is none, and who writes for one
// counts on it.
bool IsDefinedOn(const std::string& device, int kind) {
  return device != "host" && kind == cupilot_host_watch_conversion;
}

const char* ReasonOf(int kind) {
  const bool outside = kind == cupilot_host_watch_index || kind == cupilot_host_watch_object;
  return outside ? "out_of_bounds" : "forbidden_construct";
}

// Of its own text, not of a header's.
bool IsOwn(const WatchFinding& finding, const std::string& artifact) {
  return finding.name == artifact.substr(0, artifact.rfind('.')) + ".cu";
}

// Who wrote the variant knows its own lines alone.
std::string LineOf(const protocol::CandidateSet& set, int line) {
  const auto text = source::CandidateText(set.kernel, set.variant);
  const std::size_t begin = text ? text->rfind(set.variant.source) : std::string::npos;
  if (begin == std::string::npos) return {};
  const auto first = 1 + std::count(text->begin(), text->begin() + static_cast<long>(begin), '\n');
  const auto lines = 1 + std::count(set.variant.source.begin(), set.variant.source.end(), '\n');
  if (line < first || line >= first + lines) return ", in what it uses of the original's text";
  std::string_view rest = set.variant.source;
  for (auto at = first; at < line; ++at) rest.remove_prefix(rest.find('\n') + 1);
  rest = rest.substr(0, std::min(rest.find('\n'), kMostQuoted));
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return ", line " + std::to_string(line - first + 1) + " of the variant: '" + std::string(rest) +
         "'";
}

Finding JudgeScene(Trial& trial, const WatchedScene& scene) {
  const protocol::CandidateSet& set = trial.set();
  std::set<int> of_original;
  for (const WatchFinding& found : scene.original().findings) {
    if (IsUndefined(found) && IsOwn(found, set.watched_original)) of_original.insert(found.kind);
  }
  for (const WatchFinding& found : scene.candidate().findings) {
    if (!IsUndefined(found) || !IsOwn(found, set.watched_candidate)) continue;
    if (IsDefinedOn(set.device, found.kind)) continue;
    const std::string what = found.detail + LineOf(set, found.line);
    if (of_original.contains(found.kind)) {
      trial.Note(kUndefinedStep,
                 scene.of() + ": does not count, since the original does the like: " + what);
      continue;
    }
    return {ReasonOf(found.kind), "undefined behaviour: " + what + scene.Place(), kUndefinedStep};
  }
  return {};
}

}  // namespace

base::Result<Finding> StepUndefined(Trial& trial) {
  return WatchScenes(
      trial, kUndefinedStep,
      [&](const WatchedScene& scene) -> base::Result<Finding> { return JudgeScene(trial, scene); });
}

}  // namespace cupilot::worker
