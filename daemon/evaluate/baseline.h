// The part of an evaluation that all candidates of one kernel share: the original's build, the
// double twin and its build, the device. On the loop thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "evaluate/calls.h"
#include "evaluate/evaluator.h"
#include "evaluate/workers.h"

namespace cupilot::evaluate {

struct Baseline {
  std::string original_artifact;
  std::string original_hash;  // of its code, as text_hashes; GPUs
  // What its code loses, by kernel, as in the build's reply; GPUs.
  std::vector<std::pair<std::string, std::string>> original_losses;
  protocol::TwinReply twin;   // declined: there is none, and why
  std::string twin_artifact;  // empty: none; bitwise equality or the declared tolerance decides
  DeviceDescription device;
};

struct BuildSettings {
  std::string artifact_folder;  // content-addressed builds; may be deleted at any time
  std::int64_t timeout_ms = 60000;
};

// The hash of these kernels' code in what was built; of several, of all; empty: none of them.
std::string TextHash(const protocol::BuildReply& build, const std::vector<std::string>& kernels);

// Whether results must be equal bit by bit, by the tag's, the workload's or the project's wish.
bool DemandsBitwise(const EvaluateRequest& request);

// What a baseline depends on.
std::string BaselineKey(const EvaluateRequest& request);

// What is built for one architecture never meets what is built for another.
protocol::BuildRequest MakeBuildRequest(const EvaluateRequest& request,
                                        const DeviceDescription& device, std::string text,
                                        const BuildSettings& settings);

// kInvalidArgument with the compiler's log if the original does not build. A twin that cannot be
// made or built is no error: twin.declined. `on_original` is called, once at most, where the
// original is built and the twin is still to come (declined, until then).
void PrepareBaseline(Workers& workers, const EvaluateRequest& request,
                     const BuildSettings& settings,
                     std::function<void(const Baseline& baseline)> on_original,
                     base::Callback<Baseline> done);

}  // namespace cupilot::evaluate
