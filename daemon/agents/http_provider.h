// A service that is asked over HTTP: one of the wire formats over the loop's client, with time
// limits, a limit of bytes, and requests that are sent again where that costs nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "agents/alarms.h"
#include "agents/back_off.h"
#include "agents/provider.h"
#include "agents/wire_format.h"
#include "base/clock.h"
#include "base/secret.h"
#include "loop/http_client.h"

namespace cupilot::agents {

// What all calls share; all must outlive the provider.
struct HttpSurroundings {
  loop::HttpClient& client;
  Alarms& alarms;
  const base::Clock& clock;
  base::UniqueFunction<double()>& random;  // evenly from [0, 1)
};

class HttpProvider final : public Provider {
 public:
  struct Settings {
    std::string kind{};     // "openai", "anthropic", "ollama", or what the user calls it
    std::string address{};  // "https://api.openai.com"; the format's path is added
    base::Secret key{};     // may be empty
    bool costs = true;      // false: nobody charges for its tokens
    // Without a first piece, and between pieces; services that think send signs of life.
    std::chrono::milliseconds silence{300'000};
    std::chrono::milliseconds total{1'200'000};  // of one attempt
    std::size_t max_bytes = 16u << 20;           // of an answer's body, with what frames it
    BackOff back_off{};
  };

  // kInvalidArgument for an address that is none, and for a key that would go over an unencrypted
  // connection to another machine.
  static base::Result<std::unique_ptr<HttpProvider>> Create(HttpSurroundings surroundings,
                                                            std::unique_ptr<WireFormat> format,
                                                            Settings settings);

  const std::string& name() const override { return name_; }
  ProviderTraits traits() const override { return {true, settings_.costs}; }
  std::string Bytes(const ModelRequest& request) const override;
  std::unique_ptr<ModelCall> Send(ModelRequest request, TextHandler on_text,
                                  AnswerHandler done) override;

 private:
  class Call;
  HttpProvider(HttpSurroundings surroundings, std::unique_ptr<WireFormat> format, Settings settings,
               std::string name);

  HttpSurroundings surroundings_;
  std::unique_ptr<WireFormat> format_;
  Settings settings_;
  std::string name_;
};

}  // namespace cupilot::agents
