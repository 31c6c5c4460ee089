// Messages between a client and the daemon (PROTOCOL.md): one JSON document each. What comes from
// the other side may be anything; what cannot be read is kProtocol. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "records/json.h"

namespace cupilot::protocol {

// The version of this protocol that this program speaks.
inline constexpr int kClientProtocol = 1;

// The client's greeting: the lowest and highest version that it speaks. Both 0 where it does not
// say.
struct ClientHello {
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  std::string version;  // the program's
  bool Speaks(std::int64_t protocol) const { return lowest <= protocol && highest >= protocol; }
};
struct ClientRequest {
  records::Json id;  // comes back with the reply, whatever it is
  std::string verb;
  records::Json params = records::Json::object();
};
using ClientMessage = std::variant<ClientHello, ClientRequest>;

base::Result<ClientMessage> ParseClientMessage(std::string_view text);
std::string TextOf(const ClientMessage& message);

struct DaemonMessage {
  enum class Kind { kHello, kResult, kError, kEvent };
  Kind kind = Kind::kResult;
  records::Json id;       // of the request that is answered; null: none
  records::Json content;  // the greeting, the result or the event's data
  std::string event;      // its name
  base::Error error{base::ErrorCode::kProtocol, ""};
  // For TextOf(): the content as JSON's text, where that is at hand; empty: `content` counts.
  std::string content_text{};
};

base::Result<DaemonMessage> ParseDaemonMessage(std::string_view text);
std::string TextOf(const DaemonMessage& message);

// What "snooze" asks for: whole seconds, at most a year. kInvalidArgument.
base::Result<std::int64_t> SnoozeSecondsOf(const records::Json& params);

}  // namespace cupilot::protocol
