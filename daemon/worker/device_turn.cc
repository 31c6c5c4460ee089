#include "worker/device_turn.h"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "device/describe.h"

namespace cupilot::worker {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// For others: longer than the pause between two attempts of who waits (device_lock.cc), and more
// after a long turn, since who waits may wait for a processor, too.
constexpr milliseconds kLeastPause{4}, kMostPause{50};
constexpr int kPauseShare = 20;  // of the turn
// Tools run for seconds each. With several proofs under way there is nearly always one, so new
// tools stay behind a measurement that waits (it had to wait for up to 8 s on an H200).
constexpr milliseconds kToolsDeference{6000};

struct Held {
  std::weak_ptr<const device::DeviceLock> lock;
  device::DeviceLock::Use use = device::DeviceLock::Use::kAlone;
  steady_clock::time_point taken, others_until;
};

std::chrono::nanoseconds waited_for_turns{0};

}  // namespace

std::chrono::nanoseconds WaitedForTurns() { return waited_for_turns; }

base::Result<DeviceTurn> TakeDeviceTurn(const std::string& lock_path, milliseconds limit,
                                        device::DeviceLock::Use use, milliseconds deference) {
  static auto& all = *new std::map<std::string, Held>();
  Held& held = all[lock_path];
  using Use = device::DeviceLock::Use;
  if (DeviceTurn known = held.lock.lock()) {
    if (held.use == Use::kShared && use == Use::kAlone) {
      return base::Fail(base::Internal("a measurement inside a run that others may run beside"));
    }
    return known;
  }
  const auto asked = steady_clock::now();
  if (asked < held.others_until && device::DeviceLock::IsWaitedFor(lock_path)) {
    std::this_thread::sleep_until(held.others_until);
  }
  auto lock = device::DeviceLock::Acquire(lock_path, limit, use, deference);
  waited_for_turns += steady_clock::now() - asked;
  if (!lock) return base::Fail(std::move(lock.error()));
  DeviceTurn turn(new device::DeviceLock(std::move(*lock)),
                  [&held](const device::DeviceLock* gone) {
                    delete gone;
                    const auto now = steady_clock::now();
                    const auto share =
                        std::chrono::duration_cast<milliseconds>((now - held.taken) / kPauseShare);
                    held.others_until = now + std::clamp(share, kLeastPause, kMostPause);
                  });
  held.lock = turn;
  held.use = use;
  held.taken = steady_clock::now();
  return turn;
}

static base::Result<std::string> LockPathOf(const std::string& device) {
  TRY_ASSIGN(const device::Properties properties, device::DescribeDevice(device));
  return device::DeviceLockPath(properties.uuid);
}

static std::string ToolsPath(const std::string& lock_path) { return lock_path + ".tools"; }

// The tools first: who waits for them keeps nobody from the device.
base::Result<QuietTurn> TakeQuietTurn(const std::string& lock_path, milliseconds limit) {
  QuietTurn turn;
  TRY_ASSIGN(turn.tools, TakeDeviceTurn(ToolsPath(lock_path), limit));
  TRY_ASSIGN(turn.device, TakeDeviceTurn(lock_path, limit));
  return turn;
}

base::Result<QuietTurn> TakeTurnToMeasure(const std::string& device, milliseconds limit) {
  TRY_ASSIGN(const std::string path, LockPathOf(device));
  return TakeQuietTurn(path, limit);
}

base::Result<DeviceTurn> TakeTurnToLook(const std::string& device, milliseconds limit) {
  TRY_ASSIGN(const std::string path, LockPathOf(device));
  return TakeDeviceTurn(path, limit);
}

base::Result<DeviceTurn> TakeTurnForTools(const std::string& device, milliseconds limit) {
  TRY_ASSIGN(const std::string path, LockPathOf(device));
  return TakeDeviceTurn(ToolsPath(path), limit, device::DeviceLock::Use::kShared, kToolsDeference);
}

base::Result<DeviceTurn> TakeTurnToRun(const std::string& device, milliseconds limit) {
  if (device == "host") return DeviceTurn();
  TRY_ASSIGN(const std::string path, LockPathOf(device));
  return TakeDeviceTurn(path, limit, device::DeviceLock::Use::kShared);
}

}  // namespace cupilot::worker
