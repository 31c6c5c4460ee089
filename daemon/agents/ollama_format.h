// Ollama's own chat (POST /api/chat, a JSON document a line). Its way of compatibility with
// OpenAI's is not used: there the length of the context cannot be set, and what does not fit is
// dropped without a word. Source: Ollama's docs/api.md, and its issues 3839, 17427 and 17944 on
// `truncate`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "agents/wire_format.h"

namespace cupilot::agents {

class OllamaFormat final : public WireFormat {
 public:
  struct Settings {
    // Tokens of prompt and answer together that the server makes room for; memory goes with it.
    // A request whose prompt may need more gets room for it up to `most_context`.
    std::int64_t context = 16384;
    std::int64_t most_context = 131072;
  };
  OllamaFormat() = default;
  explicit OllamaFormat(Settings settings) : settings_(settings) {}

  WireRequest Write(const ModelRequest& request) const override;
  std::unique_ptr<AnswerReader> Read(const ModelRequest& request) const override;
  std::pair<std::string, std::string> KeyHeader(const std::string& key) const override;

  // Tokens of context that the request asks for.
  std::int64_t ContextFor(const ModelRequest& request) const;

 private:
  Settings settings_;
};

}  // namespace cupilot::agents
