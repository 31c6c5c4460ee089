#include "service/variant_numbers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "search/number_space.h"

namespace cupilot::service {
namespace {

using search::evolution::Evidence;

// Whether it computes the right thing, and was measured.
bool IsMeasured(const Evidence& evidence) {
  return evidence.speedup &&
         (evidence.kind == Evidence::Kind::kAccepted || evidence.reason == "not_faster");
}

bool Beats(const Evidence& a, const Evidence& b) {
  const auto rank = [](const Evidence& one) {
    return one.kind == Evidence::Kind::kAccepted ? 2 : IsMeasured(one) ? 1 : 0;
  };
  if (rank(a) != rank(b)) return rank(a) > rank(b);
  return a.speedup.value_or(0) > b.speedup.value_or(0);
}

}  // namespace

VariantNumbers::VariantNumbers(const JobInput& input, const search::DeviceLimits& limits,
                               records::Variant variant, std::int64_t most)
    : input_(input),
      limits_(limits),
      structure_(std::move(variant)),
      most_(std::max<std::int64_t>(1, most)),
      best_variant_(structure_) {}

std::optional<records::Variant> VariantNumbers::Next() {
  if (done_ || outstanding_) return std::nullopt;
  outstanding_ = evaluations_ == 0 ? structure_ : With(values_);
  return outstanding_;
}

records::Variant VariantNumbers::With(const search::Values& values) const {
  records::Variant variant = structure_;
  std::string title;
  for (const auto& [name, value] : values) {
    variant.values[name] = value;
    title += (title.empty() ? "" : " ") + name + "=" + std::to_string(value);
  }
  if (variant.strategy) variant.strategy->title += " [" + title + "]";
  variant.parents = {structure_.id};
  variant.id = records::VariantId(variant);
  return variant;
}

void VariantNumbers::Report(const search::Outcome& outcome, const Evidence& evidence) {
  if (!outstanding_) return;
  const bool first = evaluations_++ == 0;
  const bool right = IsMeasured(evidence);
  if (first || Beats(evidence, best_)) {
    best_ = evidence;
    best_variant_ = *outstanding_;
  }
  if (first) {
    if (right && !structure_.tunables.empty()) Begin(*evidence.speedup);
  } else {
    // The space's standard point is the default, which is 1 there.
    numbers_->Report(values_,
                     right ? std::optional(*evidence.speedup / default_speedup_) : std::nullopt,
                     outcome.built);
  }
  outstanding_.reset();
  auto values = numbers_ != nullptr && evaluations_ < most_ ? numbers_->Next() : std::nullopt;
  done_ = !values;
  if (values) values_ = std::move(*values);
}

void VariantNumbers::Begin(double default_speedup) {
  search::NumberSpace space = search::SpaceOf(structure_, HeaviestCase(input_.workload));
  if (space.tunables.empty() || default_speedup <= 0) return;
  space.limits = limits_;
  space.multiprocessors = input_.place.identity.sm_count;
  default_speedup_ = default_speedup;
  numbers_ = std::make_unique<search::NumberSearch>(std::move(space), input_.seed, input_.strategy);
}

}  // namespace cupilot::service
