#include "protocol/client_messages.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace cupilot::protocol {
namespace {

using records::Json;

constexpr double kMostSnoozeSeconds = 365.0 * 24 * 3600;

const Json* Find(const Json& json, const char* key) {
  const auto it = json.is_object() ? json.find(key) : json.end();
  return it == json.end() ? nullptr : &*it;
}

Json CopyOf(const Json& json, const char* key) {
  const Json* found = Find(json, key);
  return found == nullptr ? Json() : *found;
}

std::int64_t Integer(const Json& json) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (!json.is_number_unsigned()) return json.get<std::int64_t>();
  return static_cast<std::int64_t>(
      std::min(json.get<std::uint64_t>(), static_cast<std::uint64_t>(kMost)));
}

ClientHello ReadHello(const Json& json) {
  ClientHello hello;
  hello.version = records::TextAt(json, "version");
  const Json* range = Find(json, "protocol");
  const bool readable = range != nullptr && range->is_array() && range->size() == 2 &&
                        (*range)[0].is_number_integer() && (*range)[1].is_number_integer();
  if (!readable) return hello;
  hello.lowest = Integer((*range)[0]);
  hello.highest = Integer((*range)[1]);
  return hello;
}

Json ErrorJson(const base::Error& error) {
  return {{"code", std::string(base::Name(error.code))}, {"message", error.message}};
}

base::Error ReadError(const Json& json) {
  const std::string message = records::TextAt(json, "message");
  return {base::CodeOf(records::TextAt(json, "code")),
          message.empty() ? "the daemon gave no reason" : message};
}

base::Result<Json> ReadObject(std::string_view text) {
  auto json = records::ParseJson(text);
  if (!json || !json->is_object()) {
    return base::Fail(base::ProtocolError("a message must be a JSON object"));
  }
  return json;
}

}  // namespace

base::Result<ClientMessage> ParseClientMessage(std::string_view text) {
  TRY_ASSIGN(const Json json, ReadObject(text));
  if (const Json* hello = Find(json, "hello")) return ReadHello(*hello);
  ClientRequest request;
  request.id = CopyOf(json, "id");
  request.verb = records::TextAt(json, "verb");
  const Json* params = Find(json, "params");
  if (params != nullptr && params->is_object()) request.params = *params;
  return request;
}

std::string TextOf(const ClientMessage& message) {
  if (const auto* hello = std::get_if<ClientHello>(&message)) {
    return records::CompactJson({{"hello",
                                  {{"protocol", Json::array({hello->lowest, hello->highest})},
                                   {"version", hello->version}}}});
  }
  const auto& request = std::get<ClientRequest>(message);
  return records::CompactJson(
      {{"id", request.id}, {"verb", request.verb}, {"params", request.params}});
}

base::Result<DaemonMessage> ParseDaemonMessage(std::string_view text) {
  TRY_ASSIGN(const Json json, ReadObject(text));
  DaemonMessage message;
  message.id = CopyOf(json, "id");
  if (const Json* error = Find(json, "error")) {
    message.kind = DaemonMessage::Kind::kError;
    message.error = ReadError(*error);
  } else if (const Json* hello = Find(json, "hello")) {
    message.kind = DaemonMessage::Kind::kHello;
    message.content = *hello;
  } else if (const Json* result = Find(json, "result")) {
    message.content = *result;
  } else if (Find(json, "event") != nullptr) {
    message.kind = DaemonMessage::Kind::kEvent;
    message.event = records::TextAt(json, "event");
    message.content = CopyOf(json, "data");
  } else {
    return base::Fail(base::ProtocolError("a message is neither a reply nor an event"));
  }
  return message;
}

// Put together from texts: documents are large, and a tree of them is not copied for this.
std::string TextOf(const DaemonMessage& message) {
  const auto content = [&message] {
    return message.content_text.empty() ? records::CompactJson(message.content)
                                        : message.content_text;
  };
  std::string text = "{";
  if (!message.id.is_null()) text += R"("id":)" + records::CompactJson(message.id) + ",";
  switch (message.kind) {
    case DaemonMessage::Kind::kHello:
      text.append(R"("hello":)").append(content());
      break;
    case DaemonMessage::Kind::kResult:
      text.append(R"("result":)").append(content());
      break;
    case DaemonMessage::Kind::kError:
      text.append(R"("error":)").append(records::CompactJson(ErrorJson(message.error)));
      break;
    case DaemonMessage::Kind::kEvent:
      text.append(R"("event":)").append(records::CompactJson(message.event));
      text.append(R"(,"data":)").append(content());
      break;
  }
  text += '}';
  return text;
}

base::Result<std::int64_t> SnoozeSecondsOf(const Json& params) {
  const Json* seconds = Find(params, "seconds");
  const double value = seconds != nullptr && seconds->is_number() ? seconds->get<double>() : -1.0;
  if (!(value > 0) || value > kMostSnoozeSeconds) {
    return base::Fail(base::InvalidArgument(
        "snooze: seconds must be a positive number, and at most those of a year"));
  }
  return static_cast<std::int64_t>(value);
}

}  // namespace cupilot::protocol
