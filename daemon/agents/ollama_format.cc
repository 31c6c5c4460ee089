#include "agents/ollama_format.h"

#include <algorithm>

#include "agents/event_stream.h"

namespace cupilot::agents {
namespace {

using records::Json;

std::int64_t BytesAsked(const ModelRequest& request) {
  return static_cast<std::int64_t>(request.system.size() + request.prompt.size());
}

class OllamaReader final : public AnswerReader {
 public:
  OllamaReader(std::int64_t bytes, std::int64_t context) : bytes_(bytes), context_(context) {}

  bool Feed(std::string_view bytes, std::string& text) override {
    for (const std::string& line : lines_.Feed(bytes)) {
      if (!OnLine(line, text)) return false;
    }
    return true;
  }

  ModelResult End() override {
    std::string text;
    // The last line may lack its end.
    if (!error_ && !done_ && !lines_.rest().empty()) OnLine(lines_.rest(), text);
    if (!error_ && !done_) {
      error_ = Malformed("the stream ended before the answer did");
      error_->why = Failure::kBroken;
    }
    if (!error_) Judge();
    if (!error_) return std::move(answer_);
    error_->may_cost = false;
    error_->usage = answer_.usage;
    error_->partial = std::move(answer_.text);
    return tl::unexpected(std::move(*error_));
  }

 private:
  bool OnLine(const std::string& line, std::string& text) {
    if (line.find_first_not_of(" \t") == std::string::npos) return true;
    const auto json = records::ParseJson(line);
    if (!json || !json->is_object()) {
      error_ = Malformed("a line of the stream is no JSON object");
      return false;
    }
    if (json->contains("error")) {
      error_ = ErrorWithin(*json);
      return false;
    }
    if (answer_.model.empty()) answer_.model = records::TextAt(*json, "model");
    const std::string piece = records::TextAt(ObjectAt(*json, "message"), "content");
    answer_.text += piece;
    text += piece;
    const auto done = json->find("done");
    if (done == json->end() || !done->is_boolean() || !done->get<bool>()) return true;
    done_ = true;
    reason_ = records::TextAt(*json, "done_reason");
    answer_.usage.known = json->contains("eval_count");
    // Left out by older servers for a prompt that they still had in their cache.
    counted_ = json->contains("prompt_eval_count");
    answer_.usage.input = TokensAt(*json, "prompt_eval_count");
    answer_.usage.output = TokensAt(*json, "eval_count");
    return false;
  }

  // Servers from before `truncate` drop the front of a prompt that does not fit, and leave half of
  // the context or less. The only sign is the count of what they read: texts have at most some 8
  // bytes a token, so far fewer tokens than that mean that a part is missing, where also as much as
  // half of the context was used.
  void Judge() {
    constexpr std::int64_t kMostBytesPerToken = 8;
    const bool too_few = answer_.usage.input < bytes_ / kMostBytesPerToken;
    // Older servers shift the context while they answer, and forget its front.
    const bool overfull = answer_.usage.input + answer_.usage.output > context_;
    if (counted_ && too_few && answer_.usage.input >= context_ / 2 - 8) {
      error_ =
          Malformed("the server dropped a part of the prompt: it read " +
                    std::to_string(answer_.usage.input) + " tokens of " + std::to_string(bytes_) +
                    " bytes, with room for " + std::to_string(context_));
      error_->why = Failure::kTruncated;
    } else if (reason_ == "length" || overfull) {
      error_ = Malformed("the answer was cut at the limit of tokens or of the context");
      error_->why = Failure::kTruncated;
    }
  }

  std::int64_t bytes_;
  std::int64_t context_;
  LineSplitter lines_;
  bool done_ = false;
  bool counted_ = false;
  std::string reason_;
  ModelAnswer answer_;
  std::optional<ModelError> error_;
};

}  // namespace

std::int64_t OllamaFormat::ContextFor(const ModelRequest& request) const {
  // Code has three bytes a token and more; two leave room for the template and for other languages.
  const std::int64_t wanted = BytesAsked(request) / 2 + request.max_tokens + 64;
  // A server loads the model anew for each size: few sizes.
  std::int64_t context = settings_.context;
  while (context < wanted && context < settings_.most_context) context *= 2;
  return std::min(context, std::max(settings_.context, settings_.most_context));
}

WireRequest OllamaFormat::Write(const ModelRequest& request) const {
  Json messages = Json::array();
  if (!request.system.empty()) {
    messages.push_back({{"role", "system"}, {"content", request.system}});
  }
  messages.push_back({{"role", "user"}, {"content", request.prompt}});
  Json options = {{"num_ctx", ContextFor(request)}, {"num_predict", request.max_tokens}};
  if (request.temperature) options["temperature"] = *request.temperature;
  if (request.seed) options["seed"] = *request.seed;
  // An error in place of a shortened prompt or a context that is shifted while it answers.
  Json body = {{"model", request.model}, {"messages", std::move(messages)},
               {"stream", true},         {"options", std::move(options)},
               {"truncate", false},      {"shift", false}};
  if (request.schema.is_object()) body["format"] = request.schema;
  return {"/api/chat", {{"content-type", "application/json"}}, records::CompactJson(body)};
}

std::unique_ptr<AnswerReader> OllamaFormat::Read(const ModelRequest& request) const {
  return std::make_unique<OllamaReader>(BytesAsked(request), ContextFor(request));
}

std::pair<std::string, std::string> OllamaFormat::KeyHeader(const std::string& key) const {
  return {"authorization", "Bearer " + key};
}

}  // namespace cupilot::agents
