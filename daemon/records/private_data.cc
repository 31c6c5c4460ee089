#include "records/private_data.h"

#include <algorithm>

#include "records/element_values.h"

namespace cupilot::records {
namespace {

bool IsData(const std::optional<Fill>& fill) {
  if (!fill) return false;
  return fill->kind == "file" ||
         std::any_of(fill->inner.begin(), fill->inner.end(),
                     [](const Fill& inner) { return inner.kind == "file"; });
}

bool HoldsDataIn(const Case& one) {
  const auto is_data = [](const auto& part) { return IsData(part.fill); };
  return std::any_of(one.arguments.begin(), one.arguments.end(),
                     [&](const Argument& argument) {
                       return !argument.bytes.empty() || is_data(argument);
                     }) ||
         std::any_of(one.buffers.begin(), one.buffers.end(), is_data) ||
         std::any_of(one.globals.begin(), one.globals.end(), is_data);
}

}  // namespace

bool HoldsData(const Workload& workload) {
  return std::any_of(workload.cases.begin(), workload.cases.end(), HoldsDataIn);
}

bool IsLetter(const Parameter::Member& member) {
  return member.canonical == "char" && member.name.ends_with(']');
}

std::string ArrayOf(const Parameter::Member& member) {
  return member.name.substr(0, member.name.rfind('['));
}

Evaluation WithoutElementValues(Evaluation evaluation) {
  evaluation.detail = WithoutElementValues(evaluation.detail);
  evaluation.guard = WithoutElementValues(evaluation.guard);
  for (Check& check : evaluation.checks) check.detail = WithoutElementValues(check.detail);
  LeaveOutElementValues(evaluation.metrics);
  return evaluation;
}

}  // namespace cupilot::records
