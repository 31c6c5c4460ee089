// An HTTP server on a free port of this machine, run by the test's loop: it hands over each request
// and sends what it is told, piece by piece. It knows as much of HTTP as that needs.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_function.h"
#include "loop/loop.h"

namespace cupilot::test {

class MockHttpServer {
 public:
  struct Request {
    std::string head;  // request line and headers as they came
    std::string body;
    // The value of a header, its name in lower case; empty: not there.
    std::string Header(const std::string& name) const;
  };

  // One connection with a request on it. Valid until the server is gone.
  class Peer {
   public:
    virtual ~Peer() = default;
    virtual void Send(std::string_view bytes) = 0;
    // `bytes` again and again, each time the last was taken, until `total` bytes or the other side
    // closes.
    virtual void SendEndlessly(std::string bytes, std::uint64_t total) = 0;
    // After what was sent has gone out.
    virtual void Close() = 0;
    virtual bool closed_by_client() const = 0;
    virtual std::uint64_t sent() const = 0;  // bytes that were taken
  };
  using Handler = base::UniqueFunction<void(const Request& request, Peer& peer)>;

  // Each request goes to `handler`.
  MockHttpServer(loop::Loop& loop, Handler handler);
  MockHttpServer(const MockHttpServer&) = delete;
  MockHttpServer& operator=(const MockHttpServer&) = delete;
  ~MockHttpServer();

  std::string url() const;  // "http://127.0.0.1:PORT"
  const std::vector<Request>& requests() const;
  int connections() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A whole answer with its length.
std::string HttpAnswer(int status, std::string_view body,
                       const std::vector<std::pair<std::string, std::string>>& headers = {});
// The head of an answer whose end is the connection's.
std::string HttpStreamHead(std::string_view content_type = "text/event-stream");

// Runs the loop until `done()`.
template <class Predicate>
void RunUntil(loop::Loop& loop, Predicate done) {
  while (!done()) loop.RunOnce(true);
}

}  // namespace cupilot::test
