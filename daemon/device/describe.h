// Devices by name: "host", "cuda:0", "cuda:1" (in PCI order). No context is made here.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"

namespace cupilot::device {

// The index of "cuda:N"; -1 for others.
int CudaIndexOf(const std::string& device);

// What the device is; asked once a process. kInvalidArgument: no such name. kUnavailable: no such
// device here, and why.
base::Result<Properties> DescribeDevice(const std::string& device);

struct Gpu {
  std::string device;  // "cuda:0"
  Properties properties;
};
// All GPUs that this process can see. kUnavailable: none, and why.
base::Result<std::vector<Gpu>> ListGpus();

}  // namespace cupilot::device
