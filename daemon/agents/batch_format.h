// How requests and answers stand in the lines of a batch: JSONL files that services take and give
// back for work that nobody waits for. Source: OpenAI's guide "Batch" with the object
// BatchRequestOutput of its API reference; Anthropic's "Message Batches".
#pragma once

#include <memory>
#include <string>

#include "agents/openai_format.h"
#include "agents/provider.h"

namespace cupilot::agents {

class BatchFormat {
 public:
  virtual ~BatchFormat() = default;
  // A request's line, with its end. `id` comes back as custom_id.
  virtual std::string Line(const std::string& id, const ModelRequest& request) const = 0;
  // Of a line that came back, an object:
  virtual bool Succeeded(const records::Json& line) const = 0;
  virtual ModelResult ResultOf(const records::Json& line) const = 0;
  // A line as if it had come back, for a request of which nobody knows whether it was answered: it
  // may cost, and is not asked again.
  virtual std::string LostLine(const std::string& id) const = 0;
};

class OpenAiBatchFormat final : public BatchFormat {
 public:
  explicit OpenAiBatchFormat(OpenAiFormat::Settings settings = {}) : format_(settings) {}
  std::string Line(const std::string& id, const ModelRequest& request) const override;
  bool Succeeded(const records::Json& line) const override;
  ModelResult ResultOf(const records::Json& line) const override;
  std::string LostLine(const std::string& id) const override;

 private:
  OpenAiFormat format_;
};

class AnthropicBatchFormat final : public BatchFormat {
 public:
  std::string Line(const std::string& id, const ModelRequest& request) const override;
  bool Succeeded(const records::Json& line) const override;
  ModelResult ResultOf(const records::Json& line) const override;
  std::string LostLine(const std::string& id) const override;
};

}  // namespace cupilot::agents
