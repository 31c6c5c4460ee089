// One block of LZ4, the packing of device images in objects of nvcc before 13.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupilot::source {

// The `bytes` bytes that the block unpacks to. kInvalidArgument: it is no such block, or unpacks to
// another size. Any bytes may come.
base::Result<std::string> UnpackLz4Block(std::string_view block, std::size_t bytes);

}  // namespace cupilot::source
