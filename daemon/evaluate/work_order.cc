#include "evaluate/work_order.h"

#include <algorithm>

#include "evaluate/calls.h"

namespace cupilot::evaluate {
namespace {

bool IsMonitor(const WorkerCall* call) { return call->kind == WorkerKind::kMonitor; }

bool HasFreeProcess(const WorkerCall& call, const std::vector<const WorkerCall*>& running,
                    const WorkerLimits& limits) {
  const std::string kind = DeviceKind(call.device);
  const auto shares = [&](const WorkerCall* other) {
    if (other->kind != call.kind) return false;
    return call.kind == WorkerKind::kDevice
               ? other->device == call.device && other->lane == call.lane
               : DeviceKind(other->device) == kind;
  };
  const auto busy = std::count_if(running.begin(), running.end(), shares);
  const auto& most = kind == "cuda" ? limits.gpu : limits.host;
  const bool single = call.kind == WorkerKind::kDevice || call.kind == WorkerKind::kMonitor;
  return busy < (single ? 1 : most[static_cast<std::size_t>(call.kind)]);
}

}  // namespace

WorkerLimits LimitsFor(int cores) {
  WorkerLimits limits;
  const int free = std::clamp(cores - kCoresLeftToOthers, 1, 32);
  // A candidate is built two to three times as long as it is made, and looked at half as long; one
  // more process would have to read all headers first.
  limits.gpu[static_cast<std::size_t>(WorkerKind::kSource)] = std::clamp(cores / 3, 1, 8);
  limits.gpu[static_cast<std::size_t>(WorkerKind::kBuild)] = std::max(free, 2);
  return limits;
}

int ProofLanesFor(int cores) { return std::clamp(cores / 4, 1, 4); }

std::optional<std::size_t> NextToStart(const std::vector<const WorkerCall*>& waiting,
                                       const std::vector<const WorkerCall*>& running,
                                       const WorkerLimits& limits) {
  const auto others = std::count_if(running.begin(), running.end(),
                                    [](const WorkerCall* call) { return !IsMonitor(call); });
  bool closed = std::any_of(running.begin(), running.end(),
                            [](const WorkerCall* call) { return call->exclusive; });
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const WorkerCall& call = *waiting[i];
    if (closed && !IsMonitor(&call)) continue;
    if (call.exclusive && others > 0) {
      closed = true;
      continue;
    }
    if (HasFreeProcess(call, running, limits)) return i;
  }
  return std::nullopt;
}

bool IsLook(const WorkerCall& call) {
  return call.kind == WorkerKind::kDevice && call.lane == 0 && !call.line.empty() &&
         DeviceKind(call.device) == "cuda";
}

std::size_t SameLineFirst(const std::vector<const WorkerCall*>& waiting, std::size_t next,
                          const Streak& streak) {
  const WorkerCall& first = *waiting[next];
  if (!IsLook(first) || streak.looks >= kMostInARow) return next;
  const auto same = std::find_if(waiting.begin(), waiting.end(), [&](const WorkerCall* other) {
    return IsLook(*other) && other->device == first.device && other->line == streak.line;
  });
  return same == waiting.end() ? next : static_cast<std::size_t>(same - waiting.begin());
}

std::size_t PlaceInQueue(const std::vector<const WorkerCall*>& waiting, const WorkerCall& call) {
  if (call.line.empty()) return waiting.size();
  const auto behind =
      std::find_if(waiting.begin(), waiting.end(), [&call](const WorkerCall* other) {
        return other->line == call.line && other->kind == call.kind && other->place > call.place;
      });
  return static_cast<std::size_t>(behind - waiting.begin());
}

}  // namespace cupilot::evaluate
