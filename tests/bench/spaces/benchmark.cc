#include "tests/bench/spaces/benchmark.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>

#include "base/file.h"
#include "device/fill.h"
#include "records/json.h"

namespace cupilot::spaces {
namespace {

using records::Json;

constexpr std::int64_t kAlignment = 256;

base::Result<Json> ReadJson(const std::string& path) {
  TRY_ASSIGN(const std::string text, base::ReadFile(path));
  auto json = records::ParseJson(text);
  if (!json) return base::Fail(json.error().In(path));
  return json;
}

// The comment above the kernel, and this folder's own line in it.
base::Result<> ReadTag(const std::string& path, Benchmark& benchmark) {
  std::istringstream lines(benchmark.text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("// cupilot:")) {
      TRY(source::ParseTagComment({path, number, line.substr(2)}, benchmark.tag));
    } else if (line.starts_with("// bench: repeat=")) {
      std::istringstream words(line.substr(std::strlen("// bench: repeat=")));
      std::string index;
      words >> benchmark.repeat >> index;
      if (!index.starts_with("index=")) {
        return base::Fail(base::InvalidArgument(path + ": write repeat=EXPRESSION index=NAME"));
      }
      benchmark.index = index.substr(std::strlen("index="));
    }
  }
  return {};
}

// The same parameters with the same values, and as many valid points.
base::Result<> CompareWithTag(const Benchmark& benchmark) {
  const auto differs = [&](const std::string& what) {
    return base::Fail(
        base::InvalidArgument(benchmark.name + ": the tag and the space's file differ in " + what));
  };
  std::vector<search::SpaceParameter> parameters;
  for (const source::TagTunable& tunable : benchmark.tag.tunables) {
    parameters.push_back({tunable.name,
                          search::ParameterKind::kNumber,
                          tunable.values,
                          {},
                          tunable.values.front(),
                          ""});
  }
  const auto& filed = benchmark.space_file.parameters;
  if (parameters.size() != filed.size()) return differs("the number of parameters");
  for (std::size_t i = 0; i < filed.size(); ++i) {
    if (parameters[i].name != filed[i].name || parameters[i].values != filed[i].values) {
      return differs(filed[i].name);
    }
  }
  std::vector<std::string> require;
  for (const source::TagRequire& one : benchmark.tag.require) require.push_back(one.expression);
  TRY_ASSIGN(const search::Space space, search::Space::Make(std::move(parameters), require, {}));
  if (space.size() != benchmark.space.size()) return differs("their valid points");
  return {};
}

// The standard values, from which a search begins, are the source's own: of "#define NAME VALUE"
// behind "#ifndef NAME".
base::Result<> CompareWithSource(const Benchmark& benchmark) {
  for (const search::SpaceParameter& parameter : benchmark.space.parameters()) {
    const std::string define = "\n#define " + parameter.name + " ";
    const std::size_t at = benchmark.text.find(define);
    const bool is_own = at != std::string::npos && std::atoll(benchmark.text.c_str() + at +
                                                              define.size()) == parameter.standard;
    if (is_own) continue;
    return base::Fail(base::InvalidArgument(benchmark.name + ": the standard value of " +
                                            parameter.name + " is not the source's own"));
  }
  if (benchmark.space.Standard()) return {};
  return base::Fail(
      base::InvalidArgument(benchmark.name + ": the source's own point is not valid"));
}

// What the case is launched with is what the tag says of the source's own point: the original of
// `cupilot tune` is the first point of a recording.
base::Result<> CompareWithWorkload(const Benchmark& benchmark) {
  const records::Case& one = benchmark.workload.cases[0];
  records::Environment names = ScalarsOf(one), at_own = names;
  const search::Point own = OwnPoint(benchmark);
  for (std::size_t i = 0; i < own.size(); ++i) {
    at_own.integers[benchmark.space.parameters()[i].name] = benchmark.space.ValueOf(own, i);
  }
  for (const auto& [said, tagged] : {std::pair(&one.grid, &benchmark.tag.launch_grid),
                                     std::pair(&one.block, &benchmark.tag.launch_block)}) {
    for (std::size_t i = 0; i < 3; ++i) {
      TRY_ASSIGN(const std::int64_t of_case, records::EvaluateText((*said)[i], names));
      TRY_ASSIGN(const std::int64_t of_tag, records::EvaluateText((*tagged)[i], at_own));
      if (of_case == of_tag) continue;
      return base::Fail(base::InvalidArgument(
          benchmark.name + ": the workload's launch is not that of the source's own point"));
    }
  }
  return {};
}

base::Result<double> NumberOf(const std::string& text, double otherwise,
                              const records::Environment& names) {
  if (text.empty()) return otherwise;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() + text.size()) return value;
  TRY_ASSIGN(const std::int64_t integer, records::EvaluateText(text, names));
  return static_cast<double>(integer);
}

base::Result<device::FillRecipe> RecipeOf(const records::Fill& fill,
                                          const records::Environment& names) {
  device::FillRecipe recipe;
  TRY_ASSIGN(recipe.kind, device::FillKindOf(fill.kind));
  recipe.mean = fill.mean;
  recipe.stddev = fill.stddev;
  TRY_ASSIGN(recipe.low, NumberOf(fill.low, 0, names));
  TRY_ASSIGN(recipe.high, NumberOf(fill.high, 1, names));
  recipe.integer_low = static_cast<std::int64_t>(recipe.low);
  recipe.integer_high = static_cast<std::int64_t>(recipe.high);
  if (recipe.kind == device::FillKind::kIndices) recipe.integer_high -= 1;
  TRY_ASSIGN(recipe.value, NumberOf(fill.value, 0, names));
  recipe.integer_value = static_cast<std::int64_t>(recipe.value);
  return recipe;
}

std::string PointeeOf(std::string type) {
  const std::size_t star = type.find('*');
  type = type.substr(0, star);
  if (type.starts_with("const ")) type = type.substr(6);
  while (type.ends_with(' ')) type.pop_back();
  return type;
}

// Bytes of a scalar argument as the kernel takes it.
base::Result<std::vector<std::byte>> BytesOf(const records::Argument& argument) {
  std::vector<std::byte> bytes(argument.type == "double" ? 8 : 4);
  if (argument.type == "int") {
    const std::int32_t value = std::atoi(argument.value.c_str());
    std::memcpy(bytes.data(), &value, sizeof value);
  } else if (argument.type == "float") {
    const float value = std::strtof(argument.value.c_str(), nullptr);
    std::memcpy(bytes.data(), &value, sizeof value);
  } else {
    return base::Fail(base::InvalidArgument(argument.name + ": a scalar is an int or a float"));
  }
  return bytes;
}

struct Array {
  std::string name, type, count;
  const records::Fill* fill;
  records::Access access;
  bool global;
};

std::vector<Array> ArraysOf(const records::Case& one) {
  using records::Access;
  std::vector<Array> arrays;
  for (const records::Argument& a : one.arguments) {
    if (a.count.empty()) continue;
    arrays.push_back({a.name, PointeeOf(a.type), a.count, a.fill ? &*a.fill : nullptr,
                      a.access.value_or(Access::kIn), false});
  }
  for (const records::Global& g : one.globals) {
    arrays.push_back({g.symbol, g.type, g.count, g.fill ? &*g.fill : nullptr, g.access, true});
  }
  return arrays;
}

}  // namespace

base::Result<Benchmark> ReadBenchmark(const std::string& folder, const std::string& name,
                                      bool small) {
  Benchmark benchmark;
  benchmark.name = name;
  const std::string path = folder + "/kernels/" + name + ".cu";
  TRY_ASSIGN(benchmark.text, base::ReadFile(path));
  TRY(ReadTag(path, benchmark));
  const std::string space = folder + "/../../data/spaces/" + name + ".space.json";
  TRY_ASSIGN(const Json space_json, ReadJson(space));
  TRY_ASSIGN(benchmark.space_file, search::ParseSpaceFile(space_json));
  TRY_ASSIGN(benchmark.space, search::SpaceOf(benchmark.space_file));
  TRY(CompareWithTag(benchmark));
  TRY(CompareWithSource(benchmark));
  const std::string workload = folder + "/workloads/" + name + (small ? ".small.json" : ".json");
  TRY_ASSIGN(const Json workload_json, ReadJson(workload));
  TRY_ASSIGN(benchmark.workload, records::ParseWorkload(workload_json));
  if (benchmark.workload.cases.size() != 1) {
    return base::Fail(base::InvalidArgument(workload + ": one case is expected"));
  }
  TRY(CompareWithWorkload(benchmark));
  return benchmark;
}

search::SpaceFile SpaceWithLaunch(const Benchmark& benchmark) {
  search::SpaceFile file = benchmark.space_file;
  for (const auto& [name, value] : ScalarsOf(benchmark.workload.cases[0]).integers) {
    if (name != benchmark.index) file.constants.integers[name] = value;
  }
  file.grid = benchmark.tag.launch_grid;
  file.block = benchmark.tag.launch_block;
  file.shared_bytes = benchmark.tag.launch_shared_bytes;
  return file;
}

records::Environment ScalarsOf(const records::Case& one) {
  records::Environment names;
  for (const records::Argument& argument : one.arguments) {
    if (argument.value.empty()) continue;
    if (argument.type == "int") {
      names.integers[argument.name] = std::atoll(argument.value.c_str());
    } else {
      names.floats[argument.name] = std::strtod(argument.value.c_str(), nullptr);
    }
  }
  return names;
}

std::vector<std::string> DefinesOf(const search::Space& space, const search::Point& point) {
  std::vector<std::string> defines;
  for (std::size_t i = 0; i < point.size(); ++i) {
    defines.push_back(space.parameters()[i].name + "=" + std::to_string(space.ValueOf(point, i)));
  }
  return defines;
}

base::Result<Memory> Memory::Make(const Benchmark& benchmark, device::Device& device) {
  const records::Case& one = benchmark.workload.cases[0];
  const records::Environment names = ScalarsOf(one);
  Memory memory;
  std::int64_t end = 0;
  const std::vector<Array> arrays = ArraysOf(one);
  for (const Array& array : arrays) {
    Region region;
    region.name = array.name;
    region.global = array.global;
    region.output = array.access != records::Access::kIn;
    region.input = array.access != records::Access::kOut;
    region.type = device::ElementTypeOf(array.type, 0);
    TRY_ASSIGN(region.count, records::EvaluateText(array.count, names));
    region.offset = end;
    end += (region.bytes() + kAlignment - 1) / kAlignment * kAlignment;
    memory.regions_.push_back(std::move(region));
  }
  const int descriptor = ::memfd_create("bench-spaces", MFD_CLOEXEC);
  if (descriptor < 0 || ::ftruncate(descriptor, end) != 0) {
    return base::Fail(base::IoError(std::string("memory for buffers: ") + std::strerror(errno)));
  }
  TRY_ASSIGN(memory.mapping_, device.Allocate(descriptor, static_cast<std::size_t>(end)));
  ::close(descriptor);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const Region& region = memory.regions_[i];
    std::vector<std::byte> contents;
    if (region.input) {
      if (arrays[i].fill == nullptr) {
        return base::Fail(base::InvalidArgument(region.name + ": an input needs a fill"));
      }
      TRY_ASSIGN(const device::FillRecipe recipe, RecipeOf(*arrays[i].fill, names));
      contents.resize(static_cast<std::size_t>(region.bytes()));
      TRY(device::FillBuffer(contents.data(), region.count, region.type, recipe,
                             {1, region.name, 0}));
      std::memcpy(memory.mapped(region), contents.data(), contents.size());
      TRY(device.Upload(region.offset, region.bytes()));
    }
    memory.contents_.push_back(std::move(contents));
  }
  return memory;
}

const Region* Memory::Find(const std::string& name) const {
  const auto found = std::find_if(regions_.begin(), regions_.end(),
                                  [&](const Region& region) { return region.name == name; });
  return found == regions_.end() ? nullptr : &*found;
}

const std::vector<std::byte>& Memory::contents(const Region& region) const {
  return contents_[static_cast<std::size_t>(&region - regions_.data())];
}

base::Result<> Memory::Reset(device::Device& device) const {
  for (const Region& region : regions_) {
    if (!region.output) continue;
    if (region.input) {
      std::memcpy(mapped(region), contents(region).data(), contents(region).size());
      TRY(device.Upload(region.offset, region.bytes()));
    } else {
      TRY(device.Fill(region.offset, region.bytes(), 0xff));
    }
  }
  return {};
}

base::Result<PointLaunch> PointLaunch::Make(const Benchmark& benchmark, const Memory& memory,
                                            const search::Point& point, device::Device& device,
                                            device::ModuleId module,
                                            const device::ModuleInfo& info) {
  const records::Case& one = benchmark.workload.cases[0];
  records::Environment names = ScalarsOf(one);
  for (std::size_t i = 0; i < point.size(); ++i) {
    names.integers[benchmark.space.parameters()[i].name] = benchmark.space.ValueOf(point, i);
  }
  PointLaunch made;
  made.launch_.module = module;
  const auto kernel = std::find_if(
      info.kernels.begin(), info.kernels.end(),
      [&](const device::KernelInfo& row) { return row.name == benchmark.workload.kernel; });
  if (kernel == info.kernels.end()) {
    return base::Fail(base::InvalidArgument("the artifact has no such kernel"));
  }
  made.launch_.kernel = static_cast<int>(kernel - info.kernels.begin());
  for (std::size_t i = 0; i < 3; ++i) {
    TRY_ASSIGN(made.launch_.grid[i], records::EvaluateText(benchmark.tag.launch_grid[i], names));
    TRY_ASSIGN(made.launch_.block[i], records::EvaluateText(benchmark.tag.launch_block[i], names));
  }
  if (!benchmark.repeat.empty()) {
    TRY_ASSIGN(made.repeat_, records::EvaluateText(benchmark.repeat, names));
  }
  for (const records::Argument& argument : one.arguments) {
    if (argument.name == benchmark.index) made.index_ = static_cast<int>(made.values_.size());
    if (const Region* region = memory.Find(argument.name)) {
      const std::uint64_t address = device.Address() + static_cast<std::uint64_t>(region->offset);
      std::vector<std::byte> bytes(sizeof address);
      std::memcpy(bytes.data(), &address, sizeof address);
      made.values_.push_back(std::move(bytes));
    } else {
      TRY_ASSIGN(std::vector<std::byte> bytes, BytesOf(argument));
      made.values_.push_back(std::move(bytes));
    }
  }
  if (kernel->parameter_bytes.size() != made.values_.size()) {
    return base::Fail(base::InvalidArgument("the kernel takes another number of arguments"));
  }
  for (const Region& region : memory.regions()) {
    if (!region.global) continue;
    const auto variable =
        std::find_if(info.variables.begin(), info.variables.end(),
                     [&](const device::VariableInfo& row) { return row.name == region.name; });
    if (variable == info.variables.end()) {
      return base::Fail(base::InvalidArgument("the artifact has no variable " + region.name));
    }
    TRY(device.CopyVariable(module, static_cast<int>(variable - info.variables.begin()),
                            device::Direction::kToDevice, region.offset, region.bytes()));
  }
  return made;
}

base::Result<> PointLaunch::Launch(device::Device& device) {
  std::vector<void*> addresses;
  for (auto& value : values_) addresses.push_back(value.data());
  launch_.arguments = addresses.data();
  for (std::int64_t i = 0; i < repeat_; ++i) {
    if (index_ >= 0) {
      const auto number = static_cast<std::int32_t>(i);
      std::memcpy(values_[static_cast<std::size_t>(index_)].data(), &number, sizeof number);
    }
    TRY(device.Launch(launch_));
  }
  return {};
}

}  // namespace cupilot::spaces
