#include "service/kernel_workload.h"

#include <algorithm>

#include "service/catalog.h"

namespace cupilot::service {

std::string JobKey(const records::Kernel& kernel, const std::string& numerics, const Place& place) {
  return kernel.key + "/" + WorkloadHash(WorkloadAt(kernel, place)) + "/" + numerics + "/" +
         KeyOf(place);
}

records::Workload WorkloadOf(const records::Kernel& kernel) {
  records::Workload workload;
  workload.kernel = kernel.name;
  workload.cases = kernel.cases;
  workload.tolerance = kernel.tolerance;
  return workload;
}

records::Workload WorkloadAt(const records::Kernel& kernel, const Place& place) {
  records::Workload workload = WorkloadOf(kernel);
  const auto found = place.too_long.find(kernel.key);
  if (found == place.too_long.end()) return workload;
  std::erase_if(workload.cases,
                [&](const records::Case& one) { return found->second.contains(one.name); });
  return workload;
}

std::optional<double> MeasuredSpeedup(const records::Evaluation& evaluation) {
  if (evaluation.speedup) return evaluation.speedup;
  for (const char* name : {"confirm", "measure"}) {
    const auto it = evaluation.metrics.find(name);
    if (it == evaluation.metrics.end() || !it->is_object()) continue;
    const auto speedup = it->find("speedup");
    if (speedup != it->end() && speedup->is_number()) return speedup->get<double>();
  }
  // No one number was stated: it is not faster than where it is slowest.
  std::optional<double> least;
  for (const records::CaseResult& result : evaluation.cases) {
    if (result.speedup <= 0 || !result.admitted) continue;
    least = std::min(least.value_or(result.speedup), result.speedup);
  }
  return least;
}

const records::Case& HeaviestCase(const records::Workload& workload) {
  return *std::max_element(
      workload.cases.begin(), workload.cases.end(),
      [](const records::Case& a, const records::Case& b) { return a.weight < b.weight; });
}

double LeastFloorShare(const records::Workload& workload, const records::Evaluation& evaluation) {
  double least = 1;
  for (const records::Case& one : workload.cases) {
    const auto& results = evaluation.cases;
    const auto it = std::find_if(results.begin(), results.end(), [&](const auto& result) {
      return result.name == one.name && result.floor_us > 0;
    });
    if (it == results.end() || it->variant_us <= 0) return 0;
    least = std::min(least, it->floor_us / it->variant_us);
  }
  return workload.cases.empty() ? 0 : least;
}

double BeatenBy(const records::Evaluation& evaluation) {
  const auto it = evaluation.metrics.find("beaten_by");
  return it != evaluation.metrics.end() && it->is_number() ? it->get<double>() : 0;
}

}  // namespace cupilot::service
