// The machine-wide locks on a device (device/device_lock.h), as this process takes them: what
// measures holds one alone, and inside it what runs by the way; what only verifies shares it with
// others that do, for one run at a time. So a proof and a search's probes, which are in processes
// of their own, take turns on a GPU and never measure into each other. A second one is for the
// toolkit's tools, which take seconds to start and use the GPU for a hundredth of that: a verdict's
// measurements are never beside them, a probe may be. One thread.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "device/device_lock.h"

namespace cupilot::worker {

// Held as long as one of those that were given out is there. Who has just given it back waits a few
// milliseconds where others wait for it, so that it is their turn. kUnavailable: other processes
// have had it for `limit`. kInternal: alone, inside a turn that is shared.
using DeviceTurn = std::shared_ptr<const device::DeviceLock>;
base::Result<DeviceTurn> TakeDeviceTurn(
    const std::string& lock_path, std::chrono::milliseconds limit,
    device::DeviceLock::Use use = device::DeviceLock::Use::kAlone,
    std::chrono::milliseconds deference = device::DeviceLock::kDeference);

// What a verdict rests on: alone on the device, and no tool beside it.
struct QuietTurn {
  DeviceTurn tools, device;
};
base::Result<QuietTurn> TakeQuietTurn(const std::string& lock_path,
                                      std::chrono::milliseconds limit);
// The same on a GPU by its name.
base::Result<QuietTurn> TakeTurnToMeasure(
    const std::string& device, std::chrono::milliseconds limit = std::chrono::minutes(3));

// For a look: the device alone, but tools may run beside it, since no verdict rests on a look.
base::Result<DeviceTurn> TakeTurnToLook(const std::string& device,
                                        std::chrono::milliseconds limit = std::chrono::minutes(3));

// For one of the toolkit's tools on the device by its name.
base::Result<DeviceTurn> TakeTurnForTools(
    const std::string& device, std::chrono::milliseconds limit = std::chrono::minutes(3));

// For runs on the device by its name ("cuda:0") that nobody times. Null for the host, which knows
// no such runs: there who measures is alone.
base::Result<DeviceTurn> TakeTurnToRun(const std::string& device,
                                       std::chrono::milliseconds limit = std::chrono::minutes(3));

// Returns how long this process has waited for turns so far.
std::chrono::nanoseconds WaitedForTurns();

}  // namespace cupilot::worker
