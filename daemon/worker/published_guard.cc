#include "worker/published_guard.h"

#include <algorithm>
#include <set>

#include "records/launch_names.h"
#include "worker/admission.h"
#include "worker/members.h"
#include "worker/unread_texts.h"

namespace cupilot::worker {
namespace {

using Names = std::vector<std::string>;  // of parameters, in expressions

std::string And(const std::string& a, const std::string& b) {
  return a.empty() ? b : b.empty() ? a : a + " && " + b;
}

bool HasNull(const CasePlan& plan) {
  return std::any_of(plan.references.begin(), plan.references.end(),
                     [](const auto& reference) { return reference && reference->region < 0; });
}

// Which pointers were null, and that the others were not.
std::string NullsOf(const Names& names, const CasePlan& plan) {
  std::string text;
  for (std::size_t i = 0; i < plan.references.size(); ++i) {
    if (!plan.references[i]) continue;
    const std::string null = "is_null(" + names[i] + ")";
    text = And(text, plan.references[i]->region < 0 ? null : "!" + null);
  }
  return text;
}

// An integer in a structure, as it was.
std::string Equals(const std::string& name, const std::vector<std::byte>& bytes,
                   std::int64_t offset, std::int64_t size, bool is_signed) {
  // What is beyond the expressions' integers is met by nothing.
  const auto value = IntegerAt(bytes, offset, size, is_signed);
  return value ? name + " == " + std::to_string(*value) : "1 == 0";
}

// Integers in structures that are passed by value, and those that lambdas capture.
std::string MembersOf(const records::Kernel& kernel, const records::Variant& variant,
                      const Names& names, const CasePlan& plan) {
  std::string text;
  for (std::size_t i = 0; i < kernel.parameters.size() && i < plan.arguments.size(); ++i) {
    const records::Parameter& parameter = kernel.parameters[i];
    const std::vector<std::byte>& bytes = plan.arguments[i].bytes;
    const std::string holder = names[i] + ".";
    const auto made =
        std::find_if(kernel.made_types.begin(), kernel.made_types.end(),
                     [&](const auto& type) { return type.name == parameter.canonical; });
    if (made != kernel.made_types.end()) {
      for (const records::MadeType::Integer& member : made->integers) {
        if (member.offset + member.bytes > static_cast<std::int64_t>(bytes.size())) continue;
        text = And(text, Equals(holder + member.name, bytes, member.offset, member.bytes,
                                member.is_signed));
      }
      continue;
    }
    for (const records::Parameter::Member& member : parameter.members) {
      if (member.kind != records::ParameterKind::kInteger) continue;
      // Other ones were asked instead (worker/sizes.h): guards are published, texts are not.
      if (IsUnread(member, kernel, variant)) continue;
      text = And(
          text, Equals(holder + member.name, bytes, member.offset, member.bytes, member.is_signed));
    }
  }
  return text;
}

std::string BoxOf(const records::Kernel& kernel, const records::Variant& variant,
                  const Names& names, const CasePlan& plan, bool with_nulls) {
  std::string text = with_nulls ? NullsOf(names, plan) : "";
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (kernel.parameters[i].kind != records::ParameterKind::kInteger) continue;
    const auto value = plan.environment.integers.find("$" + std::to_string(i));
    if (value == plan.environment.integers.end()) continue;
    text = And(text, names[i] + " == " + std::to_string(value->second));
  }
  text = And(text, MembersOf(kernel, variant, names, plan));
  static constexpr const char* kNames[] = {"x", "y", "z"};
  for (std::size_t d = 0; d < 3; ++d) {
    text = And(text, std::string("grid_") + kNames[d] + " == " + std::to_string(plan.grid[d]));
    text = And(text, std::string("block_") + kNames[d] + " == " + std::to_string(plan.block[d]));
  }
  text = And(text, "shared_bytes == " + std::to_string(plan.shared_bytes));
  for (std::size_t i = 0; i < plan.references.size(); ++i) {
    if (!plan.references[i] || plan.references[i]->region < 0) continue;
    for (std::size_t j = 0; j < plan.references.size(); ++j) {
      if (j == i || !plan.references[j] || plan.references[j]->region < 0) continue;
      const auto &a = *plan.references[i], &b = *plan.references[j];
      // Each pair once; arguments that lay in one region were verified as they overlap.
      if (!a.written || (b.written && j < i) || a.region == b.region) continue;
      text = And(text, "disjoint(" + names[i] + ", " + std::to_string(a.bytes) + ", " + names[j] +
                           ", " + std::to_string(b.bytes) + ")");
    }
  }
  return text;
}

}  // namespace

std::string PublishedGuard(const records::Kernel& kernel, const records::Variant& variant,
                           const std::vector<CasePlan>& cases) {
  // The hook by itself lets no null pointer through, unless the guard asks is_null: then the guard
  // has to say it of all.
  const bool with_nulls = variant.guard.find("is_null") != std::string::npos ||
                          std::any_of(cases.begin(), cases.end(), HasNull);
  const std::set<std::string> tunables = records::TunableNames(kernel, variant);
  Names names;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    names.push_back(records::NameInExpressions(kernel, i, tunables));
  }
  // Cases may differ in contents alone.
  std::vector<std::string> different;
  for (const CasePlan& plan : cases) {
    std::string box = "(" + BoxOf(kernel, variant, names, plan, with_nulls) + ")";
    if (std::find(different.begin(), different.end(), box) == different.end()) {
      different.push_back(std::move(box));
    }
  }
  std::string boxes;
  for (const std::string& box : different) boxes += (boxes.empty() ? "" : " || ") + box;
  if (different.size() > 1) boxes = "(" + boxes + ")";
  return variant.guard.empty() ? boxes : "(" + variant.guard + ") && " + boxes;
}

bool AdmitsAny(const std::string& guard, const records::Variant& variant,
               const std::vector<CasePlan>& cases) {
  const auto expression = records::Expression::Parse(guard);
  if (!expression) return false;
  return std::any_of(cases.begin(), cases.end(), [&](const CasePlan& plan) {
    return expression->Evaluate(WithValues(plan.environment, variant)).value_or(0) != 0;
  });
}

}  // namespace cupilot::worker
