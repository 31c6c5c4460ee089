#include "worker/device_turn.h"

#include <map>
#include <utility>

#include "device/describe.h"

namespace cupilot::worker {

base::Result<DeviceTurn> TakeDeviceTurn(const std::string& lock_path,
                                        std::chrono::milliseconds limit) {
  static auto& held = *new std::map<std::string, std::weak_ptr<const device::DeviceLock>>();
  if (DeviceTurn known = held[lock_path].lock()) return known;
  TRY_ASSIGN(device::DeviceLock lock, device::DeviceLock::Acquire(lock_path, limit));
  auto turn = std::make_shared<const device::DeviceLock>(std::move(lock));
  held[lock_path] = turn;
  return turn;
}

base::Result<DeviceTurn> TakeTurnToRun(const std::string& device) {
  constexpr std::chrono::milliseconds kLimit{90000};
  if (device == "host") return DeviceTurn();
  TRY_ASSIGN(const device::Properties properties, device::DescribeDevice(device));
  return TakeDeviceTurn(device::DeviceLockPath(properties.uuid), kLimit);
}

}  // namespace cupilot::worker
