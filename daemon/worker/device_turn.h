// The machine-wide lock on a device (device/device_lock.h), as this process takes it: what measures
// holds it, and inside it what runs by the way; what only verifies holds it for one run at a time,
// so that a proof and a search's probes, which are in processes of their own, share a GPU without
// measuring into each other. One thread.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "device/device_lock.h"

namespace cupilot::worker {

// Held as long as one of those that were given out is there. kUnavailable: another process has had
// it for so long.
using DeviceTurn = std::shared_ptr<const device::DeviceLock>;
base::Result<DeviceTurn> TakeDeviceTurn(const std::string& lock_path,
                                        std::chrono::milliseconds limit);

// For runs on the device by its name ("cuda:0"), each of which ends within a minute or so. Null
// for the host, which knows no such runs: there who measures is alone.
base::Result<DeviceTurn> TakeTurnToRun(const std::string& device);

}  // namespace cupilot::worker
