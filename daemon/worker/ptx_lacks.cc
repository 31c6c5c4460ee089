#include "worker/ptx_lacks.h"

#include <algorithm>
#include <array>

namespace cupilot::worker {
namespace {

template <std::size_t count>
bool HasAny(std::string_view text, const std::array<std::string_view, count>& parts) {
  return std::any_of(parts.begin(), parts.end(), [text](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

// The state space: no variable, address or instruction reaches it without its name.
constexpr std::array<std::string_view, 1> kShared = {".shared"};
// bar.sync, bar.warp.sync, barrier.cta.sync, barrier.cluster.arrive, mbarrier.init; shfl.sync,
// vote.sync, match.any.sync, redux.sync; vote.all, shfl.up and their like of old architectures.
constexpr std::array<std::string_view, 5> kSynchronisation = {"bar.", "barrier", ".sync", "vote.",
                                                              "shfl."};

}  // namespace

std::vector<std::string> LacksOf(std::string_view ptx) {
  std::vector<std::string> lacks;
  if (ptx.empty()) return lacks;
  if (!HasAny(ptx, kShared)) lacks.emplace_back("shared_memory");
  if (!HasAny(ptx, kSynchronisation)) lacks.emplace_back("synchronisation");
  return lacks;
}

}  // namespace cupilot::worker
