// Whether a workload can be one of a kernel at all: what is known without running anything. The
// workload is at fault then, and no candidate is judged on it.
#pragma once

#include <cstdint>
#include <string>

#include "records/kernel.h"
#include "records/variant.h"
#include "records/workload.h"

namespace cupilot::records {

// Of one buffer, and of all workspaces of a variant. Results are compared in the host's memory,
// where original, candidate and double twin have an arena each.
inline constexpr std::int64_t kMostBufferBytes = std::int64_t{8} << 30;

struct WholeNumber {
  std::uint64_t bits = 0;
  bool readable = true;  // fits a signed 64-bit integer, as expressions need
  std::int64_t value = 0;
};

// Scalars as workloads write them: "1920", "-0x1f", "true"; "0.5", "nan".
base::Result<WholeNumber> ReadInteger(const std::string& text);
base::Result<double> ReadFloating(const std::string& text);
// kInvalidArgument where the parameter's type does not hold the value. Parameters that are no
// numbers hold any.
base::Result<> CheckScalar(const Parameter& parameter, const std::string& text);

// kInvalidArgument with the path of what is impossible ("cases[0].arguments[3].value: ..."):
// arguments that are not the kernel's, scalars beyond their type, geometry that no device has,
// buffers of more than kMostBufferBytes. Sizes that only the device tells are not looked at.
base::Result<> CheckWorkload(const Kernel& kernel, const Workload& workload);

// "case 'main': ...", where the variant's workspaces would have more than kMostBufferBytes; empty
// if they have not, or only the device tells.
std::string ExcessiveWorkspace(const Kernel& kernel, const Workload& workload,
                               const Variant& variant);

}  // namespace cupilot::records
