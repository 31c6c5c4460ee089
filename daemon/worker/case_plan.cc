#include "worker/case_plan.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>

#include "base/base64.h"
#include "records/workload_fit.h"
#include "worker/fill_recipe.h"
#include "worker/members.h"
#include "worker/tables.h"
#include "worker/wide_values.h"

namespace cupilot::worker {
namespace {

using base::Fail;
using base::InvalidArgument;
using base::Result;

constexpr std::int64_t kMaxRegionBytes = records::kMostBufferBytes;
// Original and candidate have an arena each, and there are copies; on the host the twin's is twice
// as large, and inputs and results are kept.
constexpr std::int64_t kShareOfMemory = 4, kShareOfHost = 8;
constexpr std::int64_t kPointerBytes = 8;
constexpr std::int64_t kMostEntries = std::int64_t{1} << 20;  // of a table

// Plans one case; holds what the steps share.
class Planner {
 public:
  Planner(const records::Kernel& kernel, const records::Case& workload,
          const device::Properties& device, const Widening* widening)
      : kernel_(kernel), case_(workload), device_(device), widening_(widening) {}

  Result<CasePlan> Run() {
    plan_.name = case_.name;
    TRY(CheckArguments());
    TRY(ReadScalars());
    TRY(ReadGeometry());
    TRY(AddBuffers());
    for (std::size_t i = 0; i < case_.arguments.size(); ++i) {
      auto added = AddArgument(i);
      if (!added) return Fail(added.error().In(PathOf(i)));
    }
    TRY(AddGlobals());
    const bool host = device_.architecture.starts_with("host");
    if (device_.memory_bytes > 0) {
      plan_.most_bytes = device_.memory_bytes / (host ? kShareOfHost : kShareOfMemory);
    }
    if (plan_.layout.bytes > plan_.most_bytes) {
      return Fail(InvalidArgument(
          "case '" + case_.name + "': its buffers have " + std::to_string(plan_.layout.bytes) +
          " bytes, and " + std::to_string(plan_.most_bytes) + " are possible on this device"));
    }
    NameLaunch();
    return std::move(plan_);
  }

 private:
  std::string PathOf(std::size_t argument) const {
    return "case '" + case_.name + "', argument '" + case_.arguments[argument].name + "'";
  }

  Result<> CheckArguments() {
    const std::size_t given = case_.arguments.size(), needed = kernel_.parameters.size();
    if (given != needed) {
      return Fail(InvalidArgument("case '" + case_.name + "' has " + std::to_string(given) +
                                  " arguments, the kernel " + kernel_.name + " takes " +
                                  std::to_string(needed)));
    }
    for (std::size_t i = 0; i < given; ++i) {
      const std::string& name = kernel_.parameters[i].name;
      if (!name.empty() && !case_.arguments[i].name.empty() && case_.arguments[i].name != name) {
        return Fail(InvalidArgument(PathOf(i) + ": the kernel's parameter " +
                                    std::to_string(i + 1) + " is '" + name + "'"));
      }
    }
    return {};
  }

  static bool IsArray(const records::Argument& argument) {
    return !argument.count.empty() || !argument.buffer.empty() || argument.null;
  }

  const protocol::TwinStructure* WidenedStructure(std::size_t i) const {
    if (widening_ == nullptr) return nullptr;
    for (const protocol::TwinStructure& structure : widening_->structures) {
      if (structure.parameter == static_cast<std::int64_t>(i)) return &structure;
    }
    return nullptr;
  }

  bool WidenedParameter(std::size_t i) const {
    return widening_ != nullptr && i < widening_->parameters.size() && widening_->parameters[i];
  }

  Result<> ReadScalars() {
    for (std::size_t i = 0; i < case_.arguments.size(); ++i) {
      const records::Argument& argument = case_.arguments[i];
      const records::Parameter& parameter = kernel_.parameters[i];
      if (IsArray(argument)) continue;
      if (!argument.bytes.empty()) {
        // What is wrong with them is said where the argument is made.
        const auto bytes = base::DecodeBase64(argument.bytes);
        if (bytes) NameMembers(parameter, i, *bytes, plan_.environment);
        continue;
      }
      if (auto fits = records::CheckScalar(parameter, argument.value); !fits) {
        return Fail(fits.error().In(PathOf(i)));
      }
      const std::string position = "$" + std::to_string(i);
      if (parameter.kind == records::ParameterKind::kInteger) {
        auto integer = records::ReadInteger(argument.value);
        if (!integer) return Fail(integer.error().In(PathOf(i)));
        if (!integer->readable) continue;
        plan_.environment.integers[position] = integer->value;
        if (!parameter.name.empty()) plan_.environment.integers[parameter.name] = integer->value;
      } else if (parameter.kind == records::ParameterKind::kFloating) {
        auto number = records::ReadFloating(argument.value);
        if (!number) return Fail(number.error().In(PathOf(i)));
        plan_.environment.floats[position] = *number;
        if (!parameter.name.empty()) plan_.environment.floats[parameter.name] = *number;
      }
    }
    return {};
  }

  Result<std::int64_t> SizeOf(const records::Size& size, const std::string& what) {
    auto value = records::EvaluateText(size, plan_.environment);
    if (!value) return Fail(value.error().In("case '" + case_.name + "', " + what));
    return *value;
  }

  Result<> ReadGeometry() {
    for (std::size_t i = 0; i < 3; ++i) {
      if (i < case_.grid.size()) {
        TRY_ASSIGN(plan_.grid[i], SizeOf(case_.grid[i], "grid"));
      }
      if (i < case_.block.size()) {
        TRY_ASSIGN(plan_.block[i], SizeOf(case_.block[i], "block"));
      }
    }
    TRY_ASSIGN(plan_.shared_bytes, SizeOf(case_.shared_bytes, "shared_bytes"));
    // Sizes of a workload are about its own values, which describe the launch: there a parameter
    // keeps its name.
    for (const auto& [name, value] : LaunchValues()) {
      const bool taken = plan_.environment.floats.contains(name);
      if (!taken) plan_.environment.integers.emplace(name, value);
    }
    plan_.environment.blocks_per_sm = [](std::string_view) { return std::int64_t{1}; };
    return {};
  }

  std::map<std::string, std::int64_t> LaunchValues() const {
    return {{"grid_x", plan_.grid[0]},
            {"grid_y", plan_.grid[1]},
            {"grid_z", plan_.grid[2]},
            {"block_x", plan_.block[0]},
            {"block_y", plan_.block[1]},
            {"block_z", plan_.block[2]},
            {"shared_bytes", plan_.shared_bytes},
            {"sm_count", device_.sm_count},
            {"max_shared_bytes", device_.max_shared_bytes},
            {"max_threads_per_sm", device_.max_threads_per_sm},
            {"l2_bytes", device_.l2_bytes},
            {"warp_size", device_.warp_size}};
  }

  // For launch expressions, in which a parameter of such a name is reached by its position alone.
  void NameLaunch() {
    for (const auto& [name, value] : LaunchValues()) {
      plan_.environment.integers[name] = value;
      plan_.environment.floats.erase(name);
      plan_.environment.pointers.erase(name);
    }
  }

  Result<std::int64_t> CheckedCount(const records::Size& size, std::int64_t element_bytes,
                                    const std::string& what) {
    TRY_ASSIGN(const std::int64_t count, SizeOf(size, what));
    if (count < 0 || count > kMaxRegionBytes / std::max<std::int64_t>(1, element_bytes)) {
      return Fail(InvalidArgument("case '" + case_.name + "', " + what + ": a count of " +
                                  std::to_string(count) + " is not possible"));
    }
    return count;
  }

  // A case's buffer takes the element type of the first argument that refers to it, or of what the
  // first table holds that leads there.
  Result<> AddBuffers() {
    for (const records::Buffer& buffer : case_.buffers) {
      device::ElementType type{device::Number::kOpaque, 1, 1};
      bool widened = false, found = false;
      for (std::size_t i = 0; i < case_.arguments.size(); ++i) {
        if (case_.arguments[i].buffer != buffer.name) continue;
        const records::Parameter& parameter = kernel_.parameters[i];
        const bool this_widened = WidenedParameter(i) && !records::PointsToPointers(parameter);
        if (found && this_widened != widened) {
          return Fail(base::Unsupported("buffer '" + buffer.name +
                                        "' is shared by widened and other arguments"));
        }
        widened = this_widened;
        if (found) continue;
        type = device::ElementTypeOf(parameter.element, parameter.element_bytes);
        found = true;
      }
      if (const auto table = TableTo(buffer.name)) {
        if (found && WidenedParameter(*table) != widened) {
          return Fail(base::Unsupported("buffer '" + buffer.name +
                                        "' is shared by a table and an argument, of which one is "
                                        "widened"));
        }
        widened = WidenedParameter(*table);
        const records::Parameter& parameter = kernel_.parameters[*table];
        if (!found) type = device::ElementTypeOf(parameter.pointee, parameter.pointee_bytes);
      }
      widened_buffers_.push_back(widened);
      Region region;
      region.name = buffer.name;
      const std::string what = "buffer '" + buffer.name + "'";
      TRY_ASSIGN(const std::int64_t bytes, CheckedCount(buffer.bytes, 1, what));
      if (bytes % type.size() != 0) type = {device::Number::kOpaque, 1, 1};
      region.count = bytes / type.size();
      region.type = widened ? device::Widened(type) : type;
      given_sizes_.push_back(type.size());
      region.input = true;
      if (buffer.fill) {
        TRY(SetFill(*buffer.fill, &region, what));
      }
      plan_.layout.Add(std::move(region));
    }
    for (std::size_t b = 0; b < case_.buffers.size(); ++b) TRY(AddEntries(b));
    return {};
  }

  // The first parameter that is a table, lies in a buffer and has a pointer to that one.
  std::optional<std::size_t> TableTo(const std::string& buffer) const {
    for (const records::Buffer& holder : case_.buffers) {
      const bool leads =
          std::any_of(holder.pointers.begin(), holder.pointers.end(),
                      [&](const records::PointerInBytes& p) { return p.buffer == buffer; });
      for (std::size_t i = 0; leads && i < case_.arguments.size(); ++i) {
        const records::Parameter& parameter = kernel_.parameters[i];
        if (case_.arguments[i].buffer == holder.name && records::IsTable(parameter)) return i;
      }
    }
    return std::nullopt;
  }

  // What the pointers of a buffer lead to is written, unless all who know them lead to const data.
  Result<> AddEntries(std::size_t b) {
    const records::Buffer& buffer = case_.buffers[b];
    if (buffer.pointers.empty()) return {};
    bool known = false, only_read = true;
    for (std::size_t i = 0; i < case_.arguments.size(); ++i) {
      if (case_.arguments[i].buffer != buffer.name) continue;
      const records::Parameter& parameter = kernel_.parameters[i];
      known = true;
      only_read = only_read && records::IsTable(parameter) && parameter.pointee_const;
      if (records::PointsToPointers(parameter)) plan_.layout.regions[b].table = true;
    }
    const std::string what = "case '" + case_.name + "', buffer '" + buffer.name + "'";
    for (const records::PointerInBytes& pointer : buffer.pointers) {
      TRY_ASSIGN(const int to, BufferNamed(pointer.buffer));
      Region& target = plan_.layout.regions[static_cast<std::size_t>(to)];
      Region& holder = plan_.layout.regions[b];
      const std::int64_t given = given_sizes_[static_cast<std::size_t>(to)];
      const bool widened = widened_buffers_[static_cast<std::size_t>(to)];
      if (widened_buffers_[b] || (widened && pointer.offset % given != 0)) {
        return Fail(base::Unsupported(what + ": pointers in memory that is widened"));
      }
      if (pointer.at < 0 || pointer.at + kPointerBytes > holder.bytes()) {
        return Fail(InvalidArgument(what + ": a pointer lies outside of it"));
      }
      if (pointer.offset < 0 || pointer.offset > target.count * given) {
        return Fail(InvalidArgument(what + ": a pointer leads outside of '" + target.name + "'"));
      }
      const std::int64_t size = target.type.size();
      holder.entries.push_back(
          {pointer.at, to, pointer.offset / given * size + pointer.offset % given});
      target.output = target.output || !known || !only_read;
    }
    return {};
  }

  Result<> SetFill(const records::Fill& fill, Region* region, const std::string& what) {
    const std::int64_t count = region->slices.count > 0 ? region->slices.elements : region->count;
    auto recipe = RecipeOf(fill, region->type, count, plan_.environment);
    if (!recipe) return Fail(recipe.error().In("case '" + case_.name + "', " + what));
    region->fill = *recipe;
    region->declared = IsGenerator(recipe->kind);
    return {};
  }

  Result<> AddArgument(std::size_t i) {
    const records::Argument& argument = case_.arguments[i];
    const records::Parameter& parameter = kernel_.parameters[i];
    plan_.references.emplace_back();
    plan_.arguments.emplace_back();
    if (parameter.kind == records::ParameterKind::kPointer) return AddPointer(i);
    if (IsArray(argument)) return Fail(InvalidArgument("the parameter is no pointer"));
    if (!argument.bytes.empty()) return AddStructure(i);
    TRY_ASSIGN(std::vector<std::byte> bytes, ScalarBytes(parameter, argument.value));
    plan_.arguments.back().bytes = WidenedParameter(i) ? WideBytes(parameter, bytes) : bytes;
    return {};
  }

  records::Access AccessOf(std::size_t i) const {
    const records::Argument& argument = case_.arguments[i];
    if (argument.access) return *argument.access;
    if (kernel_.parameters[i].element_const) return records::Access::kIn;
    return argument.fill ? records::Access::kInOut : records::Access::kOut;
  }

  void SetPointer(std::size_t i, int region, std::int64_t offset, bool written) {
    const Region& target = plan_.layout.regions[static_cast<std::size_t>(region)];
    plan_.references[i] = Reference{region, offset, target.bytes() - offset, written};
    plan_.arguments[i].bytes.assign(8, std::byte{0});
    plan_.arguments[i].pointers.push_back({0, target.offset + offset});
    NamePointer(i, kNominalBase + static_cast<std::uint64_t>(target.offset + offset));
  }

  void NamePointer(std::size_t i, std::uint64_t address) {
    plan_.environment.pointers["$" + std::to_string(i)] = address;
    const std::string& name = kernel_.parameters[i].name;
    if (!name.empty()) plan_.environment.pointers[name] = address;
  }

  Result<> AddPointer(std::size_t i) {
    const records::Argument& argument = case_.arguments[i];
    const records::Parameter& parameter = kernel_.parameters[i];
    if (argument.null) {
      plan_.references[i] = Reference{};
      plan_.arguments[i].bytes.assign(8, std::byte{0});
      NamePointer(i, 0);
      return {};
    }
    const records::Access access = AccessOf(i);
    const bool written = access != records::Access::kIn;
    if (!argument.buffer.empty()) return AddIntoBuffer(i, written);
    if (argument.count.empty()) return Fail(InvalidArgument("a pointer needs a count or a buffer"));
    if (argument.fill && argument.fill->kind == "pointers") return AddTable(i);
    device::ElementType type = device::ElementTypeOf(parameter.element, parameter.element_bytes);
    Region region;
    region.name = argument.name;
    TRY_ASSIGN(region.count, CheckedCount(argument.count, type.size(), "count"));
    region.type = WidenedParameter(i) ? device::Widened(type) : type;
    if (const auto* structure = WidenedStructure(i)) {
      region.type = {device::Number::kOpaque, structure->bytes, 1};
      region.members = structure->members;
    }
    region.input = access != records::Access::kOut;
    region.output = written;
    region.order_free = argument.order_free;
    if (argument.fill && region.input) {
      TRY(SetFill(*argument.fill, &region, "fill"));
    }
    plan_.layout.Add(std::move(region));
    SetPointer(i, static_cast<int>(plan_.layout.regions.size()) - 1, 0, written);
    return {};
  }

  // Two regions: what the pointers lead to, and the pointers.
  Result<> AddTable(std::size_t i) {
    const records::Argument& argument = case_.arguments[i];
    const records::Parameter& parameter = kernel_.parameters[i];
    if (!records::IsTable(parameter)) {
      return Fail(InvalidArgument("'" + parameter.type + "' is no pointer to pointers to data"));
    }
    Region area;
    area.name = argument.name + "[*]";
    area.type = device::ElementTypeOf(parameter.pointee, parameter.pointee_bytes);
    TRY_ASSIGN(const std::int64_t count, CheckedCount(argument.count, kPointerBytes, "count"));
    TRY_ASSIGN(const std::int64_t bytes, CheckedCount(argument.fill->bytes, 1, "bytes"));
    if (bytes % area.type.size() != 0) {
      return Fail(
          InvalidArgument(std::to_string(bytes) + " bytes are no whole " + parameter.pointee));
    }
    if (count <= kMostEntries) CutIntoSlices(count, bytes, area);
    // Cut as the original's: an element has the same number in both.
    if (WidenedParameter(i)) area.type = device::Widened(area.type);
    if (count > kMostEntries || area.bytes() > kMaxRegionBytes) {
      return Fail(InvalidArgument(std::to_string(count) + " pointers to " + std::to_string(bytes) +
                                  " bytes each are not possible"));
    }
    const auto otherwise = parameter.pointee_const ? records::Access::kIn : records::Access::kInOut;
    const records::Access access = argument.access.value_or(otherwise);
    area.input = access != records::Access::kOut;
    area.output = access != records::Access::kIn;
    area.order_free = argument.order_free;
    if (area.input && !argument.fill->inner.empty()) {
      TRY(SetFill(argument.fill->inner.front(), &area, "fill"));
    }
    const int lead_to = static_cast<int>(plan_.layout.regions.size());
    Region table;
    table.name = argument.name;
    table.type = device::ElementTypeOf(parameter.element, kPointerBytes);
    table.count = count;
    table.input = true;
    table.output = !parameter.element_const;
    table.table = true;
    for (std::int64_t entry = 0; entry < count; ++entry) {
      const std::int64_t slice = SliceOfEntry(entry, count);
      table.entries.push_back(
          {entry * kPointerBytes, lead_to, slice * area.slices.stride * area.type.size()});
    }
    const bool written = table.output;
    plan_.layout.Add(std::move(area));
    plan_.layout.Add(std::move(table));
    SetPointer(i, lead_to + 1, 0, written);
    return {};
  }

  Result<> AddIntoBuffer(std::size_t i, bool written) {
    const records::Argument& argument = case_.arguments[i];
    std::int64_t offset = 0;
    if (!argument.offset.empty()) {
      TRY_ASSIGN(offset, SizeOf(argument.offset, "offset"));
    }
    TRY_ASSIGN(const int region, BufferNamed(argument.buffer));
    Region& target = plan_.layout.regions[static_cast<std::size_t>(region)];
    const records::Parameter& parameter = kernel_.parameters[i];
    if (WidenedParameter(i) && !records::PointsToPointers(parameter)) {
      const auto type = device::ElementTypeOf(parameter.element, parameter.element_bytes);
      if (!type.floating()) return Fail(base::Unsupported("a widened structure in a buffer"));
      if (type.bytes == 0 || offset % type.bytes != 0) {
        return Fail(base::Unsupported("the offset is no whole element"));
      }
      offset = offset / type.bytes * device::Widened(type).bytes;
    }
    if (offset < 0 || offset > target.bytes()) {
      return Fail(InvalidArgument("the offset is outside the buffer"));
    }
    target.output = target.output || written;
    SetPointer(i, region, offset, written);
    return {};
  }

  Result<int> BufferNamed(const std::string& name) const {
    for (std::size_t b = 0; b < case_.buffers.size(); ++b) {
      if (case_.buffers[b].name == name) return static_cast<int>(b);
    }
    return Fail(InvalidArgument("no buffer is named '" + name + "'"));
  }

  Result<> AddStructure(std::size_t i) {
    const records::Argument& argument = case_.arguments[i];
    TRY_ASSIGN(std::vector<std::byte> bytes, base::DecodeBase64(argument.bytes));
    if (static_cast<std::int64_t>(bytes.size()) != kernel_.parameters[i].bytes) {
      return Fail(InvalidArgument("the structure has " +
                                  std::to_string(kernel_.parameters[i].bytes) + " bytes, not " +
                                  std::to_string(bytes.size())));
    }
    ArgumentValue& value = plan_.arguments[i];
    const protocol::TwinStructure* const structure = WidenedStructure(i);
    for (const records::PointerInBytes& pointer : argument.pointers) {
      TRY_ASSIGN(const int region, BufferNamed(pointer.buffer));
      Region& target = plan_.layout.regions[static_cast<std::size_t>(region)];
      if (pointer.at < 0 || pointer.at + 8 > static_cast<std::int64_t>(bytes.size())) {
        return Fail(InvalidArgument("a pointer lies outside the structure"));
      }
      if (widened_buffers_[static_cast<std::size_t>(region)]) {
        return Fail(base::Unsupported("a structure with a pointer to memory that is widened"));
      }
      target.output = true;  // what a structure's pointer is for is not said
      value.pointers.push_back({structure == nullptr ? pointer.at : PlaceOf(*structure, pointer.at),
                                target.offset + pointer.offset});
    }
    if (structure != nullptr) {
      bytes = WideStructure(*structure, bytes);
    } else if (WidenedParameter(i)) {
      bytes = WideBytes(kernel_.parameters[i], bytes);
    }
    value.bytes = std::move(bytes);
    return {};
  }

  Result<> AddGlobals() {
    for (const records::Global& global : case_.globals) {
      const records::ClosureGlobal* known = nullptr;
      for (const records::ClosureGlobal& candidate : kernel_.globals) {
        if (candidate.symbol == global.symbol) known = &candidate;
      }
      const std::string what = "global '" + global.symbol + "'";
      if (known == nullptr) {
        return Fail(InvalidArgument("case '" + case_.name + "', " + what +
                                    ": the kernel reads no such variable"));
      }
      Region region;
      region.name = global.symbol;
      region.type = device::ElementTypeOf(known->element, known->element_bytes);
      region.count = known->count;
      if (!global.count.empty()) {
        TRY_ASSIGN(region.count, CheckedCount(global.count, region.type.size(), what));
      }
      if (region.count > known->count) {
        return Fail(InvalidArgument("case '" + case_.name + "', " + what + ": it has " +
                                    std::to_string(known->count) + " elements"));
      }
      if (widening_ != nullptr && std::find(widening_->globals.begin(), widening_->globals.end(),
                                            global.symbol) != widening_->globals.end()) {
        region.type = device::Widened(region.type);
      }
      region.input = global.access != records::Access::kOut;
      region.output = global.access != records::Access::kIn;
      if (global.fill && region.input) {
        TRY(SetFill(*global.fill, &region, what));
      }
      const bool copy_back = region.output;
      plan_.layout.Add(std::move(region));
      const int index = static_cast<int>(plan_.layout.regions.size()) - 1;
      plan_.globals.push_back({global.symbol, index, copy_back});
    }
    return {};
  }

  const records::Kernel& kernel_;
  const records::Case& case_;
  const device::Properties& device_;
  const Widening* widening_;
  std::vector<bool> widened_buffers_;
  std::vector<std::int64_t> given_sizes_;  // of the buffers' elements, before they are widened
  CasePlan plan_;
};

}  // namespace

void Layout::Add(Region region) {
  std::int64_t end = 0;
  for (const Region& before : regions) end = std::max(end, before.offset + before.bytes());
  region.offset = (end + kRedZone + kAlignment - 1) / kAlignment * kAlignment;
  bytes = (region.offset + region.bytes() + 2 * kRedZone - 1) / kRedZone * kRedZone;
  regions.push_back(std::move(region));
}

Result<std::vector<std::byte>> ScalarBytes(const records::Parameter& parameter,
                                           const std::string& value) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(parameter.bytes));
  if (parameter.kind == records::ParameterKind::kFloating) {
    TRY_ASSIGN(const double number, records::ReadFloating(value));
    if (parameter.bytes == 8) {
      std::memcpy(bytes.data(), &number, 8);
      return bytes;
    }
    const auto type = device::ElementTypeOf(parameter.canonical, parameter.bytes);
    if (!type.floating()) return Fail(base::Unsupported("a scalar of type " + parameter.type));
    device::WriteNumber(bytes.data(), 0, type, number);
    return bytes;
  }
  if (parameter.kind == records::ParameterKind::kInteger && parameter.bytes <= 8) {
    TRY_ASSIGN(const records::WholeNumber integer, records::ReadInteger(value));
    std::memcpy(bytes.data(), &integer.bits, bytes.size());
    return bytes;
  }
  return Fail(base::Unsupported("a value of type " + parameter.type + " must be given as bytes"));
}

Result<CasePlan> PlanCase(const records::Kernel& kernel, const records::Case& workload,
                          const device::Properties& device, const Widening* widening) {
  return Planner(kernel, workload, device, widening).Run();
}

}  // namespace cupilot::worker
