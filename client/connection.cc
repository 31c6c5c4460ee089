#include "client/connection.h"

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "base/version.h"
#include "client/output.h"
#include "client/spawn.h"

namespace cupilot::client {
namespace {

using records::Json;
using Kind = protocol::DaemonMessage::Kind;

constexpr std::chrono::seconds kGreetingLimit{5};
constexpr std::chrono::seconds kReplyLimit{30};
constexpr int kMakeWayLimitMs = 5000;

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

// A reply that is larger than a message lies in a file, which is ours then.
base::Result<Json> Fetched(Json content) {
  if (TextOf(content, "schema") != "cupilot.reply_file/1") return content;
  TRY_ASSIGN(const std::string text, TakeReplyFile(TextOf(content, "document")));
  return records::ParseJson(text);
}

}  // namespace

base::Result<std::string> TakeReplyFile(const std::string& path) {
  auto text = base::ReadFile(path);
  (void)base::RemoveTree(path);
  return text;
}

base::Result<Connection> Connection::Open(Start start) {
  TRY_ASSIGN(const base::UserFolders folders, base::FindUserFolders());
  Connection connection;
  TRY_ASSIGN(connection.socket_, ConnectOrStart(folders, start));
  TRY(connection.Greet());
  const bool may_start = start == Start::kOnDemand && MayStartOnDemand();
  if (may_start && base::IsOlderVersion(connection.version_, CUPILOT_VERSION))
    connection.Renew(folders);
  return connection;
}

// The older daemon ends what it measures, then the new one serves. Where that takes long, the older
// one answers meanwhile; where it fails, it answers all the same, and VersionWarning() says so.
void Connection::Renew(const base::UserFolders& folders) {
  const auto reply = Request("hand_over", {{"version", CUPILOT_VERSION}});
  // Before that verb there was only this one: what is measured is measured again.
  if (!reply && (reply.error().code != base::ErrorCode::kUnsupported || !Request("stop"))) return;
  if (reply && !FlagOf(*reply, "by_systemd")) {
    const auto next = StartNextDaemon(folders);
    waits_ = next && !*next;
    if (!next || waits_) return;
  } else if (pid_ <= 0 || !WaitForEnd(pid_, kMakeWayLimitMs)) {
    waits_ = true;
    return;
  }
  Connection renewed;
  auto socket = ConnectOrStart(folders, Start::kOnDemand);
  if (!socket) return;
  renewed.socket_ = std::move(*socket);
  renewed.before_ = version_;
  if (renewed.Greet()) *this = std::move(renewed);
}

base::Result<> Connection::Greet() {
  const protocol::ClientHello hello{protocol::kClientProtocol, protocol::kClientProtocol,
                                    CUPILOT_VERSION};
  TRY(socket_->Send(protocol::TextOf(hello)));
  auto answer = Receive(kGreetingLimit);
  if (!answer) {
    return base::Fail(
        base::Unavailable("the daemon does not answer (" + answer.error().message +
                          "); it may be frozen: `cupilot daemon logs` shows what it last did"));
  }
  if (answer->kind == Kind::kError) return base::Fail(answer->error);
  if (answer->kind != Kind::kHello) {
    return base::Fail(base::ProtocolError("the daemon's greeting is none"));
  }
  const Json& greeting = answer->content;
  pid_ = static_cast<int>(NumberOf(greeting, "pid"));
  version_ = TextOf(greeting, "version");
  return {};
}

base::Result<protocol::DaemonMessage> Connection::Receive(std::chrono::milliseconds limit) {
  TRY_ASSIGN(const std::string text, socket_->Receive(limit));
  return protocol::ParseDaemonMessage(text);
}

base::Result<std::int64_t> Connection::Send(const std::string& verb, const Json& params) {
  const std::int64_t id = next_id_++;
  TRY(socket_->Send(protocol::TextOf(protocol::ClientRequest{id, verb, params})));
  return id;
}

base::Result<loop::ZmqClient::Ready> Connection::Wait(std::span<const int> files,
                                                      std::chrono::milliseconds limit) {
  return socket_->Wait(files, limit);
}

base::Result<Json> Connection::Request(const std::string& verb, const Json& params) {
  TRY_ASSIGN(const std::int64_t id, Send(verb, params));
  const auto limit = std::chrono::steady_clock::now() + kReplyLimit;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        limit - std::chrono::steady_clock::now());
    auto reply = Receive(std::max(left, std::chrono::milliseconds(0)));
    if (!reply) {
      if (reply.error().code != base::ErrorCode::kTimeout) return base::Fail(reply.error());
      return base::Fail(base::Unavailable("the daemon did not answer '" + verb + "' within " +
                                          std::to_string(kReplyLimit.count()) + " s"));
    }
    // Events and answers to what we no longer wait for are passed over.
    if (reply->kind == Kind::kEvent || reply->id != Json(id)) continue;
    if (reply->kind == Kind::kError) return base::Fail(std::move(reply->error));
    return Fetched(std::move(reply->content));
  }
}

std::string Connection::VersionWarning() const {
  if (version_ == CUPILOT_VERSION) {
    return before_.empty() ? ""
                           : "the daemon was version " + before_ +
                                 ": it ended what it measured, and one of this version took over";
  }
  if (waits_) {
    return "the daemon is version " + version_ +
           " and ends what it measures; then one of version " + CUPILOT_VERSION " takes over";
  }
  return "the daemon is version " + version_ +
         ", this program " CUPILOT_VERSION
         "; `cupilot daemon stop` ends it, and the next command starts the new one";
}

}  // namespace cupilot::client
