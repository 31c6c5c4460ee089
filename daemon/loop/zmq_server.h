// The daemon's socket: a ZeroMQ ROUTER on a Unix socket that we bind ourselves.
//
// libzmq silently takes a path over that another process has bound, so the caller must hold the
// daemon's lock file; and it binds before a umask could matter, so we bind and listen ourselves
// under umask 077 and hand the descriptor over (ZMQ_USE_FD).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_function.h"
#include "loop/loop.h"

namespace cupilot::loop {

// On the loop thread.
class ZmqServer {
 public:
  // `peer` names the connection, for Send; opaque bytes.
  using Handler = base::UniqueFunction<void(const std::string& peer, std::string_view message)>;

  struct Options {
    // A socket that is bound to the path and listens already (systemd's); -1: one is bound. What is
    // given is closed in the end, its path stays: whoever made it serves the next daemon with it.
    int socket = -1;
    // A connection that has not greeted by then, as ZeroMQ does before any message, is closed.
    std::chrono::milliseconds greeting{5000};
  };

  // Removes what is at `path` (the caller holds the lock), binds and serves. Connections of other
  // users are closed at once; a message above 1 MiB closes its connection before it is read. Of a
  // peer that sends without end few messages are kept, the rest waits on its side; to one that
  // does not read, few are kept and the rest is dropped. What a peer asked that is gone by now is
  // not handed over.
  static base::Result<std::unique_ptr<ZmqServer>> Listen(Loop& loop, const std::string& path,
                                                         Handler on_message);
  static base::Result<std::unique_ptr<ZmqServer>> Listen(Loop& loop, const std::string& path,
                                                         const Options& options,
                                                         Handler on_message);
  ZmqServer(const ZmqServer&) = delete;
  ZmqServer& operator=(const ZmqServer&) = delete;
  ~ZmqServer();  // removes the path, if it bound it

  // To one peer. False if it is gone or reads too slowly: the message is dropped.
  bool Send(const std::string& peer, std::string_view message);
  // How many messages were dropped because their sender was gone.
  std::int64_t abandoned() const;

 private:
  struct State;
  explicit ZmqServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cupilot::loop
