#include "worker/prepared_program.h"

#include <algorithm>
#include <cstring>

#include "device/cuda/cubin.h"

namespace cupilot::worker {
namespace {

using records::Json;

std::vector<std::byte> FromHex(const std::string& text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::vector<std::byte> bytes(text.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
  }
  return bytes;
}

// By name; compilers for GPUs give unnamed namespaces names of their own, so they do not count.
template <class Row>
auto FindByName(const std::vector<Row>& rows, const std::string& name) {
  const auto exact =
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
  if (exact != rows.end()) return exact;
  const std::string plain = device::cuda::WithoutUnnamedNamespaces(name);
  return std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == plain; });
}

}  // namespace

base::Result<PreparedProgram> PreparedProgram::Make(const Json& program, device::ModuleId module,
                                                    const device::ModuleInfo& info,
                                                    std::uint64_t address, std::int64_t base) {
  PreparedProgram prepared;
  for (const Json& json : program["steps"]) {
    Step step;
    step.fill_offset = base + json["fill_offset"].get<std::int64_t>();
    step.fill_bytes = json["fill_bytes"].get<std::int64_t>();
    step.byte = json["byte"].get<int>();
    step.is_fill = json["kernel"].get<std::string>().empty();
    if (!step.is_fill) {
      TRY(PrepareLaunch(json, module, info, address + static_cast<std::uint64_t>(base), step));
    }
    prepared.steps_.push_back(std::move(step));
  }
  for (const Json& json : program["globals"]) {
    const std::string symbol = json["symbol"].get<std::string>();
    const auto it = FindByName(info.variables, symbol);
    if (it == info.variables.end()) {
      return base::Fail(base::InvalidArgument("the artifact has no variable '" + symbol + "'"));
    }
    prepared.variables_.push_back({module, static_cast<int>(it - info.variables.begin()),
                                   base + json["offset"].get<std::int64_t>(),
                                   json["bytes"].get<std::int64_t>(),
                                   json["copy_back"].get<bool>()});
  }
  if (const auto tables = program.find("tables"); tables != program.end()) {
    prepared.tables_ = Tables(*tables, address + static_cast<std::uint64_t>(base));
  }
  return prepared;
}

base::Result<> PreparedProgram::PrepareLaunch(const Json& json, device::ModuleId module,
                                              const device::ModuleInfo& info, std::uint64_t address,
                                              Step& step) {
  const std::string name = json["kernel"].get<std::string>();
  auto it = std::find_if(info.kernels.begin(), info.kernels.end(),
                         [&](const auto& kernel) { return kernel.signature == name; });
  if (it == info.kernels.end()) it = FindByName(info.kernels, name);
  if (it == info.kernels.end()) {
    return base::Fail(base::InvalidArgument("the artifact has no kernel '" + name + "'"));
  }
  step.launch.module = module;
  step.launch.kernel = static_cast<int>(it - info.kernels.begin());
  step.launch.grid = json["grid"].get<std::array<std::int64_t, 3>>();
  step.launch.block = json["block"].get<std::array<std::int64_t, 3>>();
  step.launch.shared_bytes = json["shared_bytes"].get<std::int64_t>();
  if (json["arguments"].size() != it->parameter_bytes.size()) {
    return base::Fail(
        base::InvalidArgument("'" + name + "' takes " + std::to_string(it->parameter_bytes.size()) +
                              " arguments, not " + std::to_string(json["arguments"].size())));
  }
  for (std::size_t i = 0; i < it->parameter_bytes.size(); ++i) {
    const Json& argument = json["arguments"][i];
    std::vector<std::byte> value = FromHex(argument["bytes"].get<std::string>());
    if (static_cast<std::int64_t>(value.size()) != it->parameter_bytes[i]) {
      return base::Fail(base::InvalidArgument("argument " + std::to_string(i) + " of '" + name +
                                              "' has another size"));
    }
    for (const Json& pointer : argument["pointers"]) {
      const std::uint64_t place =
          address + static_cast<std::uint64_t>(pointer[1].get<std::int64_t>());
      std::memcpy(value.data() + pointer[0].get<std::size_t>(), &place, sizeof place);
    }
    step.values.push_back(std::move(value));
  }
  return {};
}

base::Result<> PreparedProgram::SetVariables(device::Device& device) const {
  for (const Variable& variable : variables_) {
    TRY(device.CopyVariable(variable.module, variable.variable, device::Direction::kToDevice,
                            variable.offset, variable.bytes));
  }
  return {};
}

base::Result<> PreparedProgram::GetVariables(device::Device& device) const {
  for (const Variable& variable : variables_) {
    if (!variable.copy_back) continue;
    TRY(device.CopyVariable(variable.module, variable.variable, device::Direction::kFromDevice,
                            variable.offset, variable.bytes));
  }
  return {};
}

base::Result<> PreparedProgram::Launch(device::Device& device) {
  for (Step& step : steps_) {
    if (step.is_fill) {
      TRY(device.Fill(step.fill_offset, step.fill_bytes, step.byte));
      continue;
    }
    step.addresses.clear();
    for (auto& value : step.values) step.addresses.push_back(value.data());
    step.launch.arguments = step.addresses.data();
    TRY(device.Launch(step.launch));
  }
  return {};
}

std::vector<device::Launch> PreparedProgram::launches() const {
  std::vector<device::Launch> launches;
  for (const Step& step : steps_) {
    if (!step.is_fill) launches.push_back(step.launch);
  }
  return launches;
}

}  // namespace cupilot::worker
