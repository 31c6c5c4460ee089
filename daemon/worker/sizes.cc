#include "worker/sizes.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

#include "base/base64.h"
#include "records/expression.h"
#include "worker/members.h"
#include "worker/unread_texts.h"

namespace cupilot::worker {
namespace {

using Values = std::map<std::string, std::int64_t>;

constexpr std::int64_t kLeastHalved = 64;  // what is smaller stays
constexpr std::size_t kMostScalarPairs = 6;

void AddNames(const std::string& text, std::set<std::string>& names) {
  const auto parsed = records::Expression::Parse(text);
  if (!parsed) return;
  for (const std::string& name : parsed->Names()) names.insert(name);
}

std::set<std::string> NamesOfCounts(const records::Case& one) {
  std::set<std::string> names;
  for (const records::Argument& argument : one.arguments) {
    AddNames(argument.count, names);
    if (argument.fill) AddNames(argument.fill->bytes, names);
  }
  for (const records::Buffer& buffer : one.buffers) AddNames(buffer.bytes, names);
  return names;
}

// The integers among the arguments, by their place.
std::map<std::size_t, std::int64_t> IntegersOf(const records::Kernel& kernel,
                                               const CasePlan& plan) {
  std::map<std::size_t, std::int64_t> values;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (kernel.parameters[i].kind != records::ParameterKind::kInteger) continue;
    const auto value = plan.environment.integers.find("$" + std::to_string(i));
    if (value != plan.environment.integers.end()) values[i] = value->second;
  }
  return values;
}

std::optional<std::int64_t> NumberOf(const std::string& text) {
  if (text.empty() || text.size() > 18 ||
      text.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  return std::stoll(text);
}

// The count by scalars: the simplest way that gives it; empty: none does.
std::string AsScalars(std::int64_t count, const Values& scalars) {
  constexpr std::int64_t kMostTimes = 64;
  for (const auto& [a, va] : scalars) {
    if (va == count) return a;
  }
  for (const auto& [a, va] : scalars) {
    if (va + 1 == count) return a + " + 1";  // where rows begin, and the last one ends
    for (const auto& [b, vb] : scalars) {
      if (a <= b && count % va == 0 && count / va == vb) return a + " * " + b;
    }
  }
  for (const auto& [a, va] : scalars) {
    for (const auto& [b, vb] : scalars) {
      if (count % va != 0 || count / va % vb != 0) continue;
      const auto is_rest = [rest = count / va / vb](const auto& c) { return c.second == rest; };
      const auto c = std::find_if(scalars.begin(), scalars.end(), is_rest);
      if (c != scalars.end()) return a + " * " + b + " * " + c->first;
    }
  }
  std::string most;
  std::int64_t times = kMostTimes + 1;
  const auto take = [&](const std::string& name, std::int64_t value) {
    if (count % value != 0 || count / value >= times) return;
    times = count / value;
    most = std::to_string(times) + " * " + name;
  };
  for (const auto& [a, va] : scalars) {
    take(a, va);
    for (const auto& [b, vb] : scalars) {
      if (a <= b && va <= count / vb) take(a + " * " + b, va * vb);
    }
  }
  return most;
}

bool IsPrime(std::int64_t value) {
  for (std::int64_t divisor = 2; divisor * divisor <= value; ++divisor) {
    if (value % divisor == 0) return false;
  }
  return value > 1;
}

std::int64_t PrimeUpTo(std::int64_t value) {
  while (value > 2 && !IsPrime(value)) --value;
  return value;
}

// The grid of other values, where it is the tag's launch line that says it.
class LaunchLine {
 public:
  LaunchLine(const records::Kernel& kernel, const CasePlan& plan) : kernel_(kernel), plan_(plan) {
    holds_ = !kernel.launch_grid.empty() && GridOf({}) == Grid(plan.grid);
  }

  bool holds() const { return holds_; }

  std::optional<std::vector<std::string>> GridFor(const Values& values) const {
    const auto grid = GridOf(values);
    if (!grid) return std::nullopt;
    std::vector<std::string> texts;
    for (const std::int64_t size : *grid) texts.push_back(std::to_string(size));
    return texts;
  }

 private:
  using Grid = std::array<std::int64_t, 3>;

  std::optional<Grid> GridOf(const Values& values) const {
    records::Environment environment = plan_.environment;
    for (const records::Tunable& tunable : kernel_.tunables) {
      environment.integers[tunable.name] = tunable.default_value;
    }
    for (const auto& [name, value] : values) environment.integers[name] = value;
    Grid grid{1, 1, 1};
    for (std::size_t i = 0; i < grid.size() && i < kernel_.launch_grid.size(); ++i) {
      const auto size = records::EvaluateText(kernel_.launch_grid[i], environment);
      if (!size) return std::nullopt;
      grid[i] = *size;
    }
    return grid;
  }

  const records::Kernel& kernel_;
  const CasePlan& plan_;
  bool holds_ = false;
};

class SizeMaker {
 public:
  // `alike`: who has a size's value is that size, too.
  SizeMaker(const records::Kernel& kernel, const records::Case& workload, const CasePlan& plan,
            bool alike = false)
      : workload_(workload), plan_(plan), line_(kernel, plan) {
    const std::set<std::string> counts = NamesOfCounts(workload);
    const auto values = IntegersOf(kernel, plan);
    for (const auto& [i, value] : values) {
      const std::string& name = kernel.parameters[i].name;
      if (!counts.contains(name) || value <= 1) continue;
      const auto same = [value = value](const Size& size) { return size.value == value; };
      if (alike && std::any_of(sizes_.begin(), sizes_.end(), same)) continue;
      sizes_.push_back({{i}, name, value});
      for (const auto& [k, other] : values) {
        if (alike && k != i && other == value) sizes_.back().arguments.push_back(k);
      }
    }
    std::set<std::string> grid;
    for (const std::string& text : workload.grid) AddNames(text, grid);
    for (const Size& size : sizes_) grows_ = grows_ || grid.contains(size.name);
    grows_ = grows_ || line_.holds();
  }

  std::vector<records::Case> Run() {
    const std::int64_t block = plan_.block[0] * plan_.block[1] * plan_.block[2];
    AddJoint({1, 1, 1});
    AddJoint({37, 53, 17});
    for (const Size& size : sizes_) {
      Add({{size.name, 1}});
      Add({{size.name, 0}});
      Add({{size.name, PrimeUpTo(size.value / 2)}});
      if (size.value > 2 * block) Add({{size.name, block + 1}});
    }
    for (const Size& size : sizes_) {
      Add({{size.name, size.value - 1}});
      Add({{size.name, size.value + 1}});
    }
    return std::move(cases_);
  }

  // Nothing: there is nothing left to halve.
  std::optional<records::Case> Halved(Values& values) {
    const Size* largest = nullptr;
    std::int64_t of_largest = kLeastHalved;
    for (const Size& size : sizes_) {
      const auto [value, first] = values.try_emplace(size.name, size.value);
      if (value->second <= of_largest) continue;
      largest = &size;
      of_largest = value->second;
    }
    if (largest == nullptr) return std::nullopt;
    values[largest->name] = (of_largest + 1) / 2;
    cases_.clear();
    Values changed = values;
    for (const Size& size : sizes_) {
      if (changed[size.name] == size.value) changed.erase(size.name);
    }
    Add(changed);
    return cases_.empty() ? std::nullopt : std::optional(std::move(cases_.front()));
  }

 private:
  struct Size {
    std::vector<std::size_t> arguments;
    std::string name;
    std::int64_t value;
  };

  // All sizes at once.
  void AddJoint(const std::array<std::int64_t, 3>& values) {
    if (sizes_.size() < 2) return;
    Values joint;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      joint[sizes_[i].name] = values[i % values.size()];
    }
    Add(joint);
  }

  void Add(const Values& values) {
    records::Case one = workload_;
    std::string what;
    for (const Size& size : sizes_) {
      const auto value = values.find(size.name);
      if (value == values.end()) continue;
      if (value->second == size.value || value->second < 0) return;
      if (value->second > size.value && !grows_) return;
      for (const std::size_t argument : size.arguments) {
        one.arguments[argument].value = std::to_string(value->second);
      }
      what += ", " + size.name + " = " + std::to_string(value->second);
    }
    if (line_.holds()) {
      auto grid = line_.GridFor(values);
      if (!grid) return;
      one.grid = std::move(*grid);
    }
    one.name += what;
    const bool known = std::any_of(cases_.begin(), cases_.end(),
                                   [&](const auto& other) { return other.name == one.name; });
    if (!what.empty() && !known) cases_.push_back(std::move(one));
  }

  const records::Case& workload_;
  const CasePlan& plan_;
  const LaunchLine line_;
  std::vector<Size> sizes_;
  bool grows_ = false;
  std::vector<records::Case> cases_;
};

// Addresses lie where they lie in a buffer of its own size.
bool HasAddressesInside(const records::Case& one) {
  const auto of_buffer = [](const records::Buffer& buffer) { return !buffer.pointers.empty(); };
  const auto of_argument = [](const records::Argument& argument) {
    const bool behind =
        !argument.buffer.empty() && argument.offset != "0" && !argument.offset.empty();
    return behind || !argument.pointers.empty();
  };
  return std::any_of(one.buffers.begin(), one.buffers.end(), of_buffer) ||
         std::any_of(one.arguments.begin(), one.arguments.end(), of_argument);
}

// Of a case's buffer, as the first argument that leads there says.
std::int64_t ElementBytes(const records::Kernel& kernel, const records::Case& one,
                          const std::string& buffer) {
  for (std::size_t i = 0; i < one.arguments.size(); ++i) {
    if (one.arguments[i].buffer == buffer) {
      return std::max<std::int64_t>(1, kernel.parameters[i].element_bytes);
    }
  }
  return 1;
}

// True: the count is now an expression over scalars.
bool NameCount(records::Size& count, std::int64_t unit, const Values& scalars) {
  const auto number = NumberOf(count);
  if (!number || *number % unit != 0) return false;
  const std::string text = AsScalars(*number / unit, scalars);
  if (text.empty()) return false;
  count = unit == 1 ? text : "(" + text + ") * " + std::to_string(unit);
  return true;
}

void NameGrid(records::Case& one, const CasePlan& plan, const Values& scalars) {
  for (std::size_t d = 0; d < one.grid.size() && d < plan.block.size(); ++d) {
    const auto blocks = NumberOf(one.grid[d]);
    if (!blocks || *blocks <= 1) continue;
    const std::string block = std::to_string(plan.block[d]);
    for (const auto& [name, value] : scalars) {
      if (value == *blocks) {
        one.grid[d] = name;
      } else if ((value + plan.block[d] - 1) / plan.block[d] == *blocks) {
        one.grid[d] = "ceil_div(" + name + ", " + block + ")";
      }
    }
  }
}

// Counts and a grid that are numbers as expressions over those scalars that say them.
std::optional<records::Case> WithGuessedSizes(const records::Kernel& kernel,
                                              const records::Case& workload, const CasePlan& plan) {
  if (HasAddressesInside(workload)) return std::nullopt;
  Values scalars;
  for (const auto& [i, value] : IntegersOf(kernel, plan)) {
    if (value >= kLeastHalved) scalars[kernel.parameters[i].name] = value;
  }
  records::Case named = workload;
  bool any = false;
  for (records::Argument& argument : named.arguments) {
    any = NameCount(argument.count, 1, scalars) || any;
  }
  for (records::Buffer& buffer : named.buffers) {
    any = NameCount(buffer.bytes, ElementBytes(kernel, workload, buffer.name), scalars) || any;
  }
  if (!any) return std::nullopt;
  NameGrid(named, plan, scalars);
  return named;
}

std::optional<records::Case> Shrunk(const records::Kernel& kernel, SizeMaker maker,
                                    const device::Properties& device, std::int64_t most_bytes) {
  Values values;
  while (auto smaller = maker.Halved(values)) {
    const auto planned = PlanCase(kernel, *smaller, device, nullptr);
    if (planned && planned->layout.bytes <= most_bytes) return smaller;
  }
  return std::nullopt;
}

}  // namespace

std::vector<records::Case> OtherSizes(const records::Kernel& kernel, const records::Case& workload,
                                      const CasePlan& plan) {
  return SizeMaker(kernel, workload, plan).Run();
}

std::optional<records::Case> SmallerSize(const records::Kernel& kernel,
                                         const records::Case& workload, const CasePlan& plan,
                                         const device::Properties& device,
                                         std::int64_t most_bytes) {
  return Shrunk(kernel, SizeMaker(kernel, workload, plan), device, most_bytes);
}

std::optional<records::Case> SmallerByGuess(const records::Kernel& kernel,
                                            const records::Case& workload, const CasePlan& plan,
                                            const device::Properties& device,
                                            std::int64_t most_bytes) {
  const auto named = WithGuessedSizes(kernel, workload, plan);
  if (!named) return std::nullopt;
  return Shrunk(kernel, SizeMaker(kernel, *named, plan, true), device, most_bytes);
}

std::vector<records::Case> OtherScalars(const records::Kernel& kernel,
                                        const records::Case& workload, const CasePlan& plan,
                                        const std::vector<double>& numbers) {
  std::vector<records::Case> cases;
  const auto add = [&](const std::string& name, double v, const auto& put) {
    if (!std::isfinite(v)) return;
    // Beside it, of the other sign, zero, and of other magnitudes: where a branch on it may be.
    std::vector<double> others = {1.25 * v + 0.125, 0.5 * v - 0.0625, -v, -10 * v,
                                  1000 * v,         1e6 * v,          0.0};
    others.insert(others.end(), numbers.begin(), numbers.end());
    for (const double other : others) {
      if (other == v) continue;
      char text[32];
      std::snprintf(text, sizeof text, "%.9g", other);
      cases.push_back(workload);
      put(cases.back(), other, text);
      cases.back().name += ", " + name + " = " + text;
    }
  };
  const auto number = [&](std::size_t i) -> std::optional<double> {
    const auto value = plan.environment.floats.find("$" + std::to_string(i));
    if (value == plan.environment.floats.end()) return std::nullopt;
    return value->second;
  };
  // As another one: a cube's edges.
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < workload.arguments.size(); ++i) {
    for (std::size_t k = 0; k < workload.arguments.size() && pairs < kMostScalarPairs; ++k) {
      if (i == k || !number(i) || !number(k) || number(i) == number(k)) continue;
      ++pairs;
      cases.push_back(workload);
      cases.back().arguments[i].value = workload.arguments[k].value;
      cases.back().name += ", " + kernel.parameters[i].name + " = " + kernel.parameters[k].name;
    }
  }
  for (std::size_t i = 0; i < workload.arguments.size(); ++i) {
    const records::Parameter& parameter = kernel.parameters[i];
    if (const auto value = number(i)) {
      add(parameter.name, *value,
          [&](records::Case& one, double, const char* text) { one.arguments[i].value = text; });
    }
    const auto bytes = base::DecodeBase64(workload.arguments[i].bytes);
    if (bytes) {
      const auto changed = WithOtherTexts(*bytes, parameter, kernel);
      if (changed != *bytes) {
        cases.push_back(workload);
        cases.back().name += ", other texts in " + parameter.name;
        cases.back().arguments[i].bytes =
            base::EncodeBase64({reinterpret_cast<const char*>(changed.data()), changed.size()});
      }
    }
    for (const records::Parameter::Member& member : parameter.members) {
      if (!bytes || member.kind != records::ParameterKind::kFloating) continue;
      const auto of_member = NumberAt(*bytes, member);
      if (!of_member) continue;
      add(parameter.name + "." + member.name, *of_member,
          [&](records::Case& one, double other, const char*) {
            const auto changed = WithNumber(*bytes, member, other);
            one.arguments[i].bytes =
                base::EncodeBase64({reinterpret_cast<const char*>(changed.data()), changed.size()});
          });
    }
  }
  return cases;
}

}  // namespace cupilot::worker
