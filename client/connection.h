// A conversation with the daemon (daemon/protocol/PROTOCOL.md). Blocking.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/paths.h"
#include "base/result.h"
#include "loop/zmq_client.h"
#include "protocol/client_messages.h"
#include "records/json.h"

namespace cupilot::client {

// What the daemon wrote into a file for a reply that names it; the file is gone then.
base::Result<std::string> TakeReplyFile(const std::string& path);

class Connection {
 public:
  enum class Start { kOnDemand, kNever };

  // Connects and greets; starts a daemon if none runs and the caller and the environment allow it.
  // One of an older version is then asked to make way for one of this version.
  // kUnavailable with the reason and what to do.
  static base::Result<Connection> Open(Start start);

  // The reply's result, or the daemon's error.
  base::Result<records::Json> Request(const std::string& verb,
                                      const records::Json& params = records::Json::object());

  // The same in parts, for whoever waits for other things, too: asks, and returns the number that
  // the reply will have as `id`.
  base::Result<std::int64_t> Send(const std::string& verb, const records::Json& params);
  // As ZmqClient::Wait(). Then the message, once for each time that one was ready.
  base::Result<loop::ZmqClient::Ready> Wait(std::span<const int> files,
                                            std::chrono::milliseconds limit);
  base::Result<protocol::DaemonMessage> Take() { return Receive(std::chrono::milliseconds(0)); }

  int pid() const { return pid_; }
  const std::string& version() const { return version_; }  // the daemon's
  // A sentence if the daemon is of another version than this program, or was until now; else empty.
  std::string VersionWarning() const;

 private:
  Connection() = default;
  base::Result<> Greet();
  void Renew(const base::UserFolders& folders);
  base::Result<protocol::DaemonMessage> Receive(std::chrono::milliseconds limit);

  std::unique_ptr<loop::ZmqClient> socket_;
  std::int64_t next_id_ = 1;
  int pid_ = 0;
  std::string version_;
  std::string before_;  // the version of the daemon that made way
  bool waits_ = false;  // the next one, for the end of this one
};

}  // namespace cupilot::client
