// Numbers below a structure: a variant that declares tunables is measured at its default values
// first; once it is known to compute the right thing, the search for numbers looks for better
// values, without a model, one evaluation after the other. The structure counts with the best of
// them. Pure: a function of the variant, the seed and the results.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "records/json.h"
#include "records/variant.h"
#include "search/evolution/task.h"
#include "search/kernel_search.h"
#include "service/job_input.h"

namespace cupilot::service {

class VariantNumbers {
 public:
  // `most`: evaluations, at least one.
  VariantNumbers(const JobInput& input, const search::DeviceLimits& limits,
                 records::Variant variant, std::int64_t most);

  // The next variant to evaluate; nothing: one is outstanding, or it is done.
  std::optional<records::Variant> Next();
  void Report(const search::Outcome& outcome, const search::evolution::Evidence& evidence);
  bool done() const { return done_; }

  // Of one that is done: the best evidence, of which variant, and how many were evaluated.
  const search::evolution::Evidence& evidence() const { return best_; }
  const records::Variant& best() const { return best_variant_; }
  std::int64_t evaluations() const { return evaluations_; }

 private:
  void Begin(double default_speedup);
  records::Variant With(const search::Values& values) const;

  const JobInput& input_;
  const search::DeviceLimits limits_;
  const records::Variant structure_;
  const std::int64_t most_;
  std::unique_ptr<search::NumberSearch> numbers_;  // once the structure is known to be right
  double default_speedup_ = 1;
  std::optional<records::Variant> outstanding_;
  search::Values values_;  // of what is next, or outstanding; empty: the default
  search::evolution::Evidence best_;
  records::Variant best_variant_;
  std::int64_t evaluations_ = 0;
  bool done_ = false;
};

}  // namespace cupilot::service
