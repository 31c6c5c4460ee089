// The device of a benchmark's process: this processor, or a GPU.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "device/device.h"

namespace cupilot::spaces {

// "host" or "cuda:N". The executable links and exports the host runtime.
base::Result<std::unique_ptr<device::Device>> OpenDevice(const std::string& name);

}  // namespace cupilot::spaces
