// Anthropic's messages (POST /v1/messages, streamed). Source: Anthropic's API documentation,
// "Messages", "Streaming messages", "Stop reasons", "Structured outputs".
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "agents/wire_format.h"

namespace cupilot::agents {

// The service takes no seed: a request's is not sent.
class AnthropicFormat final : public WireFormat {
 public:
  WireRequest Write(const ModelRequest& request) const override;
  std::unique_ptr<AnswerReader> Read(const ModelRequest& request) const override;
  std::pair<std::string, std::string> KeyHeader(const std::string& key) const override;

  // The body of a request; a batch's lines hold the same without streaming.
  static records::Json Body(const ModelRequest& request, bool stream);
  // A whole message (of a batch's line).
  static ModelResult AnswerOf(const records::Json& message);
  // The header that every request needs.
  static std::pair<std::string, std::string> VersionHeader();
};

}  // namespace cupilot::agents
