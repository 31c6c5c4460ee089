#include "source/swap/hook_names.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "records/launch_names.h"

namespace cupilot::source {
namespace {

using records::NameKind;
using records::PrintedName;

constexpr std::array<std::pair<std::int64_t, std::string_view>, 4> kIntegers = {
    {{1, "char"}, {2, "short"}, {4, "int"}, {8, "long long"}}};

std::string ReadParameter(const records::Parameter& parameter, int index) {
  return "read<" + parameter.canonical + " >(l, " + std::to_string(index) + ")";
}

}  // namespace

int HookNames::ParameterIndex(std::string_view name) const {
  if (!name.empty() && name[0] == '$') {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), index);
    const bool whole = error == std::errc() && end == name.data() + name.size();
    return whole && index < kernel_.parameters.size() ? static_cast<int>(index) : -1;
  }
  for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
    if (!name.empty() && kernel_.parameters[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

std::optional<PrintedName> HookNames::OfParameter(int index) const {
  const records::Parameter& parameter = kernel_.parameters[static_cast<std::size_t>(index)];
  const std::string value = ReadParameter(parameter, index);
  switch (parameter.kind) {
    case records::ParameterKind::kPointer:
      return PrintedName{NameKind::kPointer, "address(l, " + std::to_string(index) + ")", {}};
    case records::ParameterKind::kFloating:
      return PrintedName{NameKind::kFloating, "(double)" + value, {}};
    case records::ParameterKind::kInteger: {
      const bool wide = !parameter.is_signed && parameter.bytes >= 8;
      return PrintedName{NameKind::kInteger, "(long long)" + value,
                         wide ? value + " <= 9223372036854775807ULL" : std::string()};
    }
    case records::ParameterKind::kOther:
      break;
  }
  return std::nullopt;
}

// By where it lies: its name may be private.
std::optional<PrintedName> HookNames::OfKnownMember(const records::Parameter::Member& member,
                                                    int index) {
  const bool floating = member.kind == records::ParameterKind::kFloating;
  std::string type;
  if (floating) {
    if (member.bytes != 4 && member.bytes != 8) return std::nullopt;
    type = member.bytes == 4 ? "float" : "double";
  } else {
    const auto sized = std::find_if(kIntegers.begin(), kIntegers.end(),
                                    [&](const auto& one) { return one.first == member.bytes; });
    if (sized == kIntegers.end()) return std::nullopt;
    type = (member.is_signed ? "signed " : "unsigned ") + std::string(sized->second);
  }
  const std::string value = "member<" + type + " >(l, " + std::to_string(index) + ", " +
                            std::to_string(member.offset) + ")";
  if (floating) return PrintedName{NameKind::kFloating, "(double)" + value, {}};
  const bool wide = !member.is_signed && member.bytes >= 8;
  return PrintedName{NameKind::kInteger, "(long long)" + value,
                     wide ? value + " <= 9223372036854775807ULL" : std::string()};
}

// "p.width": a member of a structure that is passed by value.
std::optional<PrintedName> HookNames::OfMember(std::string_view name) const {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const int index = ParameterIndex(name.substr(0, dot));
  if (index < 0) return std::nullopt;
  const records::Parameter& parameter = kernel_.parameters[static_cast<std::size_t>(index)];
  if (parameter.kind != records::ParameterKind::kOther) return std::nullopt;
  for (const records::Parameter::Member& member : parameter.members) {
    if (member.name == name.substr(dot + 1)) return OfKnownMember(member, index);
  }
  return PrintedName{
      NameKind::kInteger,
      "integer(" + ReadParameter(parameter, index) + std::string(name.substr(dot)) + ")",
      {}};
}

int HookNames::ParameterMeant(std::string_view name) const {
  const bool hidden = records::IsLaunchName(name) || indices_.contains(name) ||
                      variant_.values.contains(std::string(name));
  return hidden ? -1 : ParameterIndex(name);
}

std::optional<PrintedName> HookNames::OfBuiltin(std::string_view name) const {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kBuiltins = {{
      {"grid_x", "o.grid_x"},
      {"grid_y", "o.grid_y"},
      {"grid_z", "o.grid_z"},
      {"block_x", "o.block_x"},
      {"block_y", "o.block_y"},
      {"block_z", "o.block_z"},
      {"shared_bytes", "o.shared"},
      {"sm_count", "(long long)on[l.device].device.sm_count"},
      {"max_shared_bytes", "(long long)on[l.device].device.max_shared_bytes"},
      {"max_threads_per_sm", "(long long)on[l.device].device.max_threads_per_sm"},
      {"l2_bytes", "(long long)on[l.device].device.l2_bytes"},
      {"warp_size", "(long long)on[l.device].device.warp_size"},
  }};
  for (const auto& [known, text] : kBuiltins) {
    if (known == name) return PrintedName{NameKind::kInteger, std::string(text), {}};
  }
  return std::nullopt;
}

std::optional<PrintedName> HookNames::Lookup(std::string_view name) const {
  constexpr std::string_view kOccupancy = "blocks_per_sm(";
  if (name.starts_with(kOccupancy)) {
    const std::string_view entry =
        name.substr(kOccupancy.size(), name.size() - kOccupancy.size() - 1);
    const auto known = occupancies_.find(entry);
    if (known == occupancies_.end()) return std::nullopt;
    return PrintedName{NameKind::kInteger, known->second.second, known->second.first};
  }
  if (indices_.contains(name)) {
    return PrintedName{NameKind::kInteger, "cupilot_index_" + std::string(name), {}};
  }
  if (const auto value = variant_.values.find(std::string(name)); value != variant_.values.end()) {
    if (!value->second.is_number_integer()) return std::nullopt;
    return PrintedName{NameKind::kInteger, "(" + value->second.dump() + "LL)", {}};
  }
  // In this order: a parameter of the launch's names is reached by its position alone.
  if (std::optional<PrintedName> builtin = OfBuiltin(name)) return builtin;
  const int parameter = ParameterIndex(name);
  return parameter >= 0 ? OfParameter(parameter) : OfMember(name);
}

base::Result<std::string> HookNames::Print(const std::string& expression,
                                           const std::string& target) const {
  auto parsed = records::Expression::Parse(expression);
  if (!parsed) return base::Fail(parsed.error().In("'" + expression + "'"));
  auto printed = parsed->PrintCpp(target, [this](std::string_view name) { return Lookup(name); });
  if (!printed) return base::Fail(printed.error().In("'" + expression + "'"));
  // A call that is not inlined would pass the launch's numbers through memory.
  constexpr std::string_view kLambda = "[&]() ";
  if (printed->starts_with(kLambda)) {
    printed->insert(kLambda.size(), "__attribute__((always_inline)) ");
  }
  return printed;
}

}  // namespace cupilot::source
