// The interfaces for batches of OpenAI and Anthropic: give lines (batch_format.h), ask how far they
// are, take lines back.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "agents/alarms.h"
#include "agents/http_provider.h"
#include "agents/provider.h"
#include "base/secret.h"
#include "base/unique_function.h"

namespace cupilot::agents {

// On the loop thread; one operation at a time. `done` is called once, never before the operation
// has returned; never after the service is destroyed.
class BatchService {
 public:
  // The service's name of the batch. An error with may_cost: it may have been created all the same.
  using CreatedHandler = base::UniqueFunction<void(tl::expected<std::string, ModelError>)>;
  // Nothing: it goes on. Else the lines of all requests that have come to an end.
  using PolledHandler =
      base::UniqueFunction<void(tl::expected<std::optional<std::string>, ModelError>)>;

  virtual ~BatchService() = default;
  virtual void Create(const std::string& lines, CreatedHandler done) = 0;
  virtual void Poll(const std::string& batch, PolledHandler done) = 0;
};

struct BatchServiceSettings {
  std::string address{};  // "https://api.openai.com"
  base::Secret key{};
  std::chrono::milliseconds limit{600'000};      // of one request
  std::size_t max_bytes = std::size_t{1} << 28;  // of what comes back
};

// Addresses are checked as those of HttpProvider are: kInvalidArgument.
base::Result<std::unique_ptr<BatchService>> MakeOpenAiBatches(HttpSurroundings surroundings,
                                                              BatchServiceSettings settings);
base::Result<std::unique_ptr<BatchService>> MakeAnthropicBatches(HttpSurroundings surroundings,
                                                                 BatchServiceSettings settings);

}  // namespace cupilot::agents
