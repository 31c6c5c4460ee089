#include "search/evolution/task.h"

namespace cupilot::search::evolution {

Result Result::Pending() {
  Result result;
  result.kind = Kind::kPending;
  return result;
}

Result Result::Plans(std::vector<Plan> plans) {
  Result result;
  result.kind = Kind::kPlans;
  result.plans = std::move(plans);
  return result;
}

Result Result::Variant(VariantFacts variant) {
  Result result;
  result.kind = Kind::kVariant;
  result.variant = std::move(variant);
  return result;
}

Result Result::Nothing(std::string reason) {
  Result result;
  result.kind = Kind::kNothing;
  result.reason = std::move(reason);
  return result;
}

Result Result::Unanswered(std::string reason) {
  Result result;
  result.kind = Kind::kUnanswered;
  result.reason = std::move(reason);
  return result;
}

Result Result::Votes(int same, int other) {
  Result result;
  result.kind = Kind::kVotes;
  result.same = same;
  result.other = other;
  return result;
}

Result Result::Of(Evidence evidence, std::int64_t evaluations) {
  Result result;
  result.kind = Kind::kEvidence;
  result.evidence = std::move(evidence);
  result.evaluations = evaluations;
  return result;
}

Result Result::Aligned(records::Strategy strategy) {
  Result result;
  result.kind = Kind::kAligned;
  result.aligned = std::move(strategy);
  return result;
}

std::string Cut(std::string text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  text.resize(bytes);
  return text;
}

}  // namespace cupilot::search::evolution
