// What a case's buffers hold before a launch: drawn once a fill, and copied into every arena that
// needs it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/worker_messages.h"
#include "worker/case_plan.h"
#include "worker/fill_recipe.h"

namespace cupilot::worker {

inline constexpr std::byte kRedByte{0xa5};
inline constexpr std::byte kPoison{0xc3};
inline constexpr std::byte kOtherPoison{0x3c};

struct CaseInputs {
  std::vector<std::vector<std::byte>> regions;  // of the layout; empty: no input
  bool changed = true;                          // not what the workload itself says
};

// What names the contents of a case on one fill (null: the workload's own) and one seed.
std::string InputsKey(const protocol::CandidateSet& set, const std::string& case_name,
                      const GateFill* fill);

// Kept for later requests. kInvalidArgument: the workload is illegal.
base::Result<std::shared_ptr<const CaseInputs>> FindInputs(const protocol::CandidateSet& set,
                                                           const CasePlan& plan,
                                                           const GateFill* fill);

// Red zones, poisoned outputs and workspaces, and the inputs. `layout` is the inputs' own, or that
// with further regions behind it.
void PrepareArena(const Layout& layout, const CaseInputs& inputs, std::byte poison,
                  std::span<std::byte> arena);

// How much of this machine's memory one kind of kept values may take.
std::size_t KeptBytes();

}  // namespace cupilot::worker
