#include "search/number_search.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace cupilot::search {
namespace {

constexpr double kSmallSpace = 4096;
constexpr int kDraws = 1000;

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

// The product of the block's dimensions and each of them, as texts that must not be zero.
std::vector<std::string> GeometryRequirements(const records::Kernel& kernel) {
  std::vector<std::string> required;
  std::string threads;
  for (const std::string& size : kernel.launch_block) {
    required.push_back("(" + size + ") >= 1");
    threads += (threads.empty() ? "(" : " * (") + size + ")";
  }
  if (!threads.empty()) required.push_back(threads + " <= 1024");
  for (const std::string& size : kernel.launch_grid) required.push_back("(" + size + ") >= 1");
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

std::size_t IndexOf(const records::Tunable& tunable, std::int64_t value) {
  const auto found = std::find(tunable.values.begin(), tunable.values.end(), value);
  return static_cast<std::size_t>(found - tunable.values.begin());
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
  const auto add = [&environment](const std::string& name, const std::string& text) {
    const auto value = records::EvaluateText(text, environment);
    // A parameter hides a built-in name.
    if (value) environment.integers.emplace(name, *value);
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

NumberSpace SpaceOf(const records::Kernel& kernel, const records::Case& workload) {
  NumberSpace space;
  for (const records::Tunable& tunable : kernel.tunables) {
    if (!tunable.values.empty()) space.tunables.push_back(tunable);
  }
  if (space.tunables.empty()) return space;
  space.require = kernel.require;
  space.constants = EnvironmentOf(workload);
  // What the present values do not fulfil says nothing (a name that this case does not have).
  const records::Environment present = With(space.constants, space.Default());
  for (std::string& text : GeometryRequirements(kernel)) {
    if (Holds(text, present)) space.require.push_back(std::move(text));
  }
  return space;
}

NumberSearch::NumberSearch(NumberSpace space, std::uint64_t seed)
    : space_(std::move(space)), random_(seed) {
  best_ = centre_ = space_.Default();
  tried_[best_] = 1.0;
  random_left_ = space_.tunables.empty() ? 0 : space_.tunables.size() + 2;
  enumerated_ = space_.Size() <= kSmallSpace;
  if (!enumerated_ || space_.tunables.empty()) return;
  std::vector<Values> partial = {{}};
  for (const records::Tunable& tunable : space_.tunables) {
    std::vector<Values> longer;
    for (const Values& values : partial) {
      for (const std::int64_t value : tunable.values) {
        longer.push_back(values);
        longer.back().emplace_back(tunable.name, value);
      }
    }
    partial = std::move(longer);
  }
  for (Values& values : partial) {
    if (space_.Legal(values)) legal_.push_back(std::move(values));
  }
}

bool NumberSearch::Fresh(const Values& values) const { return !tried_.contains(values); }

void NumberSearch::Draw(Values& values) {
  for (std::size_t axis = 0; axis < values.size(); ++axis) {
    const std::vector<std::int64_t>& all = space_.tunables[axis].values;
    // Not std::uniform_int_distribution, whose results differ between libraries.
    values[axis].second = all[random_() % all.size()];
  }
}

std::optional<Values> NumberSearch::RandomPoint() {
  if (enumerated_) {
    std::vector<const Values*> fresh;
    for (const Values& values : legal_) {
      if (Fresh(values)) fresh.push_back(&values);
    }
    if (fresh.empty()) return std::nullopt;
    return *fresh[random_() % fresh.size()];
  }
  const std::mt19937_64 before = random_;
  Values values = space_.Default();
  for (int i = 0; i < kDraws; ++i) {
    Draw(values);
    if (Fresh(values) && space_.Legal(values)) return values;
  }
  // As if it had not been asked: so that asking once more changes no later answer.
  random_ = before;
  return std::nullopt;
}

std::optional<Values> NumberSearch::DescentPoint() const {
  for (std::size_t axis = 0; axis < space_.tunables.size(); ++axis) {
    const records::Tunable& tunable = space_.tunables[axis];
    const std::size_t at = IndexOf(tunable, centre_[axis].second);
    for (const std::size_t next : {at + 1, at - 1}) {
      if (next >= tunable.values.size()) continue;
      Values values = centre_;
      values[axis].second = tunable.values[next];
      if (Fresh(values) && space_.Legal(values)) return values;
    }
  }
  return std::nullopt;
}

std::optional<Values> NumberSearch::Next() {
  if (space_.tunables.empty()) return std::nullopt;
  std::optional<Values> point;
  if (random_left_ > 0) {
    point = RandomPoint();
    if (point) --random_left_;
  } else {
    point = DescentPoint();
    if (!point) {
      // While results are outstanding who asks ahead gets a point that may be of use anyway.
      point = RandomPoint();
      if (pending_ == 0) restart_ = point;
    }
  }
  if (!point) return std::nullopt;
  tried_[*point] = std::nullopt;
  ++pending_;
  return point;
}

void NumberSearch::Report(const Values& values, std::optional<double> speedup) {
  const auto found = tried_.find(values);
  if (found == tried_.end() || found->second) return;
  found->second = speedup.value_or(0.0);
  --pending_;
  ++without_gain_;
  if (restart_ && *restart_ == values) {
    restart_.reset();
    if (speedup) {
      centre_ = values;
      centre_speedup_ = *speedup;
    }
  }
  if (!speedup) return;
  if (*speedup > centre_speedup_) {
    centre_ = values;
    centre_speedup_ = *speedup;
  }
  if (*speedup > best_speedup_) {
    best_ = values;
    best_speedup_ = *speedup;
    without_gain_ = 0;
  }
}

}  // namespace cupilot::search
