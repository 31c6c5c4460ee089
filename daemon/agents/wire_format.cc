#include "agents/wire_format.h"

#include <algorithm>
#include <array>

#include "agents/back_off.h"

namespace cupilot::agents {
namespace {

using records::Json;

bool IsOneOf(const std::string& word, const auto& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// What the services call an account that is empty or at its limit, whatever the status: asking
// again does not help. OpenAI: guide on error codes; Anthropic: API errors and rate limits.
constexpr std::array<std::string_view, 9> kMoneyWords = {
    "insufficient_quota",
    "credit_balance_exhausted",
    "organization_spend_limit_exceeded",
    "project_spend_limit_exceeded",
    "organization_usage_limit_exceeded",
    "billing_hard_limit_reached",
    "billing_not_active",
    "billing_error",
    "enforced_spend_limit_reached",
};
// Anthropic has no word for these, only status 400 and a text that begins so.
constexpr std::array<std::string_view, 3> kMoneyTexts = {
    "Your credit balance is too low",
    "You have reached your specified API usage limits",
    "You have reached your specified workspace API usage limits",
};
constexpr std::array<std::string_view, 2> kLengthWords = {"context_length_exceeded",
                                                          "request_too_large"};
constexpr std::array<std::string_view, 2> kFilterWords = {"content_filter",
                                                          "content_policy_violation"};

// The parts of an error document.
struct Said {
  std::string type;
  std::string code;
  std::string message;

  bool Names(const auto& words) const { return IsOneOf(type, words) || IsOneOf(code, words); }
};

Said Parts(const Json& document) {
  Said said;
  if (!document.is_object()) return said;
  const auto found = document.find("error");
  if (found == document.end()) return said;
  if (found->is_string()) {
    said.message = found->get<std::string>();
    return said;
  }
  if (!found->is_object()) return said;
  said.type = records::TextAt(*found, "type");
  said.code = records::TextAt(*found, "code");
  said.message = records::TextAt(*found, "message");
  const std::string detail = records::TextAt(ObjectAt(*found, "details"), "error_code");
  if (!detail.empty()) said.code = detail;
  return said;
}

Failure OfWords(const Said& said, Failure otherwise) {
  if (said.Names(kMoneyWords)) return Failure::kNoMoney;
  for (const std::string_view text : kMoneyTexts) {
    if (said.message.rfind(text, 0) == 0) return Failure::kNoMoney;
  }
  if (said.Names(kLengthWords) || said.message.rfind("prompt is too long", 0) == 0) {
    return Failure::kTooLarge;
  }
  if (said.Names(kFilterWords)) return Failure::kRefused;
  if (said.code == "model_not_found") return Failure::kUnknownModel;
  if (said.type == "overloaded_error" || said.code == "server_is_overloaded") {
    return Failure::kOverloaded;
  }
  if (said.type == "rate_limit_error" || said.code == "rate_limit_exceeded" ||
      said.code == "slow_down") {
    return Failure::kRateLimited;
  }
  return otherwise;
}

Failure OfStatus(int status) {
  switch (status) {
    case 401:
    case 403:
      return Failure::kUnauthorised;
    case 402:
      return Failure::kNoMoney;
    case 404:
      return Failure::kUnknownModel;
    case 408:
    case 409:
    case 425:
      return Failure::kOverloaded;
    case 413:
      return Failure::kTooLarge;
    case 429:
      return Failure::kRateLimited;
    default:
      return status >= 500 ? Failure::kOverloaded : Failure::kRejected;
  }
}

}  // namespace

std::string ShortText(std::string_view text) {
  constexpr std::size_t kMost = 300;
  std::string line;
  for (const char c : text.substr(0, kMost)) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (!control) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  // Not in the midst of a character.
  while (text.size() > kMost && !line.empty() && (line.back() & 0x80) != 0) line.pop_back();
  return line;
}

ModelError ErrorOfStatus(int status, const std::map<std::string, std::string>& headers,
                         std::string_view body, std::chrono::nanoseconds now) {
  Said said;
  if (const auto document = records::ParseJson(body)) said = Parts(*document);
  ModelError error;
  error.why = OfWords(said, OfStatus(status));
  if (error.why != Failure::kNoMoney) error.retry_after = RetryAfter(headers, now);
  error.message = "status " + std::to_string(status);
  // What a service says of a wrong key shows a part of it.
  if (error.why != Failure::kUnauthorised && !said.message.empty()) {
    error.message += ": " + ShortText(said.message);
  }
  return error;
}

ModelError ErrorWithin(const Json& document) {
  const Said said = Parts(document);
  ModelError error;
  error.why = OfWords(said, Failure::kOverloaded);
  error.message = "error within the answer: " + ShortText(said.message);
  error.may_cost = true;
  return error;
}

ModelError Malformed(std::string message) {
  ModelError error;
  error.why = Failure::kMalformed;
  error.message = std::move(message);
  error.may_cost = true;
  return error;
}

std::int64_t TokensAt(const Json& object, const char* key) {
  // Beyond any model's; keeps sums and prices far from overflow.
  constexpr std::int64_t kMost = 100'000'000;
  if (!object.is_object()) return 0;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return 0;
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > kMost) return kMost;
  return std::clamp<std::int64_t>(found->get<std::int64_t>(), 0, kMost);
}

const Json& ObjectAt(const Json& json, const char* key) {
  static const Json empty = Json::object();
  if (!json.is_object()) return empty;
  const auto found = json.find(key);
  return found == json.end() || !found->is_object() ? empty : *found;
}

}  // namespace cupilot::agents
