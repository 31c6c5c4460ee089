#include "agents/anthropic_format.h"

#include <algorithm>

#include "agents/event_stream.h"

namespace cupilot::agents {
namespace {

using records::Json;

// Later versions refuse what some models still want to be told ("temperature").
constexpr const char* kVersion = "2023-06-01";

// Counts are of the whole answer so far. Of the prompt there are three: new, read from the cache
// and written to it.
void AddCounts(const Json& usage, Usage& used) {
  if (usage.empty()) return;
  used.known = true;
  if (usage.contains("output_tokens")) used.output = TokensAt(usage, "output_tokens");
  if (!usage.contains("input_tokens")) return;
  used.cached_input = TokensAt(usage, "cache_read_input_tokens");
  used.written_input = TokensAt(usage, "cache_creation_input_tokens");
  used.input = TokensAt(usage, "input_tokens") + used.cached_input + used.written_input;
}

// By its stop_reason.
std::optional<ModelError> NoAnswerFor(const std::string& reason) {
  ModelError error;
  error.may_cost = true;
  if (reason == "refusal") {
    error.why = Failure::kRefused;
    error.message = "the model declined to answer";
  } else if (reason == "max_tokens" || reason == "model_context_window_exceeded") {
    error.why = Failure::kTruncated;
    error.message = "the answer was cut (" + reason + ")";
  } else {
    return std::nullopt;
  }
  return error;
}

class AnthropicReader final : public AnswerReader {
 public:
  bool Feed(std::string_view bytes, std::string& text) override {
    for (const StreamEvent& event : events_.Feed(bytes)) {
      if (!OnEvent(event, text)) return false;
    }
    return true;
  }

  ModelResult End() override {
    if (!error_ && !stopped_) {
      error_ = Malformed(begun_ ? "the stream ended before the answer did"
                                : "the answer is no stream of events");
      if (begun_) error_->why = Failure::kBroken;
    }
    if (!error_) error_ = NoAnswerFor(reason_);
    if (!error_) {
      answer_.stop = reason_ == "end_turn" ? StopReason::kEnd : StopReason::kOther;
      return std::move(answer_);
    }
    error_->usage = answer_.usage;
    error_->partial = std::move(answer_.text);
    return tl::unexpected(std::move(*error_));
  }

 private:
  bool OnEvent(const StreamEvent& event, std::string& text) {
    const auto json = records::ParseJson(event.data);
    if (!json || !json->is_object()) {
      error_ = Malformed("a piece of the stream is no JSON object");
      return false;
    }
    const std::string type = records::TextAt(*json, "type");
    if (type == "message_start") {
      begun_ = true;
      const Json& message = ObjectAt(*json, "message");
      answer_.model = records::TextAt(message, "model");
      Count(ObjectAt(message, "usage"));
    } else if (type == "content_block_delta") {
      const Json& delta = ObjectAt(*json, "delta");
      // Thinking comes as deltas of other types; it is no part of the answer.
      if (records::TextAt(delta, "type") == "text_delta") {
        const std::string piece = records::TextAt(delta, "text");
        answer_.text += piece;
        text += piece;
      }
    } else if (type == "message_delta") {
      const std::string reason = records::TextAt(ObjectAt(*json, "delta"), "stop_reason");
      if (!reason.empty()) reason_ = reason;
      Count(ObjectAt(*json, "usage"));
    } else if (type == "error") {
      error_ = ErrorWithin(*json);
      return false;
    } else if (type == "message_stop") {
      stopped_ = true;
      return false;
    }
    return true;  // "ping", the blocks' frames, and what is added later
  }

  void Count(const Json& usage) { AddCounts(usage, answer_.usage); }

  EventStream events_;
  bool begun_ = false;
  bool stopped_ = false;
  std::string reason_;
  ModelAnswer answer_;
  std::optional<ModelError> error_;
};

}  // namespace

Json AnthropicFormat::Body(const ModelRequest& request, bool stream) {
  Json body = {{"model", request.model},
               {"max_tokens", request.max_tokens},
               {"messages", {{{"role", "user"}, {"content", request.prompt}}}}};
  if (stream) body["stream"] = true;
  if (!request.system.empty()) body["system"] = request.system;
  if (request.temperature) body["temperature"] = *request.temperature;
  if (request.schema.is_object()) {
    body["output_config"] = {{"format", {{"type", "json_schema"}, {"schema", request.schema}}}};
  }
  return body;
}

ModelResult AnthropicFormat::AnswerOf(const Json& message) {
  const auto content = message.is_object() ? message.find("content") : message.end();
  if (content == message.end() || !content->is_array()) {
    return tl::unexpected(Malformed("the answer holds no content"));
  }
  ModelAnswer answer;
  answer.model = records::TextAt(message, "model");
  AddCounts(ObjectAt(message, "usage"), answer.usage);
  for (const Json& block : *content) {
    if (records::TextAt(block, "type") == "text") answer.text += records::TextAt(block, "text");
  }
  const std::string reason = records::TextAt(message, "stop_reason");
  if (auto error = NoAnswerFor(reason)) {
    error->usage = answer.usage;
    error->partial = std::move(answer.text);
    return tl::unexpected(std::move(*error));
  }
  answer.stop = reason == "end_turn" ? StopReason::kEnd : StopReason::kOther;
  return answer;
}

std::pair<std::string, std::string> AnthropicFormat::VersionHeader() {
  return {"anthropic-version", kVersion};
}

WireRequest AnthropicFormat::Write(const ModelRequest& request) const {
  return {"/v1/messages",
          {{"content-type", "application/json"}, VersionHeader()},
          records::CompactJson(Body(request, true))};
}

std::unique_ptr<AnswerReader> AnthropicFormat::Read(const ModelRequest&) const {
  return std::make_unique<AnthropicReader>();
}

std::pair<std::string, std::string> AnthropicFormat::KeyHeader(const std::string& key) const {
  return {"x-api-key", key};
}

}  // namespace cupilot::agents
