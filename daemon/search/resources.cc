#include "search/resources.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "search/number_space.h"

namespace cupilot::search {
namespace {

struct OfArchitecture {
  int number;                 // 90 of "sm_90"
  std::int64_t shared_bytes;  // most of a block, where it is opted in
  std::int64_t sm_shared_bytes;
  std::int64_t sm_threads;
};
constexpr std::int64_t kKilobyte = 1024;
constexpr OfArchitecture kArchitectures[] = {
    {75, 64 * kKilobyte, 64 * kKilobyte, 1024},    {80, 163 * kKilobyte, 164 * kKilobyte, 2048},
    {86, 99 * kKilobyte, 100 * kKilobyte, 1536},   {87, 163 * kKilobyte, 164 * kKilobyte, 1536},
    {89, 99 * kKilobyte, 100 * kKilobyte, 1536},   {90, 227 * kKilobyte, 228 * kKilobyte, 2048},
    {100, 227 * kKilobyte, 228 * kKilobyte, 2048}, {103, 227 * kKilobyte, 228 * kKilobyte, 2048},
    {120, 99 * kKilobyte, 100 * kKilobyte, 1536},  {121, 99 * kKilobyte, 100 * kKilobyte, 1536},
};
constexpr std::int64_t kRegisters = 65536;  // of a block, and of a multiprocessor
constexpr std::int64_t kWarp = 32;
constexpr const char* kAxisNames = "xyz";
constexpr std::int64_t kHuge = std::int64_t{1} << 40;  // enough to be too much of anything

std::int64_t RoundUp(std::int64_t number, std::int64_t unit) {
  return (number + unit - 1) / unit * unit;
}

// Holds for certain.
bool HoldsHere(const std::string& text, const records::Environment& environment) {
  if (text.empty()) return true;
  const auto value = records::EvaluateText(text, environment);
  return value && *value != 0;
}

std::optional<std::int64_t> SizeHere(const std::string& text,
                                     const records::Environment& environment) {
  if (text.empty()) return std::nullopt;
  const auto value = records::EvaluateText(text, environment);
  if (!value) return std::nullopt;
  return *value;
}

std::string OfAtMost(std::int64_t number, std::int64_t most) {
  return std::to_string(number) + ", of at most " + std::to_string(most);
}

std::optional<Excess> ExcessOfSizes(const std::vector<std::string>& sizes, const std::string& what,
                                    const std::optional<std::array<std::int64_t, 3>>& most,
                                    const records::Environment& environment) {
  for (std::size_t axis = 0; most && axis < sizes.size() && axis < most->size(); ++axis) {
    const auto size = SizeHere(sizes[axis], environment);
    if (size && *size > (*most)[axis]) {
      return Excess{what, std::string("its ") + what + "'s " + kAxisNames[axis] + " is " +
                              OfAtMost(*size, (*most)[axis])};
    }
  }
  return std::nullopt;
}

// Nothing: as the original's, or not known.
std::optional<std::int64_t> ThreadsOf(const std::vector<std::string>& block,
                                      const DeviceLimits& limits,
                                      const records::Environment& environment) {
  if (block.empty()) return std::nullopt;
  std::int64_t threads = 1;
  for (const std::string& text : block) {
    const auto size = SizeHere(text, environment);
    if (!size || *size <= 0) return std::nullopt;
    // Beyond the limit it is too many, whatever the others are.
    if (threads <= limits.block_threads) threads *= std::min(*size, kHuge);
  }
  return threads;
}

std::optional<Excess> ExcessOfLaunch(const records::Launch& launch, const DeviceLimits& limits,
                                     const records::Environment& environment) {
  const auto threads = ThreadsOf(launch.block, limits, environment);
  if (threads && *threads > limits.block_threads) {
    return Excess{"threads of a block",
                  "a block's threads are " + OfAtMost(*threads, limits.block_threads)};
  }
  if (auto excess = ExcessOfSizes(launch.block, "block", limits.block, environment)) return excess;
  if (auto excess = ExcessOfSizes(launch.grid, "grid", limits.grid, environment)) return excess;
  const auto shared = SizeHere(launch.shared_bytes, environment);
  if (limits.shared_bytes && shared && *shared > *limits.shared_bytes) {
    return Excess{"shared memory", "a block's bytes of shared memory are " +
                                       OfAtMost(*shared, *limits.shared_bytes)};
  }
  return std::nullopt;
}

bool RunsHere(const records::Launch& launch, const records::Environment& environment) {
  if (launch.entry.empty() || !HoldsHere(launch.when, environment)) return false;
  return !launch.repeat || SizeHere(launch.repeat->first, environment).value_or(0) > 0;
}

}  // namespace

DeviceLimits LimitsOf(const std::string& arch) {
  DeviceLimits limits;
  if (!arch.starts_with("sm_")) return limits;
  limits.block = {1024, 1024, 64};
  limits.grid = {2147483647, 65535, 65535};
  int number = 0;
  (void)std::from_chars(arch.data() + 3, arch.data() + arch.size(), number);
  for (const OfArchitecture& row : kArchitectures) {
    if (row.number != number) continue;
    limits.shared_bytes = row.shared_bytes;
    limits.registers = limits.sm_registers = kRegisters;
    limits.sm_shared_bytes = row.sm_shared_bytes;
    limits.sm_threads = row.sm_threads;
  }
  return limits;
}

records::Variant LaunchedByTag(const records::Kernel& kernel) {
  records::Launch launch;
  launch.entry = kernel.base_name;
  launch.grid = kernel.launch_grid;
  launch.block = kernel.launch_block;
  launch.shared_bytes = kernel.launch_shared_bytes;
  records::Variant variant;
  variant.launches = {std::move(launch)};
  variant.strategy.emplace();
  return variant;
}

std::optional<Excess> WhyNotLaunched(const records::Variant& variant,
                                     const records::Environment& values,
                                     const records::Workload& workload,
                                     const DeviceLimits& limits) {
  for (const records::Case& one : workload.cases) {
    records::Environment environment = EnvironmentOf(one);
    for (const auto& [name, value] : values.integers) environment.integers[name] = value;
    if (!HoldsHere(variant.guard, environment)) continue;
    for (const records::Launch& launch : records::LaunchesOf(variant)) {
      if (!RunsHere(launch, environment)) continue;
      auto excess = ExcessOfLaunch(launch, limits, environment);
      if (!excess) continue;
      excess->detail = "case '" + one.name + "': " + excess->detail;
      return excess;
    }
  }
  return std::nullopt;
}

bool FitsByReport(const BuildReport& report, const std::vector<std::string>& block,
                  const std::string& shared_bytes, const records::Environment& environment,
                  const DeviceLimits& limits) {
  const auto threads = ThreadsOf(block, limits, environment);
  if (threads && !FitsRegisters(report.registers, *threads, limits)) return false;
  const std::int64_t shared = SizeHere(shared_bytes, environment).value_or(0);
  return !limits.shared_bytes || shared + report.shared_bytes <= *limits.shared_bytes;
}

std::int64_t RegistersOfBlock(std::int64_t registers_of_thread, std::int64_t threads) {
  return RoundUp(registers_of_thread, 8) * RoundUp(threads, kWarp);
}

bool FitsRegisters(std::int64_t registers_of_thread, std::int64_t threads,
                   const DeviceLimits& limits) {
  return !limits.registers || RegistersOfBlock(registers_of_thread, threads) <= *limits.registers;
}

}  // namespace cupilot::search
