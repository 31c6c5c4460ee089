// What the original (and its double twin) gives for one case and one fill: run in processes of
// their own, kept for all candidates of the kernel.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/worker_messages.h"
#include "worker/case_plan.h"
#include "worker/error_rule.h"
#include "worker/fill_recipe.h"

namespace cupilot::worker {

inline constexpr std::byte kRedByte{0xa5};
inline constexpr std::byte kPoison{0xc3};
inline constexpr std::byte kOtherPoison{0x3c};

struct ReferenceOutput {
  std::vector<std::byte> bytes;      // of the region, after the original
  std::vector<bool> unwritten;       // elements that it leaves; empty: none
  std::optional<Expected> expected;  // with a twin, floating components
  Rho original_rho;
};

struct OriginalResult {
  std::string dropped;  // why this fill does not count: the original fails or does not repeat on it
  double original_us = 0;
  std::vector<ReferenceOutput> outputs;  // by region; empty bytes: no output
};

// Red zones, poisoned outputs and workspaces, inputs as the fill says.
base::Result<> PrepareArena(const CasePlan& plan, const GateFill* fill, std::uint64_t seed,
                            std::byte poison, std::span<std::byte> arena);

// Runs what is not cached. kInvalidArgument: the workload is illegal.
base::Result<std::shared_ptr<const OriginalResult>> FindReference(const protocol::CandidateSet& set,
                                                                  const records::Case& workload,
                                                                  const CasePlan& plan,
                                                                  const GateFill* fill);

}  // namespace cupilot::worker
