#include "workloads/recapture.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

namespace cupilot::workloads {
namespace {

double WeightOf(const std::vector<records::Case>& cases) {
  double weight = 0;
  for (const records::Case& one : cases) weight += one.weight;
  return weight;
}

bool SawTheSame(const records::Case& a, records::Case b) {
  b.name = a.name;
  b.weight = a.weight;
  return a == b;
}

// Of each later case, which of the earlier ones it is; nothing: not all have one. Equal ones are
// told by their names.
std::optional<std::vector<std::size_t>> PairsOf(const std::vector<records::Case>& earlier,
                                                const std::vector<records::Case>& later) {
  if (earlier.size() != later.size()) return std::nullopt;
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> pairs(later.size(), kNone);
  std::vector<bool> taken(earlier.size());
  for (const bool by_name : {true, false}) {
    for (std::size_t i = 0; i < later.size(); ++i) {
      for (std::size_t k = 0; k < earlier.size() && pairs[i] == kNone; ++k) {
        if (taken[k] || (by_name && earlier[k].name != later[i].name)) continue;
        if (!SawTheSame(earlier[k], later[i])) continue;
        taken[k] = true;
        pairs[i] = k;
      }
      if (!by_name && pairs[i] == kNone) return std::nullopt;
    }
  }
  return pairs;
}

std::map<std::string, std::string> LeftOf(const Captured& captured, const std::string& name) {
  const auto found = captured.after.find(name);
  return found == captured.after.end() ? std::map<std::string, std::string>() : found->second;
}

// Where replays gave the same bits each time, and the program now others. What was not reproducible
// is not more so when it differs again. `names`: the later's, and the earlier's.
bool GaveOtherResults(const Captured& earlier, const Captured& later,
                      const std::map<std::string, std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const auto& entry) {
    if (LeftOf(later, entry.first) == LeftOf(earlier, entry.second)) return false;
    return std::any_of(earlier.replays.begin(), earlier.replays.end(), [&](const auto& of_text) {
      const CapturedReplay* replay = earlier.FindReplay(of_text.first, entry.second);
      return replay != nullptr && replay->reason.empty();
    });
  });
}

// The earlier's name of what is the later's, if it has one.
std::string Renamed(const std::string& name, const std::map<std::string, std::string>& names) {
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

template <class OfCase>
void Rename(std::map<std::string, OfCase>& by_case,
            const std::map<std::string, std::string>& names) {
  std::map<std::string, OfCase> renamed;
  for (auto& [name, of_case] : by_case) renamed[Renamed(name, names)] = std::move(of_case);
  by_case = std::move(renamed);
}

}  // namespace

bool TakeSameCases(const Captured& earlier, Captured& later) {
  if (earlier.device != later.device || earlier.cases.empty()) return false;
  const auto pairs = PairsOf(earlier.cases, later.cases);
  const double before = WeightOf(earlier.cases), now = WeightOf(later.cases);
  if (!pairs || before <= 0 || now <= 0) return false;
  std::map<std::string, std::string> names;  // the later's, and the earlier's
  for (std::size_t i = 0; i < later.cases.size(); ++i) {
    const records::Case& known = earlier.cases[(*pairs)[i]];
    const double moved = later.cases[i].weight / now - known.weight / before;
    if (std::fabs(moved) >= kSameShare) return false;
    names[later.cases[i].name] = known.name;
  }
  if (GaveOtherResults(earlier, later, names)) return false;
  for (CapturedLaunches& launches : later.launches) {
    launches.name = Renamed(launches.name, names);
    for (std::string& name : launches.cases) name = Renamed(name, names);
  }
  Rename(later.after, names);
  Rename(later.fits, names);
  later.cases = earlier.cases;
  later.replays = earlier.replays;
  for (auto& [key, replays] : later.replays) {
    std::erase_if(replays, [](const auto& entry) { return entry.second.failed; });
  }
  return true;
}

}  // namespace cupilot::workloads
