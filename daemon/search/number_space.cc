#include "search/number_space.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "records/slot_expression.h"

namespace cupilot::search {
namespace {

std::optional<std::int64_t> WholeNumber(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool IsFloating(const std::string& type) {
  return type.find("float") != std::string::npos || type.find("double") != std::string::npos;
}

void AddScalar(const std::string& name, const records::Argument& argument,
               records::Environment& environment) {
  if (name.empty() || argument.value.empty()) return;
  const std::optional<std::int64_t> whole = WholeNumber(argument.value);
  if (whole && !IsFloating(argument.type)) {
    environment.integers[name] = *whole;
    return;
  }
  double number = 0;
  const std::string& text = argument.value;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code == std::errc()) environment.floats[name] = number;
}

// A block of 1 to 1024 threads and a grid that is not empty, as texts that must not be zero.
std::vector<std::string> GeometryRequirements(const std::vector<std::string>& block,
                                              const std::vector<std::string>& grid) {
  std::vector<std::string> required;
  std::string threads;
  for (const std::string& size : block) {
    required.push_back("(" + size + ") >= 1");
    threads += (threads.empty() ? "(" : " * (") + size + ")";
  }
  if (!threads.empty()) required.push_back(threads + " <= 1024");
  for (const std::string& size : grid) required.push_back("(" + size + ") >= 1");
  return required;
}

records::Environment With(const records::Environment& constants, const Values& values) {
  records::Environment environment = constants;
  for (const auto& [name, value] : values) environment.integers[name] = value;
  return environment;
}

bool Holds(const std::string& text, const records::Environment& environment) {
  const auto value = records::EvaluateText(text, environment);
  return value && *value != 0;
}

}  // namespace

bool NumberSpace::Legal(const Values& values) const {
  if (also && !also(values)) return false;
  if (require.empty()) return true;
  const records::Environment environment = With(constants, values);
  return std::all_of(require.begin(), require.end(),
                     [&](const std::string& text) { return Holds(text, environment); });
}

Values NumberSpace::Default() const {
  Values values;
  for (const records::Tunable& tunable : tunables) {
    values.emplace_back(tunable.name, tunable.default_value);
  }
  return values;
}

double NumberSpace::Size() const {
  double size = tunables.empty() ? 0 : 1;
  for (const records::Tunable& tunable : tunables) {
    size *= static_cast<double>(tunable.values.size());
  }
  return std::min(size, 9007199254740992.0);
}

records::Environment EnvironmentOf(const records::Case& workload) {
  records::Environment environment;
  for (std::size_t i = 0; i < workload.arguments.size(); ++i) {
    const records::Argument& argument = workload.arguments[i];
    AddScalar(argument.name, argument, environment);
    AddScalar("$" + std::to_string(i), argument, environment);
  }
  constexpr std::array<const char*, 3> kAxes = {"x", "y", "z"};
  const records::Environment of_case = environment;
  const auto add = [&](const std::string& name, const std::string& text) {
    const auto value = records::EvaluateText(text, of_case);
    // A parameter of this name is reached by its position alone.
    environment.floats.erase(name);
    environment.integers.erase(name);
    if (value) environment.integers[name] = *value;
  };
  for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
    if (axis < workload.grid.size()) add(std::string("grid_") + kAxes[axis], workload.grid[axis]);
    if (axis < workload.block.size()) {
      add(std::string("block_") + kAxes[axis], workload.block[axis]);
    }
  }
  add("shared_bytes", workload.shared_bytes);
  return environment;
}

namespace {

// What the present values do not fulfil says nothing (a name that this case does not have).
void DemandGeometry(const std::vector<std::string>& block, const std::vector<std::string>& grid,
                    NumberSpace& space) {
  const records::Environment present = With(space.constants, space.Default());
  for (std::string& text : GeometryRequirements(block, grid)) {
    if (Holds(text, present)) space.require.push_back(std::move(text));
  }
}

// In their order, each once; what is no whole number is none.
std::vector<std::int64_t> WholeNumbers(const std::vector<records::Json>& values) {
  std::vector<std::int64_t> numbers;
  for (const records::Json& value : values) {
    if (value.is_number_integer()) numbers.push_back(value.get<std::int64_t>());
  }
  return numbers;
}

bool IsPower(std::int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

ParameterKind KindOfValues(const std::vector<std::int64_t>& values) {
  const auto is_flag = [](std::int64_t value) { return value == 0 || value == 1; };
  if (std::all_of(values.begin(), values.end(), is_flag)) return ParameterKind::kBoolean;
  const bool powers = values.size() > 2 && std::all_of(values.begin(), values.end(), IsPower);
  return powers ? ParameterKind::kPower : ParameterKind::kNumber;
}

SpaceParameter ParameterOfTunable(const records::Tunable& tunable) {
  SpaceParameter parameter;
  parameter.name = tunable.name;
  for (const std::int64_t value : tunable.values) {
    std::vector<std::int64_t>& known = parameter.values;
    if (std::find(known.begin(), known.end(), value) == known.end()) known.push_back(value);
  }
  std::sort(parameter.values.begin(), parameter.values.end());  // neighbours are next to each other
  parameter.kind = KindOfValues(parameter.values);
  // The source's own value need not be among those that it lists.
  const auto distance = [&tunable](std::int64_t value) {
    return std::fabs(static_cast<double>(value) - static_cast<double>(tunable.default_value));
  };
  parameter.standard =
      *std::min_element(parameter.values.begin(), parameter.values.end(),
                        [&](std::int64_t a, std::int64_t b) { return distance(a) < distance(b); });
  return parameter;
}

// How many tunables a constraint ties together; nothing where it cannot be solved.
std::optional<std::size_t> Ties(const std::string& text,
                                const std::vector<SpaceParameter>& parameters,
                                const records::Environment& constants) {
  const auto parsed = records::Expression::Parse(text);
  if (!parsed) return std::nullopt;
  const auto slot_of = [&parameters](std::string_view name) -> std::optional<int> {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].name == name) return static_cast<int>(i);
    }
    return std::nullopt;
  };
  const auto compiled = records::SlotExpression::Compile(*parsed, slot_of, constants);
  if (!compiled) return std::nullopt;
  return compiled->slots().size();
}

std::string Quoted(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "'" : ", '") + text + "'";
  return list;
}

}  // namespace

NumberSpace SpaceOf(const records::Kernel& kernel, const records::Case& workload) {
  NumberSpace space;
  for (const records::Tunable& tunable : kernel.tunables) {
    if (!tunable.values.empty()) space.tunables.push_back(tunable);
  }
  if (space.tunables.empty()) return space;
  space.require = kernel.require;
  space.constants = EnvironmentOf(workload);
  DemandGeometry(kernel.launch_block, kernel.launch_grid, space);
  space.block = kernel.launch_block;
  if (space.block.empty()) space.block = {"block_x", "block_y", "block_z"};
  space.grid = kernel.launch_grid;
  if (space.grid.empty()) space.grid = {"grid_x", "grid_y", "grid_z"};
  space.shared_bytes =
      kernel.launch_shared_bytes.empty() ? "shared_bytes" : kernel.launch_shared_bytes;
  return space;
}

NumberSpace SpaceOf(const records::Variant& variant, const records::Case& workload) {
  NumberSpace space;
  for (const auto& [name, values] : variant.tunables) {
    records::Tunable tunable{name, WholeNumbers(values), 0};
    const auto present = variant.values.find(name);
    if (tunable.values.size() != values.size() || tunable.values.empty()) continue;
    tunable.default_value = present != variant.values.end() && present->second.is_number_integer()
                                ? present->second.get<std::int64_t>()
                                : tunable.values.front();
    space.tunables.push_back(std::move(tunable));
  }
  if (space.tunables.empty()) return space;
  space.require = variant.require;
  space.constants = EnvironmentOf(workload);
  const std::vector<records::Launch> launches = records::LaunchesOf(variant);
  for (const records::Launch& launch : launches) DemandGeometry(launch.block, launch.grid, space);
  if (launches.empty()) return space;
  space.block = launches.front().block;
  space.grid = launches.front().grid;
  space.shared_bytes = launches.front().shared_bytes;
  return space;
}

base::Result<SolvedSpace> Solve(const NumberSpace& numbers, const Space::Limits& limits) {
  if (numbers.tunables.empty()) return base::Fail(base::InvalidArgument("there are no tunables"));
  std::vector<SpaceParameter> parameters;
  parameters.reserve(numbers.tunables.size());
  for (const records::Tunable& tunable : numbers.tunables) {
    if (tunable.values.empty()) {
      return base::Fail(base::InvalidArgument("the tunable " + tunable.name + " has no values"));
    }
    parameters.push_back(ParameterOfTunable(tunable));
  }
  std::vector<std::string> solvable, of_one, unsolved;
  for (const std::string& text : numbers.require) {
    const auto ties = Ties(text, parameters, numbers.constants);
    (ties ? solvable : unsolved).push_back(text);
    if (ties && *ties <= 1) of_one.push_back(text);
  }
  auto space = Space::Make(parameters, solvable, numbers.constants, limits);
  std::string warning;
  if (!space && space.error().code == base::ErrorCode::kUnsupported) {
    // Each tunable by itself is small. What ties them together is left to the drawing.
    const std::string why = space.error().message;
    for (const std::string& text : solvable) {
      const bool kept = std::find(of_one.begin(), of_one.end(), text) != of_one.end();
      if (!kept) unsolved.push_back(text);
    }
    space = Space::Make(parameters, of_one, numbers.constants, limits);
    warning = "the space of its tunables is too large to be solved (" + why + ")";
  }
  if (!space) return base::Fail(space.error());
  if (!unsolved.empty()) {
    warning += (warning.empty() ? "not all that is required of its tunables could be solved" : "") +
               std::string(": ") + Quoted(unsolved) + (unsolved.size() == 1 ? " is" : " are") +
               " asked of each point that is drawn";
  }
  return SolvedSpace{std::move(*space), std::move(unsolved), std::move(warning)};
}

Values ValuesOf(const Space& space, const Point& point) {
  Values values;
  values.reserve(point.size());
  for (std::size_t i = 0; i < point.size(); ++i) {
    values.emplace_back(space.parameters()[i].name, space.ValueOf(point, i));
  }
  return values;
}

}  // namespace cupilot::search
