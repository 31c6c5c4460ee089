#include "agents/openai_format.h"

#include "agents/event_stream.h"

namespace cupilot::agents {
namespace {

using records::Json;

Usage OpenAiUsage(const Json& usage) {
  Usage used;
  used.known = usage.contains("prompt_tokens") || usage.contains("completion_tokens");
  used.input = TokensAt(usage, "prompt_tokens");
  used.cached_input = TokensAt(ObjectAt(usage, "prompt_tokens_details"), "cached_tokens");
  used.output = TokensAt(usage, "completion_tokens");
  return used;
}

// What an answer became, by its finish_reason.
ModelResult Finished(ModelAnswer answer, const std::string& reason, const std::string& refusal) {
  ModelError error;
  error.may_cost = true;
  error.usage = answer.usage;
  if (reason == "content_filter" || !refusal.empty()) {
    error.why = Failure::kRefused;
    error.message = refusal.empty() ? "the provider's filter took the answer" : ShortText(refusal);
    return tl::unexpected(std::move(error));
  }
  if (reason == "length") {
    error.why = Failure::kTruncated;
    error.message = "the answer was cut at the limit of tokens";
    error.partial = std::move(answer.text);
    return tl::unexpected(std::move(error));
  }
  answer.stop = reason == "stop" ? StopReason::kEnd : StopReason::kOther;
  return answer;
}

class OpenAiReader final : public AnswerReader {
 public:
  bool Feed(std::string_view bytes, std::string& text) override {
    if (!begun_) {
      const std::size_t first = bytes.find_first_not_of(" \t\r\n");
      if (first == std::string_view::npos) return true;
      begun_ = true;
      whole_ = bytes[first] == '{';  // a server that does not stream
    }
    if (whole_) {
      document_ += bytes;
      return true;
    }
    for (const StreamEvent& event : events_.Feed(bytes)) {
      if (!OnEvent(event, text)) return false;
    }
    return true;
  }

  ModelResult End() override {
    if (whole_) {
      const auto document = records::ParseJson(document_);
      if (!document) return tl::unexpected(Malformed("the answer is no JSON"));
      return OpenAiFormat::AnswerOf(*document);
    }
    if (error_) {
      error_->usage = answer_.usage;
      error_->partial = answer_.text;
      return tl::unexpected(std::move(*error_));
    }
    if (!done_ && reason_.empty()) {
      ModelError error = Malformed("the stream ended before the answer did");
      error.why = Failure::kBroken;
      error.usage = answer_.usage;
      error.partial = answer_.text;
      return tl::unexpected(std::move(error));
    }
    return Finished(std::move(answer_), reason_, refusal_);
  }

 private:
  bool OnEvent(const StreamEvent& event, std::string& text) {
    if (event.data == "[DONE]") {
      done_ = true;
      return false;
    }
    const auto chunk = records::ParseJson(event.data);
    if (!chunk || !chunk->is_object()) {
      error_ = Malformed("a piece of the stream is no JSON object");
      return false;
    }
    if (const auto found = chunk->find("error"); found != chunk->end() && !found->is_null()) {
      error_ = ErrorWithin(*chunk);
      return false;
    }
    if (answer_.model.empty()) answer_.model = records::TextAt(*chunk, "model");
    // The last chunk holds it, with no choices; some servers send it all the time.
    if (const Json& usage = ObjectAt(*chunk, "usage"); !usage.empty()) {
      answer_.usage = OpenAiUsage(usage);
    }
    const auto choices = chunk->find("choices");
    if (choices == chunk->end() || !choices->is_array() || choices->empty()) return true;
    const Json& choice = (*choices)[0];
    const Json& delta = ObjectAt(choice, "delta");
    const std::string piece = records::TextAt(delta, "content");
    answer_.text += piece;
    text += piece;
    refusal_ += records::TextAt(delta, "refusal");
    if (choice.is_object()) {
      const std::string reason = records::TextAt(choice, "finish_reason");
      if (!reason.empty()) reason_ = reason;
    }
    return true;
  }

  EventStream events_;
  bool begun_ = false;
  bool whole_ = false;
  bool done_ = false;
  std::string document_;
  std::string reason_;
  std::string refusal_;
  ModelAnswer answer_;
  std::optional<ModelError> error_;
};

}  // namespace

Json OpenAiFormat::Body(const ModelRequest& request, bool stream) const {
  Json messages = Json::array();
  if (!request.system.empty()) {
    messages.push_back({{"role", "system"}, {"content", request.system}});
  }
  messages.push_back({{"role", "user"}, {"content", request.prompt}});
  Json body = {{"model", request.model}, {"messages", std::move(messages)}};
  body[settings_.older_limit ? "max_tokens" : "max_completion_tokens"] = request.max_tokens;
  if (request.temperature) body["temperature"] = *request.temperature;
  if (request.seed) body["seed"] = *request.seed;
  if (request.schema.is_object()) {
    body["response_format"] = {
        {"type", "json_schema"},
        {"json_schema", {{"name", request.schema_name}, {"schema", request.schema}}}};
  }
  if (stream) {
    body["stream"] = true;
    body["stream_options"] = {{"include_usage", true}};
  }
  return body;
}

WireRequest OpenAiFormat::Write(const ModelRequest& request) const {
  return {"/v1/chat/completions",
          {{"content-type", "application/json"}, {"accept", "text/event-stream"}},
          records::CompactJson(Body(request, true))};
}

std::unique_ptr<AnswerReader> OpenAiFormat::Read(const ModelRequest&) const {
  return std::make_unique<OpenAiReader>();
}

std::pair<std::string, std::string> OpenAiFormat::KeyHeader(const std::string& key) const {
  return {"authorization", "Bearer " + key};
}

ModelResult OpenAiFormat::AnswerOf(const Json& completion) {
  if (const auto found = completion.find("error");
      completion.is_object() && found != completion.end() && !found->is_null()) {
    return tl::unexpected(ErrorWithin(completion));
  }
  const auto choices = completion.is_object() ? completion.find("choices") : completion.end();
  if (choices == completion.end() || !choices->is_array() || choices->empty()) {
    return tl::unexpected(Malformed("the answer holds no choice"));
  }
  ModelAnswer answer;
  answer.model = records::TextAt(completion, "model");
  answer.usage = OpenAiUsage(ObjectAt(completion, "usage"));
  const Json& choice = (*choices)[0];
  const Json& message = ObjectAt(choice, "message");
  answer.text = records::TextAt(message, "content");
  return Finished(std::move(answer), records::TextAt(choice, "finish_reason"),
                  records::TextAt(message, "refusal"));
}

}  // namespace cupilot::agents
