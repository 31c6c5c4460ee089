// Where a strategy wins at some sizes and loses at others: what tells the former by a launch alone,
// so that a variant can be for those. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "records/evaluation.h"
#include "records/kernel.h"
#include "records/workload.h"

namespace cupilot::search {

// The technique that is the last step of such a strategy; its parameter is "guard".
inline constexpr const char* kSizeClass = "size_class";

// A case by what guards may ask of its launches.
struct SizedCase {
  std::string name;
  double weight = 1;
  // Integer scalars in the order of the parameters, then the geometry.
  std::vector<std::pair<std::string, std::int64_t>> sizes;
};
std::vector<SizedCase> SizedCasesOf(const records::Kernel& kernel,
                                    const records::Workload& workload);

// What a candidate reached in a case, over the original.
struct CaseSpeedup {
  std::string name;
  double speedup = 1;
  double low = 1;    // of its interval
  double least = 1;  // of a cold and a warm cache; no loss in one is made up for by the other
  bool admitted = true;
  bool operator==(const CaseSpeedup&) const = default;
};
std::vector<CaseSpeedup> SpeedupsOf(const std::vector<records::CaseResult>& results);

// Speedups of what runs each case now; without an entry the original does.
using Running = std::map<std::string, double>;

struct SizeClass {
  std::string guard;
  std::set<std::string> cases;  // that it admits
};

// One comparison that holds for all cases in which the candidate clearly wins over what runs now
// and for none in which it loses against the original: of a scalar, else of two scalars' product,
// else of the launch's geometry, with the value of the outermost winner. Nothing if nothing loses,
// nothing wins, or nothing tells them apart.
std::optional<SizeClass> FindSizeClass(const std::vector<SizedCase>& cases,
                                       const std::vector<CaseSpeedup>& speedups,
                                       const Running& running);

// The weighted speedup over all cases where each of the class runs the faster of the candidate and
// of what runs now, and the others what runs now.
double GainOf(const std::vector<SizedCase>& cases, const SizeClass& of,
              const std::vector<CaseSpeedup>& speedups, const Running& running);
// The same of what runs now.
double GainOf(const std::vector<SizedCase>& cases, const Running& running);

}  // namespace cupilot::search
