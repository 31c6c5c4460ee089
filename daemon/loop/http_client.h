// HTTP requests over libcurl, driven by the loop: many at once on one thread, none of which blocks
// it. What a caller of ours needs, and no more: bodies both ways, and how it ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "base/unique_function.h"
#include "loop/loop.h"

namespace cupilot::loop {

struct HttpRequest {
  std::string url;              // http or https; a redirection is not followed
  std::string method = "POST";  // "GET" has no body
  std::vector<std::pair<std::string, std::string>> headers;
  // Sent as headers too, and shown nowhere.
  std::vector<std::pair<std::string, base::Secret>> secret_headers;
  std::string body;
  std::size_t max_bytes = 64u << 20;  // of the answer's body; a larger one ends the transfer
};

// What is known before the body comes.
struct HttpHead {
  int status = 0;                              // 0: no answer yet
  std::map<std::string, std::string> headers;  // names in lower case; of equal names the last one
};

enum class HttpEnd {
  kComplete,     // the whole body came, whatever the status says
  kUnreachable,  // no connection, no such host, no trust in its certificate: nothing was answered
  kBroken,       // the connection ended, or said nonsense, before the answer was complete
  kTooLarge,     // the body is longer than max_bytes
};

struct HttpResult {
  HttpEnd end = HttpEnd::kComplete;
  HttpHead head;
  std::string message;  // what libcurl says of an end that is not kComplete; names the host at most
};

// Whether the address is this machine by name or number: "localhost", 127.0.0.0/8, ::1. False for
// what is no URL.
bool IsLoopback(const std::string& url);
// "https://host[:port]" of a URL, in lower case: what is talked to. kInvalidArgument for what is
// no http or https URL, or carries a user or password; kUnavailable without libcurl.
base::Result<std::string> OriginOf(const std::string& url);

// One request under way. Destroying it ends it, and no callback follows; its own callbacks may do
// that.
class HttpTransfer {
 public:
  virtual ~HttpTransfer() = default;
};

// On the loop thread. Connections are kept open for later requests to the same host. A proxy is
// taken from the environment as curl does, but never for this machine itself. There are no time
// limits here: whoever waits sets a timer and destroys the transfer. Without libcurl
// (curl_library.h) every request is kUnreachable.
class HttpClient {
 public:
  // A piece of the body, as it comes; the head is complete.
  using DataHandler = base::UniqueFunction<void(const HttpHead& head, std::string_view bytes)>;
  // Called once, after the last piece, never before Start has returned.
  using EndHandler = base::UniqueFunction<void(HttpResult result)>;

  explicit HttpClient(Loop& loop);
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  // Transfers that still are there get no further callbacks.
  ~HttpClient();

  std::unique_ptr<HttpTransfer> Start(HttpRequest request, DataHandler on_data, EndHandler on_end);

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace cupilot::loop
