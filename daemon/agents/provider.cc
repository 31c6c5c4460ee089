#include "agents/provider.h"

#include <array>
#include <utility>

#include "base/hash.h"

namespace cupilot::agents {
namespace {

constexpr std::array<std::pair<Failure, std::string_view>, 20> kFailureNames = {{
    {Failure::kRateLimited, "rate_limited"},
    {Failure::kOverloaded, "overloaded"},
    {Failure::kNoMoney, "no_money"},
    {Failure::kRefused, "refused"},
    {Failure::kTimeout, "timeout"},
    {Failure::kMalformed, "malformed"},
    {Failure::kTooLarge, "too_large"},
    {Failure::kTruncated, "truncated"},
    {Failure::kUnauthorised, "unauthorised"},
    {Failure::kUnknownModel, "unknown_model"},
    {Failure::kUnreachable, "unreachable"},
    {Failure::kBroken, "broken"},
    {Failure::kRejected, "rejected"},
    {Failure::kPending, "pending"},
    {Failure::kMissing, "missing"},
    {Failure::kNotAllowed, "not_allowed"},
    {Failure::kUnknownPrice, "unknown_price"},
    {Failure::kOverLimit, "over_limit"},
    {Failure::kCancelled, "cancelled"},
    {Failure::kInternal, "internal"},
}};

}  // namespace

std::string_view Name(Failure failure) {
  for (const auto& [one, name] : kFailureNames) {
    if (one == failure) return name;
  }
  return "internal";
}

Failure FailureOf(std::string_view name) {
  for (const auto& [one, text] : kFailureNames) {
    if (text == name) return one;
  }
  return Failure::kInternal;
}

std::string RequestKey(const ModelRequest& request) {
  base::Hasher hasher;
  hasher.Add(request.role).Add(request.model).Add(request.system).Add(request.prompt);
  hasher.Add(request.schema_name).Add(records::CanonicalJson(request.schema));
  hasher.Add(std::to_string(request.max_tokens));
  hasher.Add(request.temperature ? records::CanonicalJson(*request.temperature) : "");
  hasher.Add(request.seed ? std::to_string(*request.seed) : "");
  hasher.Add(std::to_string(request.sample));
  return hasher.Hex();
}

}  // namespace cupilot::agents
