#include "agents/batch_format.h"

#include "agents/anthropic_format.h"
#include "agents/wire_format.h"

namespace cupilot::agents {
namespace {

using records::Json;

// Our own word for a request that was sent into the dark.
constexpr const char* kLost = "lost";

ModelError LostError() {
  ModelError error;
  error.why = Failure::kBroken;
  error.message = "nobody knows what became of the batch";
  error.may_cost = true;
  return error;
}

// What was not begun in time is not charged.
ModelError ExpiredError(const std::string& how) {
  ModelError error;
  error.why = Failure::kTimeout;
  error.message = "the batch ended before this request (" + how + ")";
  return error;
}

}  // namespace

std::string OpenAiBatchFormat::Line(const std::string& id, const ModelRequest& request) const {
  const Json line = {{"custom_id", id},
                     {"method", "POST"},
                     {"url", "/v1/chat/completions"},
                     {"body", format_.Body(request, false)}};
  return records::CompactJson(line) + "\n";
}

bool OpenAiBatchFormat::Succeeded(const Json& line) const {
  const Json& response = ObjectAt(line, "response");
  const auto status = response.find("status_code");
  return status != response.end() && status->is_number_integer() &&
         status->get<std::int64_t>() == 200;
}

ModelResult OpenAiBatchFormat::ResultOf(const Json& line) const {
  const Json& response = ObjectAt(line, "response");
  if (Succeeded(line)) return OpenAiFormat::AnswerOf(ObjectAt(response, "body"));
  const std::string code = records::TextAt(ObjectAt(line, "error"), "code");
  if (code == kLost) return tl::unexpected(LostError());
  if (code == "batch_expired" || code == "batch_cancelled") {
    return tl::unexpected(ExpiredError(code));
  }
  const auto status = response.find("status_code");
  const bool has_status = status != response.end() && status->is_number_integer();
  return tl::unexpected(
      ErrorOfStatus(has_status ? static_cast<int>(status->get<std::int64_t>()) : 500, {},
                    records::CompactJson(has_status ? ObjectAt(response, "body") : line), {}));
}

std::string OpenAiBatchFormat::LostLine(const std::string& id) const {
  return records::CompactJson(
             {{"custom_id", id}, {"response", nullptr}, {"error", {{"code", kLost}}}}) +
         "\n";
}

std::string AnthropicBatchFormat::Line(const std::string& id, const ModelRequest& request) const {
  return records::CompactJson(
             {{"custom_id", id}, {"params", AnthropicFormat::Body(request, false)}}) +
         "\n";
}

bool AnthropicBatchFormat::Succeeded(const Json& line) const {
  return records::TextAt(ObjectAt(line, "result"), "type") == "succeeded";
}

ModelResult AnthropicBatchFormat::ResultOf(const Json& line) const {
  const Json& result = ObjectAt(line, "result");
  if (Succeeded(line)) return AnthropicFormat::AnswerOf(ObjectAt(result, "message"));
  const std::string type = records::TextAt(result, "type");
  if (type == "expired" || type == "canceled") return tl::unexpected(ExpiredError(type));
  const Json& document = ObjectAt(result, "error");
  if (records::TextAt(ObjectAt(document, "error"), "type") == kLost) {
    return tl::unexpected(LostError());
  }
  // Of the status only the document is left; what is no word of its own was a wrong request.
  return tl::unexpected(ErrorOfStatus(400, {}, records::CompactJson(document), {}));
}

std::string AnthropicBatchFormat::LostLine(const std::string& id) const {
  const Json document = {{"type", "error"}, {"error", {{"type", kLost}}}};
  return records::CompactJson(
             {{"custom_id", id}, {"result", {{"type", "errored"}, {"error", document}}}}) +
         "\n";
}

}  // namespace cupilot::agents
