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
inline constexpr std::byte kOtherRedByte{0x5a};

struct CaseInputs {
  std::vector<std::vector<std::byte>> regions;  // of the layout; empty: no input
  bool changed = true;                          // not what the workload itself says
};

// The first input that a run has changed though it is no output; null: none is.
const Region* ChangedInput(const Layout& layout, const CaseInputs& before,
                           std::span<const std::byte> after);

// What names the contents of a case on one fill (null: the workload's own) and one seed, as a build
// of the original has them.
std::string InputsKey(const protocol::CandidateSet& set, const std::string& case_name,
                      const GateFill* fill);

// The same of other contents, by a name that is no fill's.
std::string InputsKey(const protocol::CandidateSet& set, const std::string& case_name,
                      const std::string& contents);

// What names the contents alone, whatever original of this kernel they are for.
std::string DrawnKey(const protocol::CandidateSet& set, const std::string& case_name,
                     const GateFill* fill);

// Kept for later requests. kInvalidArgument: the workload is illegal.
base::Result<std::shared_ptr<const CaseInputs>> FindInputs(const protocol::CandidateSet& set,
                                                           const CasePlan& plan,
                                                           const GateFill* fill);

// The workload's own contents of the case, drawn into `arena` itself, as PrepareArena() of
// FindInputs() leaves it: for who needs them there and nowhere else yet.
base::Result<> DrawArena(const protocol::CandidateSet& set, const CasePlan& plan, std::byte poison,
                         std::span<std::byte> arena);

// What lies in memory before a run, beside the inputs.
struct Before {
  std::byte poison = kPoison;  // of outputs and workspaces
  std::byte red = kRedByte;
  // By region: contents instead of the poison. An empty one is poisoned all the same; null: all
  // are.
  const std::vector<std::vector<std::byte>>* contents = nullptr;
  bool keep_workspaces = false;  // as the run before left them

  // Byte `at` of an output region.
  std::byte At(std::size_t region, std::size_t at) const {
    const bool known =
        contents != nullptr && region < contents->size() && !(*contents)[region].empty();
    return known ? (*contents)[region][at] : poison;
  }
  // Whether element `element`, of `size` bytes, of an output region whose bytes are `data` is as it
  // was.
  bool IsUntouched(std::size_t region, const std::byte* data, std::size_t element,
                   std::size_t size) const {
    for (std::size_t i = element * size; i < (element + 1) * size; ++i) {
      if (data[i] != At(region, i)) return false;
    }
    return true;
  }
};

// Red zones, outputs and workspaces as `before` says, and the inputs. `layout` is the inputs' own,
// or that with further regions behind it.
void PrepareArena(const Layout& layout, const CaseInputs& inputs, const Before& before,
                  std::span<std::byte> arena);
// With all of them poisoned.
void PrepareArena(const Layout& layout, const CaseInputs& inputs, std::byte poison,
                  std::span<std::byte> arena);

// How much of this machine's memory one kind of kept values may take.
std::size_t KeptBytes();

}  // namespace cupilot::worker
