// What a GPU is, by the driver's attributes; needs no context.
#pragma once

#include "device/cuda/api.h"
#include "device/device.h"

namespace cupilot::device::cuda {

// kUnavailable: there is none of this index.
base::Result<DeviceHandle> HandleOf(const DriverApi& api, int index);

base::Result<Properties> DescribeGpu(const DriverApi& api, DeviceHandle device);

}  // namespace cupilot::device::cuda
