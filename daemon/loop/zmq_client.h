// The client's end of the daemon's socket. Blocking, with deadlines; for programs without a loop.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupilot::loop {

// One thread at a time.
class ZmqClient {
 public:
  // Connects to the Unix socket at `path`; kUnavailable at once if nobody listens there.
  static base::Result<std::unique_ptr<ZmqClient>> Connect(const std::string& path);
  ZmqClient(const ZmqClient&) = delete;
  ZmqClient& operator=(const ZmqClient&) = delete;
  ~ZmqClient();

  base::Result<> Send(std::string_view message);
  // The next message; kTimeout if none came within `limit`, kUnavailable at once if the other end
  // is gone.
  base::Result<std::string> Receive(std::chrono::milliseconds limit);

  struct Ready {
    bool message = false;  // Receive() has one
    bool gone = false;     // and no message: the other end is gone, for ever
  };
  // Until there is one of these, or one of `files` can be read (or was closed), or `limit` is over,
  // or a signal came. Less than 0: no limit.
  base::Result<Ready> Wait(std::span<const int> files, std::chrono::milliseconds limit);

 private:
  struct State;
  explicit ZmqClient(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cupilot::loop
