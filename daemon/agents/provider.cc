#include "agents/provider.h"

#include "base/hash.h"

namespace cupilot::agents {

std::string_view Name(Failure failure) {
  switch (failure) {
    case Failure::kRateLimited:
      return "rate_limited";
    case Failure::kOverloaded:
      return "overloaded";
    case Failure::kNoMoney:
      return "no_money";
    case Failure::kRefused:
      return "refused";
    case Failure::kTimeout:
      return "timeout";
    case Failure::kMalformed:
      return "malformed";
    case Failure::kTooLarge:
      return "too_large";
    case Failure::kTruncated:
      return "truncated";
    case Failure::kUnauthorised:
      return "unauthorised";
    case Failure::kUnknownModel:
      return "unknown_model";
    case Failure::kUnreachable:
      return "unreachable";
    case Failure::kBroken:
      return "broken";
    case Failure::kRejected:
      return "rejected";
    case Failure::kPending:
      return "pending";
    case Failure::kMissing:
      return "missing";
    case Failure::kNotAllowed:
      return "not_allowed";
    case Failure::kUnknownPrice:
      return "unknown_price";
    case Failure::kOverLimit:
      return "over_limit";
    case Failure::kInternal:
      break;
  }
  return "internal";
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
