#include "search/size_classes.h"

#include <algorithm>

#include "records/launch_names.h"
#include "search/number_space.h"

namespace cupilot::search {
namespace {

constexpr double kWinOverNow = 1.02;  // as the gate demands it
constexpr double kLoss = 0.98;        // of the gate's rule for each case

const CaseSpeedup* Find(const std::vector<CaseSpeedup>& speedups, const std::string& name) {
  const auto found = std::find_if(speedups.begin(), speedups.end(),
                                  [&](const CaseSpeedup& one) { return one.name == name; });
  return found == speedups.end() ? nullptr : &*found;
}

double Now(const Running& running, const std::string& name) {
  const auto found = running.find(name);
  return found == running.end() ? 1.0 : std::max(found->second, 1.0);
}

std::optional<std::int64_t> ValueOf(const SizedCase& one, const std::vector<std::string>& factors) {
  std::int64_t product = 1;
  for (const std::string& factor : factors) {
    const auto found = std::find_if(one.sizes.begin(), one.sizes.end(),
                                    [&](const auto& size) { return size.first == factor; });
    if (found == one.sizes.end() || __builtin_mul_overflow(product, found->second, &product)) {
      return std::nullopt;
    }
  }
  return product;
}

bool IsGeometry(const std::string& name) { return records::IsLaunchName(name); }

// What is compared, the plainest first.
std::vector<std::vector<std::string>> FactorsOf(const SizedCase& one) {
  std::vector<std::string> scalars, geometry;
  for (const auto& [name, value] : one.sizes)
    (IsGeometry(name) ? geometry : scalars).push_back(name);
  std::vector<std::vector<std::string>> all;
  all.reserve(scalars.size());
  for (const std::string& scalar : scalars) all.push_back({scalar});
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    for (std::size_t k = i + 1; k < scalars.size(); ++k) all.push_back({scalars[i], scalars[k]});
  }
  for (const std::string& size : geometry) all.push_back({size});
  all.push_back({"grid_x", "grid_y", "grid_z"});
  return all;
}

std::string TextOf(const std::vector<std::string>& factors) {
  std::string text;
  for (const std::string& factor : factors) text += (text.empty() ? "" : " * ") + factor;
  return text;
}

enum class Verdict { kWins, kNeutral, kLoses };

Verdict VerdictOf(const CaseSpeedup& speedup, double now) {
  if (speedup.least < kLoss) return Verdict::kLoses;
  return speedup.low >= kWinOverNow * now ? Verdict::kWins : Verdict::kNeutral;
}

// The class of one comparison, if winners and losers lie on different sides of it.
std::optional<SizeClass> Compare(const std::vector<SizedCase>& cases,
                                 const std::vector<Verdict>& verdicts,
                                 const std::vector<std::string>& factors) {
  std::vector<std::int64_t> values, winners, losers;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto value = ValueOf(cases[i], factors);
    if (!value) return std::nullopt;
    values.push_back(*value);
    if (verdicts[i] == Verdict::kWins) winners.push_back(*value);
    if (verdicts[i] == Verdict::kLoses) losers.push_back(*value);
  }
  const auto [least, most] = std::minmax_element(winners.begin(), winners.end());
  const auto [low, high] = std::minmax_element(losers.begin(), losers.end());
  const bool above = *least > *high;
  if (!above && *most >= *low) return std::nullopt;
  const std::int64_t bound = above ? *least : *most;
  SizeClass found;
  found.guard = TextOf(factors) + (above ? " >= " : " <= ") + std::to_string(bound);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (above ? values[i] >= bound : values[i] <= bound) found.cases.insert(cases[i].name);
  }
  return found;
}

}  // namespace

std::vector<SizedCase> SizedCasesOf(const records::Kernel& kernel,
                                    const records::Workload& workload) {
  std::vector<SizedCase> cases;
  for (const records::Case& one : workload.cases) {
    const records::Environment environment = EnvironmentOf(one);
    SizedCase sized{one.name, one.weight, {}};
    const auto add = [&](const std::string& name, const std::string& as) {
      const auto found = environment.integers.find(name);
      if (found != environment.integers.end()) sized.sizes.emplace_back(as, found->second);
    };
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      if (kernel.parameters[i].kind != records::ParameterKind::kInteger) continue;
      const std::string position = "$" + std::to_string(i);
      add(position, records::NameInExpressions(kernel, i));
    }
    for (const char* name :
         {"grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "shared_bytes"}) {
      add(name, name);
    }
    cases.push_back(std::move(sized));
  }
  return cases;
}

std::vector<CaseSpeedup> SpeedupsOf(const std::vector<records::CaseResult>& results) {
  std::vector<CaseSpeedup> speedups;
  for (const records::CaseResult& result : results) {
    if (result.admitted && result.speedup <= 0) continue;  // verified, and not measured
    const auto known = std::find_if(speedups.begin(), speedups.end(),
                                    [&](const CaseSpeedup& s) { return s.name == result.name; });
    if (known == speedups.end()) {
      speedups.push_back(
          {result.name, result.speedup, result.interval[0], result.speedup, result.admitted});
      continue;
    }
    known->least = std::min(known->least, result.speedup);
    if (result.speedup <= known->speedup) continue;
    known->speedup = result.speedup;
    known->low = result.interval[0];
  }
  return speedups;
}

std::optional<SizeClass> FindSizeClass(const std::vector<SizedCase>& cases,
                                       const std::vector<CaseSpeedup>& speedups,
                                       const Running& running) {
  std::vector<Verdict> verdicts;
  for (const SizedCase& one : cases) {
    const CaseSpeedup* speedup = Find(speedups, one.name);
    if (speedup == nullptr || !speedup->admitted) return std::nullopt;
    verdicts.push_back(VerdictOf(*speedup, Now(running, one.name)));
  }
  for (const Verdict verdict : {Verdict::kWins, Verdict::kLoses}) {
    if (std::find(verdicts.begin(), verdicts.end(), verdict) == verdicts.end()) return std::nullopt;
  }
  for (const std::vector<std::string>& factors : FactorsOf(cases.front())) {
    if (auto found = Compare(cases, verdicts, factors)) return found;
  }
  return std::nullopt;
}

double GainOf(const std::vector<SizedCase>& cases, const SizeClass& of,
              const std::vector<CaseSpeedup>& speedups, const Running& running) {
  Running then = running;
  for (const std::string& name : of.cases) {
    const CaseSpeedup* speedup = Find(speedups, name);
    if (speedup != nullptr) then[name] = std::max(Now(running, name), speedup->speedup);
  }
  return GainOf(cases, then);
}

double GainOf(const std::vector<SizedCase>& cases, const Running& running) {
  double before = 0, after = 0;
  for (const SizedCase& one : cases) {
    before += one.weight;
    after += one.weight / Now(running, one.name);
  }
  return after > 0 ? before / after : 1.0;
}

}  // namespace cupilot::search
