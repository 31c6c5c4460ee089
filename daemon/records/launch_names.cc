#include "records/launch_names.h"

#include <algorithm>
#include <vector>

#include "records/expression.h"

namespace cupilot::records {
namespace {

bool BeginsName(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsOfName(char c) { return BeginsName(c) || (c >= '0' && c <= '9'); }

}  // namespace

bool IsLaunchName(std::string_view name) {
  return std::find(kLaunchNames.begin(), kLaunchNames.end(), name) != kLaunchNames.end();
}

std::string NameInExpressions(const Kernel& kernel, std::size_t parameter,
                              const std::set<std::string>& taken) {
  const std::string& name = kernel.parameters[parameter].name;
  const bool written = !name.empty() && BeginsName(name[0]) &&
                       std::all_of(name.begin(), name.end(), IsOfName) && name != "true" &&
                       name != "false";
  if (written && !IsLaunchName(name) && !taken.contains(name)) return name;
  return "$" + std::to_string(parameter);
}

std::set<std::string> TunableNames(const Kernel& kernel, const Variant& variant) {
  std::set<std::string> names;
  for (const Tunable& tunable : kernel.tunables) names.insert(tunable.name);
  for (const auto& [name, value] : variant.values) names.insert(name);
  return names;
}

std::string WhatGuardLeavesOut(const Kernel& kernel, const std::string& guard) {
  const auto parsed = Expression::Parse(guard);
  const std::vector<std::string> names = parsed ? parsed->Names() : std::vector<std::string>();
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter& parameter = kernel.parameters[i];
    if (parameter.kind != ParameterKind::kInteger || !IsLaunchName(parameter.name)) continue;
    const std::string position = "$" + std::to_string(i);
    if (std::find(names.begin(), names.end(), position) != names.end()) continue;
    return "its guard does not ask the parameter '" + parameter.name + "' (" + position +
           "), since that name means the launch's; tune the kernel again";
  }
  return {};
}

}  // namespace cupilot::records
