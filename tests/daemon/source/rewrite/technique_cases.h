// Kernels for each mechanical technique: two that it rewrites, one that it declines. Used by the
// tests of the rewrites and by the one that evaluates what they make.
#pragma once

#include <span>

namespace cupilot::source {

struct TechniqueCase {
  const char* technique;
  const char* name;        // of the case
  const char* kernel;      // of the kernel
  const char* source;      // with its tag
  const char* parameters;  // JSON
  const char* expected;  // found in the variant's source or launch; of a declined one in the reason
  bool declines = false;
};

std::span<const TechniqueCase> TechniqueCases();

}  // namespace cupilot::source
