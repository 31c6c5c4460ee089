#include "worker/device_turn.h"

#include <map>
#include <thread>
#include <utility>

#include "device/describe.h"

namespace cupilot::worker {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Longer than the pause between two attempts of who waits (device_lock.cc).
constexpr milliseconds kOthersTurn{4};

struct Held {
  std::weak_ptr<const device::DeviceLock> lock;
  steady_clock::time_point given_back;
};

}  // namespace

base::Result<DeviceTurn> TakeDeviceTurn(const std::string& lock_path, milliseconds limit,
                                        device::DeviceLock::Use use) {
  static auto& all = *new std::map<std::string, Held>();
  Held& held = all[lock_path];
  if (DeviceTurn known = held.lock.lock()) return known;
  std::this_thread::sleep_until(held.given_back + kOthersTurn);
  TRY_ASSIGN(device::DeviceLock lock, device::DeviceLock::Acquire(lock_path, limit, use));
  DeviceTurn turn(new device::DeviceLock(std::move(lock)), [&held](const device::DeviceLock* gone) {
    delete gone;
    held.given_back = steady_clock::now();
  });
  held.lock = turn;
  return turn;
}

base::Result<DeviceTurn> TakeTurnToRun(const std::string& device) {
  constexpr milliseconds kLimit{90000};
  if (device == "host") return DeviceTurn();
  TRY_ASSIGN(const device::Properties properties, device::DescribeDevice(device));
  return TakeDeviceTurn(device::DeviceLockPath(properties.uuid), kLimit,
                        device::DeviceLock::Use::kShared);
}

}  // namespace cupilot::worker
