// What every prompt about a kernel says of it: its text, its cases, what its results may differ by,
// the device, and where it stands. Times are in microseconds; 0 stands for what is not known and is
// left out. All numbers that were measured appear rounded to two significant digits, so that the
// same kernel gives the same prompt on another day; so do scalars with decimals and the names of
// cases with them, which a program may have had.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agents/roles/roofline_analyst.h"
#include "records/json.h"
#include "records/kernel.h"
#include "records/workload.h"

namespace cupilot::agents {

struct DeviceFacts {
  std::string name;  // "NVIDIA H200"
  std::string arch;  // "sm_90", "host-x86-64-v3"
  std::int64_t sm_count = 0;
  std::int64_t max_shared_bytes = 0;  // of a block, opted in
  std::int64_t max_threads_per_sm = 0;
  std::int64_t shared_bytes_per_sm = 0;
  std::int64_t registers_per_sm = 0;  // of 32 bits
  std::int64_t l2_bytes = 0;
  // Peaks; 0: not known.
  double dram_gb_per_s = 0;
  double fp32_tflops = 0;
  double fp64_tflops = 0;
  double launch_us = 0;  // of an empty launch

  bool host() const { return arch.starts_with("host"); }
};

struct CaseTimes {
  std::string name;
  double original_us = 0;
  double best_us = 0;  // of the best variant that is proven so far
  double floor_us = 0;
};

struct KernelBrief {
  records::Kernel kernel;
  records::Workload workload;  // its tolerance is the declared one
  bool bitwise = false;        // of the target (NUMERICS bitwise); the tolerance may demand it too
  DeviceFacts device;
  std::vector<CaseTimes> times;
  std::optional<Diagnosis> diagnosis;  // of the best so far, or of the original
};

// What templates know a brief as ("kernel_name", "cases", ...).
records::Json BriefData(const KernelBrief& brief);

// Parts of it, for prompts that say less.
std::string KernelName(const records::Kernel& kernel);
std::string KernelText(const records::Kernel& kernel);
// The heaviest cases, numbered as the workload has them.
std::string CasesText(const records::Workload& workload);
// What a check says, without what its workload's contents may tell: single elements where they are
// somebody's data, and the digits of a case's scalars.
std::string CheckText(const records::Workload& workload, const std::string& detail);

}  // namespace cupilot::agents
