// OpenAI's chat completions (POST /v1/chat/completions, streamed), and what others made compatible
// with them: llama.cpp's server, vLLM, OpenRouter. Source: OpenAI's API reference, "Chat
// completions" and "Batch" (lines of batch files).
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "agents/wire_format.h"

namespace cupilot::agents {

class OpenAiFormat final : public WireFormat {
 public:
  struct Settings {
    // Where servers know only the older "max_tokens", which OpenAI's newer models refuse.
    bool older_limit = false;
  };
  OpenAiFormat() = default;
  explicit OpenAiFormat(Settings settings) : settings_(settings) {}

  WireRequest Write(const ModelRequest& request) const override;
  std::unique_ptr<AnswerReader> Read(const ModelRequest& request) const override;
  std::pair<std::string, std::string> KeyHeader(const std::string& key) const override;

  // The body of a request; a batch's lines hold the same without streaming.
  records::Json Body(const ModelRequest& request, bool stream) const;
  // A whole completion (of a batch's line, or of a server that does not stream).
  static ModelResult AnswerOf(const records::Json& completion);

 private:
  Settings settings_;
};

}  // namespace cupilot::agents
