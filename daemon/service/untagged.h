// Kernels that a scan saw without a tag: whoever asks for one learns what it lacks.
#pragma once

#include <cstdint>
#include <string>

#include "service/service.h"

namespace cupilot::service {

struct SourceLine {
  std::string file;  // empty: none is meant
  std::int64_t line = 0;
};

// Lines of a kernel's head in a text: from `template`, or `__global__`, to its name. None: {0, 0}.
struct HeadLines {
  std::int64_t first = 0;
  std::int64_t last = 0;
};
HeadLines FindHead(const std::string& text, const std::string& kernel);

// Why no tagged kernel of the project that contains `folder` (empty: of all) is meant by a name, or
// by a line.
std::string WhyNoKernel(Service& service, const std::string& name, const SourceLine& line,
                        const std::string& folder);

}  // namespace cupilot::service
