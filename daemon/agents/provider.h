// A provider answers a prompt: a language model behind an interface, a program, a folder, or a
// recording. What all have in common, and how they fail.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "base/unique_function.h"
#include "records/json.h"

namespace cupilot::agents {

// What is asked. Texts are UTF-8.
struct ModelRequest {
  std::string role;   // "strategist", "translator", ...: of the prompt's template, with its version
  std::string model;  // as the provider names it
  std::string system;              // may be empty
  std::string prompt;              // not empty
  std::string schema_name;         // of the JSON document that is expected; empty: any text
  records::Json schema = nullptr;  // its JSON schema, for providers that can hold to one; or null
  std::int64_t max_tokens = 4096;  // of the answer, thinking included
  std::optional<double> temperature;  // absent: nothing is said; models that take none refuse it
  std::optional<std::int64_t> seed;   // a wish: no provider promises to hold it
  int sample = 0;  // which of several answers to the same prompt; not sent, part of its identity
  // Whose: for limits, consent and records; never sent.
  std::string project;  // hash of its source folder
  std::string kernel;   // kernel_key
};

// What identifies a request when it is asked again, in another process too: role, model, texts and
// settings, not whose it is. 40 hexadecimal digits.
std::string RequestKey(const ModelRequest& request);

enum class StopReason {
  kEnd,    // the model was done
  kOther,  // a reason that we do not know
};

struct Usage {
  bool known = false;
  std::int64_t input = 0;          // tokens of the prompt, those read from a cache included
  std::int64_t cached_input = 0;   // of them, read from the provider's cache
  std::int64_t written_input = 0;  // of them, written to that cache
  std::int64_t output = 0;         // thinking included
};

struct ModelAnswer {
  std::string text;
  StopReason stop = StopReason::kEnd;
  Usage usage;
  std::string model;  // as the provider names what answered; empty: it did not say
  int attempts = 1;   // requests that were sent for it
  // Of this answer, in billionths of a dollar; 0: it costs nothing, or nobody knows. Set by who
  // knows prices (guarded_provider.h).
  std::int64_t cost = 0;
  bool repeated = false;  // it was given before, and is paid for
};

enum class Failure {
  kRateLimited,  // too many requests; retry_after may say when
  kOverloaded,   // the provider fails for now (500, 503, 529)
  kNoMoney,      // its account is empty or at its limit: asking again does not help
  kRefused,      // the model will not answer, or a filter took the answer
  kTimeout,      // of ours
  kMalformed,    // what came is not an answer
  kTooLarge,     // the answer is longer than the limit of bytes, or the prompt than the model takes
  kTruncated,    // of prompt or answer a part is missing: max_tokens or the model's context
  kUnauthorised,  // no key, a wrong one, or one that may not
  kUnknownModel,
  kUnreachable,   // no connection; nothing was sent
  kBroken,        // the connection, or the program, ended before the answer did
  kRejected,      // the provider says that the request is wrong
  kPending,       // `exchange`: written, and its answer is not there yet
  kMissing,       // `replay`: nothing such was recorded
  kNotAllowed,    // the user has not allowed this provider for this project
  kUnknownPrice,  // nobody knows what it costs, and that is not allowed
  kOverLimit,     // it might cost more than the user's limits leave
  kCancelled,     // by us; only in records
  kInternal,      // ours: a disk that is full, ...
};

// "rate_limited", ...: the names in records and messages.
std::string_view Name(Failure failure);
// That of such a name; kInternal for what is none.
Failure FailureOf(std::string_view name);

struct ModelError {
  Failure why = Failure::kInternal;
  std::string message;  // for people; holds no key
  std::optional<std::chrono::milliseconds> retry_after;
  int attempts = 0;  // requests that were sent
  // True: the provider may charge for it (it worked, and we did not get, or did not want, what it
  // made). Then usage is what is known of it.
  bool may_cost = false;
  Usage usage;
  std::string partial;    // of the answer's text, where there is some
  bool repeated = false;  // it was given before, and what it cost is paid
};

using ModelResult = tl::expected<ModelAnswer, ModelError>;
// A piece of the answer's text, as it comes.
using TextHandler = base::UniqueFunction<void(std::string_view text)>;
using AnswerHandler = base::UniqueFunction<void(ModelResult result)>;

// A request under way. Destroying it cancels it: no callback follows, and its connection or process
// is ended. Its own callbacks may do that.
class ModelCall {
 public:
  virtual ~ModelCall() = default;
};

// What a provider is to money and privacy.
struct ProviderTraits {
  bool sends = true;  // what it is given leaves our hands: needs the user's consent
  bool costs = true;  // by the token: needs a price
  // Answers come hours later, at the service's price for batches: Send says kPending until then.
  bool batch = false;
};

// On the loop thread. Calls are independent of each other and may not outlive their provider.
class Provider {
 public:
  virtual ~Provider() = default;
  // What the user allows and what records name: kind and, where it talks to somebody, to whom:
  // "openai https://api.openai.com", "exchange /home/me/prompts".
  virtual const std::string& name() const = 0;
  virtual ProviderTraits traits() const = 0;
  // The exact bytes that are sent, keys aside, which are no part of them.
  virtual std::string Bytes(const ModelRequest& request) const = 0;
  // `done` is called once, never before Send has returned. `on_text` may be empty.
  virtual std::unique_ptr<ModelCall> Send(ModelRequest request, TextHandler on_text,
                                          AnswerHandler done) = 0;
};

}  // namespace cupilot::agents
