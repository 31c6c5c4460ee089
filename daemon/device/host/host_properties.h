// What the host device is: this machine's processor, as `describe_device`, expressions and records
// see it. Reads /proc and cpuid; never fails, unknown texts are empty.
#pragma once

#include "device/device.h"

namespace cupilot::device {

Properties DescribeHost();

// "host-x86-64-v3": the highest level of the processor; elsewhere "host-" and the machine's name.
// What an artifact is built for may be lower, see ModuleInfo::architecture.
std::string HostArchitecture();

}  // namespace cupilot::device
