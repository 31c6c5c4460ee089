// What a GPU is, by the driver's attributes; needs no context.
#pragma once

#include <cstdint>
#include <string>

#include "device/cuda/api.h"
#include "device/device.h"

namespace cupilot::device::cuda {

// kUnavailable: there is none of this index.
base::Result<DeviceHandle> HandleOf(const DriverApi& api, int index);

// "sm_90" of the compute capability 9.0.
std::string ArchitectureName(std::int64_t major, std::int64_t minor);

base::Result<Properties> DescribeGpu(const DriverApi& api, DeviceHandle device);

}  // namespace cupilot::device::cuda
