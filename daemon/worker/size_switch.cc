#include "worker/size_switch.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace cupilot::worker {
namespace {

constexpr std::int64_t kLargestBlock = 1024;  // of CUDA
constexpr std::int64_t kGreatest = std::numeric_limits<std::int64_t>::max();

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Integers of a text, decimal or not, in any order, and of two with `<<` or `*` between them what
// that gives.
std::set<std::int64_t> IntegersOf(const std::string& text) {
  std::set<std::int64_t> found;
  std::int64_t before = 0;
  std::string between = "none";  // since the integer before, without spaces
  for (std::size_t at = 0; at < text.size();) {
    const bool digit = std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    if (!digit || (at > 0 && (IsWordCharacter(text[at - 1]) || text[at - 1] == '.'))) {
      if (std::isspace(static_cast<unsigned char>(text[at])) == 0) between += text[at];
      ++at;
      continue;
    }
    std::string digits;
    for (; at < text.size() && (IsWordCharacter(text[at]) || text[at] == '\''); ++at) {
      if (text[at] != '\'') digits += text[at];
    }
    // What is beyond is the greatest one; it is no size.
    const std::int64_t value = std::strtoll(digits.c_str(), nullptr, 0);
    found.insert(value);
    if (between == "<<" && value < 62 && before <= kGreatest >> value)
      found.insert(before << value);
    if (between == "*" && (value == 0 || before <= kGreatest / value)) found.insert(before * value);
    before = value;
    between.clear();
  }
  return found;
}

std::vector<std::pair<std::int64_t, std::int64_t>> QuantitiesOf(const CasePlan& large,
                                                                const CasePlan& small) {
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  for (const auto& [name, value] : large.environment.integers) {
    const auto other = small.environment.integers.find(name);
    if (other != small.environment.integers.end()) all.emplace_back(other->second, value);
  }
  for (std::size_t r = 0; r < large.layout.regions.size() && r < small.layout.regions.size(); ++r) {
    const Region &a = small.layout.regions[r], &b = large.layout.regions[r];
    all.emplace_back(ComponentsOf(a), ComponentsOf(b));
    all.emplace_back(a.bytes(), b.bytes());
  }
  const auto threads = [](const CasePlan& plan) {
    std::int64_t count = 1;
    for (const auto& sizes : {plan.grid, plan.block}) {
      for (const std::int64_t size : sizes) count *= size;
    }
    return count;
  };
  all.emplace_back(threads(small), threads(large));
  return all;
}

std::vector<std::string_view> KernelsOf(const Program& program) {
  std::vector<std::string_view> kernels;
  kernels.reserve(program.steps.size());
  for (const Step& step : program.steps) kernels.push_back(step.kernel);
  return kernels;
}

}  // namespace

std::string WhySizesDiffer(const records::Kernel& kernel, const records::Variant& variant,
                           const SizedProgram& large, const SizedProgram& small) {
  if (KernelsOf(large.program) != KernelsOf(small.program)) {
    return "the candidate launches other kernels at a smaller size";
  }
  const std::set<std::int64_t> known = IntegersOf(kernel.closure_source);
  const auto quantities = QuantitiesOf(large.original, small.original);
  std::set<std::int64_t> named = IntegersOf(variant.source);
  for (const auto& [name, value] : variant.values) {
    if (value.is_number_integer()) named.insert(value.get<std::int64_t>());
  }
  for (const std::int64_t number : named) {
    if (number <= kLargestBlock || known.count(number) != 0) continue;
    const bool between = std::any_of(quantities.begin(), quantities.end(), [&](const auto& sizes) {
      return sizes.first <= number && number <= sizes.second;
    });
    if (!between) continue;
    return "the candidate's source names " + std::to_string(number) +
           ", which only a larger size than one to look at instead reaches";
  }
  return {};
}

}  // namespace cupilot::worker
