#include "worker/admission.h"

namespace cupilot::worker {

records::Environment WithValues(records::Environment environment, const records::Variant& variant) {
  for (const auto& [name, value] : variant.values) {
    if (value.is_number_integer()) environment.integers[name] = value.get<std::int64_t>();
  }
  return environment;
}

bool IsLeftToOriginal(const records::Variant& variant, const CasePlan& plan) {
  if (variant.guard.empty()) return false;
  const auto guard = records::Expression::Parse(variant.guard);
  if (!guard) return false;
  const records::Environment environment = WithValues(plan.environment, variant);
  // One that has no value is no answer, and those behind it may have counted on it.
  for (const records::Expression& conjunct : guard->Conjuncts()) {
    if (conjunct.AsksAddresses()) continue;
    const auto holds = conjunct.Evaluate(environment);
    if (!holds) return false;
    if (*holds == 0) return true;
  }
  return false;
}

Admission Admit(const protocol::CandidateSet& set, const device::Properties& properties) {
  Admission admission;
  for (const records::Case& one : set.workload.cases) {
    const auto plan = PlanCase(set.kernel, one, properties, nullptr);
    if (plan && IsLeftToOriginal(set.variant, *plan)) {
      admission.left.push_back(one.name);
    } else {
      admission.cases.push_back(one);
    }
  }
  return admission;
}

}  // namespace cupilot::worker
