#include "client/connection.h"

#include <algorithm>
#include <utility>

#include "client/output.h"
#include "client/spawn.h"

namespace cupilot::client {
namespace {

using records::Json;

constexpr std::chrono::seconds kGreetingLimit{5};
constexpr std::chrono::seconds kReplyLimit{30};

base::Error ErrorOf(const Json& error) {
  const std::string message = TextOf(error, "message");
  return {base::CodeOf(TextOf(error, "code")),
          message.empty() ? "the daemon gave no reason" : message};
}

base::Result<std::unique_ptr<loop::ZmqClient>> ConnectOrStart(const base::UserFolders& folders,
                                                              Connection::Start start) {
  auto socket = loop::ZmqClient::Connect(SocketPath(folders));
  if (socket) return socket;
  if (start == Connection::Start::kNever || !MayStartOnDemand()) {
    return base::Fail(base::Unavailable("no daemon is running; start it: cupilot daemon start"));
  }
  TRY(StartDaemon(folders));
  return loop::ZmqClient::Connect(SocketPath(folders));
}

}  // namespace

base::Result<Connection> Connection::Open(Start start) {
  TRY_ASSIGN(const base::UserFolders folders, base::FindUserFolders());
  Connection connection;
  TRY_ASSIGN(connection.socket_, ConnectOrStart(folders, start));
  TRY(connection.Greet());
  return connection;
}

base::Result<> Connection::Greet() {
  const Json hello = {{"hello", {{"protocol", {1, 1}}, {"version", CUPILOT_VERSION}}}};
  TRY(socket_->Send(hello.dump()));
  auto answer = Receive(kGreetingLimit);
  if (!answer) {
    return base::Fail(
        base::Unavailable("the daemon does not answer (" + answer.error().message +
                          "); it may be frozen: `cupilot daemon logs` shows what it last did"));
  }
  if (answer->contains("error")) return base::Fail(ErrorOf((*answer)["error"]));
  if (!answer->contains("hello")) {
    return base::Fail(base::ProtocolError("the daemon's greeting is none"));
  }
  const Json& greeting = (*answer)["hello"];
  pid_ = static_cast<int>(NumberOf(greeting, "pid"));
  version_ = TextOf(greeting, "version");
  return {};
}

base::Result<Json> Connection::Receive(std::chrono::milliseconds limit) {
  TRY_ASSIGN(const std::string text, socket_->Receive(limit));
  auto json = records::ParseJson(text);
  if (!json || !json->is_object()) {
    return base::Fail(base::ProtocolError("the daemon's message is no JSON object"));
  }
  return json;
}

base::Result<Json> Connection::Request(const std::string& verb, const Json& params) {
  const std::int64_t id = next_id_++;
  const Json request = {{"id", id}, {"verb", verb}, {"params", params}};
  TRY(socket_->Send(request.dump(-1, ' ', false, Json::error_handler_t::replace)));
  const auto limit = std::chrono::steady_clock::now() + kReplyLimit;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        limit - std::chrono::steady_clock::now());
    auto reply = Receive(std::max(left, std::chrono::milliseconds(0)));
    if (!reply) {
      if (reply.error().code != base::ErrorCode::kTimeout) return reply;
      return base::Fail(base::Unavailable("the daemon did not answer '" + verb + "' within " +
                                          std::to_string(kReplyLimit.count()) + " s"));
    }
    // Events and answers to what we no longer wait for are passed over.
    if (NumberOf(*reply, "id", -1) != static_cast<double>(id)) continue;
    if (reply->contains("error")) return base::Fail(ErrorOf((*reply)["error"]));
    if (reply->contains("result")) return (*reply)["result"];
    return base::Fail(base::ProtocolError("the daemon's reply has neither result nor error"));
  }
}

std::string Connection::VersionWarning() const {
  if (version_ == CUPILOT_VERSION) return {};
  return "the daemon is version " + version_ +
         ", this program " CUPILOT_VERSION
         "; `cupilot daemon stop` ends it, and the next command starts the new one";
}

}  // namespace cupilot::client
