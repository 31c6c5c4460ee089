// What launches need of a device, before anything is built: what goes beyond a limit of the device
// cannot run and is not built; what will probably not fit, by what the compiler said of points that
// are like it, is only built later. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/expression.h"
#include "records/kernel.h"
#include "records/variant.h"
#include "records/workload.h"

namespace cupilot::search {

// Of one block, and of a grid. Absent: not known, so that nothing is beyond it.
struct DeviceLimits {
  std::int64_t block_threads = 1024;
  std::optional<std::array<std::int64_t, 3>> block, grid;  // x, y, z
  std::optional<std::int64_t> shared_bytes;                // static and dynamic, opted in
  std::optional<std::int64_t> registers;                   // of 32 bits
  // Of a multiprocessor, for all blocks that are on it at once.
  std::optional<std::int64_t> sm_threads, sm_shared_bytes, sm_registers;
};

// By architecture ("sm_90"), after the table of compute capabilities in the CUDA C++ Programming
// Guide. Of one that is not there, and of the host device, only what holds everywhere.
DeviceLimits LimitsOf(const std::string& arch);

// A limit that a launch goes beyond.
struct Excess {
  std::string limit;   // "threads of a block", "block", "grid", "shared memory"
  std::string detail;  // "case 'a': a block's threads are 2048, of at most 1024"
};

// A variant that is launched as the tag's launch line says; where that says nothing, as the
// original.
records::Variant LaunchedByTag(const records::Kernel& kernel);

// Nothing where all may run; where an expression has no value, as far as is known here, nothing is
// said of what it is for. `values` are those of tunables. A launch counts in the cases for which
// the variant's guard and the launch's `when` hold.
std::optional<Excess> WhyNotLaunched(const records::Variant& variant,
                                     const records::Environment& values,
                                     const records::Workload& workload, const DeviceLimits& limits);

// What a block of so many threads takes of registers: a warp gets them in units of 256, each
// thread's rounded up to 8.
std::int64_t RegistersOfBlock(std::int64_t registers_of_thread, std::int64_t threads);
// Whether it finds them.
bool FitsRegisters(std::int64_t registers_of_thread, std::int64_t threads,
                   const DeviceLimits& limits);

// What the compiler said of a build: of a thread, and static bytes of a block; and how many seconds
// of the processor it took. 0: not known, or none.
struct BuildReport {
  std::int64_t registers = 0;
  std::int64_t shared_bytes = 0;
  double cpu_seconds = 0;
  std::int64_t local_bytes = 0;  // of a thread: arrays, and what registers could not hold
  bool operator==(const BuildReport&) const = default;
};
// Whether a launch with this block and these dynamic bytes would fit if it were built to the same.
// What has no value counts as nothing.
bool FitsByReport(const BuildReport& report, const std::vector<std::string>& block,
                  const std::string& shared_bytes, const records::Environment& environment,
                  const DeviceLimits& limits);

}  // namespace cupilot::search
