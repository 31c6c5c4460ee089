// Names of launch expressions (design, section 4.3) that are not the kernel's own.
#pragma once

#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "records/kernel.h"
#include "records/variant.h"

namespace cupilot::records {

// What the original launch and the device are asked.
inline constexpr std::array<std::string_view, 12> kLaunchNames = {
    "grid_x",   "grid_y",       "grid_z",   "block_x",          "block_y",
    "block_z",  "shared_bytes", "sm_count", "max_shared_bytes", "max_threads_per_sm",
    "l2_bytes", "warp_size"};
bool IsLaunchName(std::string_view name);

// How an expression reaches a parameter: by its name, or by its position ("$2") if the name is
// empty, is none that expressions can write, or means a value of the launch or one of `taken`.
std::string NameInExpressions(const Kernel& kernel, std::size_t parameter,
                              const std::set<std::string>& taken = {});
// The tunables of the kernel and of the variant, whose names hide parameters.
std::set<std::string> TunableNames(const Kernel& kernel, const Variant& variant);

// Why a published guard cannot be trusted: earlier versions wrote each integer parameter by its
// name, also where that means a value of the launch, so that what the parameter was verified with
// is not asked. Empty: it can.
std::string WhatGuardLeavesOut(const Kernel& kernel, const std::string& guard);

}  // namespace cupilot::records
