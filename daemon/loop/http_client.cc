#include "loop/http_client.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>

#include "loop/curl_library.h"
#include "loop/uv_handle.h"

namespace cupilot::loop {
namespace {

// Only where it was opened.
const CurlLibrary& Curl() { return *OpenCurl(); }

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string_view Trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// The parts of a URL that say who is talked to.
struct Address {
  std::string scheme;
  std::string host;
  std::string port;  // empty: the scheme's
  bool credentials = false;
};

std::optional<std::string> PartOf(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (Curl().url_get(url, part, &text, 0) != CURLUE_OK) return std::nullopt;
  std::string result = text;
  Curl().free(text);
  return result;
}

std::optional<Address> ParseAddress(const std::string& url) {
  if (!OpenCurl()) return std::nullopt;
  const std::unique_ptr<CURLU, decltype(Curl().url_cleanup)> parsed(Curl().url(),
                                                                    Curl().url_cleanup);
  if (Curl().url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return std::nullopt;
  const auto scheme = PartOf(parsed.get(), CURLUPART_SCHEME);
  const auto host = PartOf(parsed.get(), CURLUPART_HOST);
  if (!scheme || !host || host->empty()) return std::nullopt;
  Address address{Lower(*scheme), Lower(*host), PartOf(parsed.get(), CURLUPART_PORT).value_or("")};
  address.credentials = PartOf(parsed.get(), CURLUPART_USER) ||  //
                        PartOf(parsed.get(), CURLUPART_PASSWORD);
  return address;
}

bool IsLoopbackHost(const std::string& host) {
  if (host == "localhost" || host == "[::1]" || host == "::1") return true;
  // Only a number: "127.evil.example" is somebody else.
  return host.rfind("127.", 0) == 0 && host.find_first_not_of("0123456789.") == std::string::npos;
}

// Whether the request was never sent: there was no connection that could take it.
bool WasNeverSent(CURL* easy) {
  curl_off_t begun = 0;  // microseconds until libcurl was about to send
  Curl().easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &begun);
  return begun == 0;
}

// One socket of libcurl's under the loop's eyes.
struct WatchedSocket {
  explicit WatchedSocket(HttpClient::State* state) : poll(state) {}
  UvHandle<uv_poll_t> poll;
};

}  // namespace

namespace {

// A request of libcurl's and what came so far. libcurl writes into it; the handlers are called
// outside of libcurl, which cannot be called from its own callbacks.
struct Running {
  std::uint64_t id = 0;
  std::vector<std::uint64_t>* news = nullptr;  // of the client: who has something for its handlers
  CURL* easy = nullptr;
  curl_slist* header_list = nullptr;
  std::string body;
  std::size_t max_bytes = 0;
  std::size_t received = 0;
  bool too_large = false;
  HttpHead head;
  std::string waiting;  // of the body, not handed on yet
  std::optional<CURLcode> ended;
  char error_text[CURL_ERROR_SIZE] = "";
  HttpClient::DataHandler on_data;
  HttpClient::EndHandler on_end;

  ~Running() {
    if (easy == nullptr) return;
    Curl().easy_cleanup(easy);
    Curl().slist_free_all(header_list);
  }
};

}  // namespace

struct HttpClient::State : std::enable_shared_from_this<HttpClient::State> {
  explicit State(Loop& used) : loop(used), timer(this) {}

  void Act(curl_socket_t socket, int events);
  void Deliver();
  void DeliverTo(std::uint64_t id);
  void Remove(std::uint64_t id);
  void Watch(curl_socket_t socket, int what, WatchedSocket* watched);
  bool Begin();
  void EndAll();
  void Close();

  Loop& loop;
  CURLM* multi = nullptr;
  UvHandle<uv_timer_t> timer;
  std::map<WatchedSocket*, std::unique_ptr<WatchedSocket>> sockets;
  std::map<std::uint64_t, std::unique_ptr<Running>> running;
  std::vector<std::uint64_t> news;
  std::uint64_t last_id = 0;
};

namespace {

std::size_t OnBody(char* bytes, std::size_t one, std::size_t count, void* user) {
  auto* running = static_cast<Running*>(user);
  running->received += one * count;
  if (running->received > running->max_bytes) {
    running->too_large = true;
    return 0;  // ends the transfer
  }
  if (running->waiting.empty()) running->news->push_back(running->id);
  running->waiting.append(bytes, one * count);
  return one * count;
}

std::size_t OnHeader(char* bytes, std::size_t one, std::size_t count, void* user) {
  auto* running = static_cast<Running*>(user);
  const std::string_view line(bytes, one * count);
  // Headers are few and short; libcurl itself limits a line to 100 kB.
  constexpr std::size_t kMostHeaders = 200;
  if (line.rfind("HTTP/", 0) == 0) {
    running->head.headers.clear();  // what came before was an interim answer
  } else if (const std::size_t colon = line.find(':');
             colon != std::string_view::npos && running->head.headers.size() < kMostHeaders) {
    running->head.headers[Lower(std::string(Trimmed(line.substr(0, colon))))] =
        Trimmed(line.substr(colon + 1));
  }
  return one * count;
}

int OnSocket(CURL*, curl_socket_t socket, int what, void* user, void* watched) {
  static_cast<HttpClient::State*>(user)->Watch(socket, what, static_cast<WatchedSocket*>(watched));
  return 0;
}

// Never acts itself: libcurl must not be called from here.
int OnTimerWish(CURLM*, long milliseconds, void* user) {
  auto* state = static_cast<HttpClient::State*>(user);
  if (!state->timer) return 0;
  if (milliseconds < 0) {
    uv_timer_stop(state->timer.get());
    return 0;
  }
  const auto expired = [](uv_timer_t* timer) {
    if (timer->data != nullptr) {
      static_cast<HttpClient::State*>(timer->data)->Act(CURL_SOCKET_TIMEOUT, 0);
    }
  };
  uv_update_time(state->timer.get()->loop);
  uv_timer_start(state->timer.get(), expired, static_cast<std::uint64_t>(milliseconds), 0);
  return 0;
}

}  // namespace

void HttpClient::State::Watch(curl_socket_t socket, int what, WatchedSocket* watched) {
  if (what == CURL_POLL_REMOVE) {
    Curl().multi_assign(multi, socket, nullptr);
    sockets.erase(watched);
    return;
  }
  if (watched == nullptr) {
    auto made = std::make_unique<WatchedSocket>(this);
    if (uv_poll_init_socket(loop.uv(), made->poll.get(), socket) != 0) {
      made->poll.Discard();
      return;  // nothing will come of the transfer; who waits for it has a time limit
    }
    watched = made.get();
    sockets[watched] = std::move(made);
    Curl().multi_assign(multi, socket, watched);
  }
  int events = 0;
  if ((what & CURL_POLL_IN) != 0) events |= UV_READABLE;
  if ((what & CURL_POLL_OUT) != 0) events |= UV_WRITABLE;
  const auto ready = [](uv_poll_t* poll, int status, int seen) {
    if (poll->data == nullptr) return;
    int flags = status < 0 ? CURL_CSELECT_ERR : 0;
    if ((seen & UV_READABLE) != 0) flags |= CURL_CSELECT_IN;
    if ((seen & UV_WRITABLE) != 0) flags |= CURL_CSELECT_OUT;
    uv_os_fd_t descriptor = -1;
    uv_fileno(reinterpret_cast<uv_handle_t*>(poll), &descriptor);
    static_cast<State*>(poll->data)->Act(descriptor, flags);
  };
  uv_poll_start(watched->poll.get(), events, ready);
}

// Handlers may destroy transfers and the client itself, so this object is kept until they are done.
void HttpClient::State::Act(curl_socket_t socket, int events) {
  const auto keep = shared_from_this();
  int still_running = 0;
  Curl().multi_socket_action(multi, socket, events, &still_running);
  int left = 0;
  while (const CURLMsg* message = Curl().multi_info_read(multi, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    Running* done = nullptr;
    Curl().easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &done);
    done->ended = message->data.result;
    news.push_back(done->id);
  }
  Deliver();
}

void HttpClient::State::Deliver() {
  for (const std::uint64_t id : std::exchange(news, {})) DeliverTo(id);
}

void HttpClient::State::DeliverTo(std::uint64_t id) {
  const auto found = running.find(id);
  if (found == running.end()) return;  // an earlier handler ended it
  Running& one = *found->second;
  long status = 0;
  Curl().easy_getinfo(one.easy, CURLINFO_RESPONSE_CODE, &status);
  one.head.status = static_cast<int>(status);
  if (!one.waiting.empty()) {
    // What the handler needs must outlive the transfer, which it may destroy.
    const std::string bytes = std::exchange(one.waiting, {});
    const HttpHead head = one.head;
    auto on_data = std::move(one.on_data);
    on_data(head, bytes);
    const auto again = running.find(id);
    if (again == running.end()) return;
    again->second->on_data = std::move(on_data);
  }
  if (!one.ended) return;
  HttpResult result;
  result.head = one.head;
  if (*one.ended != CURLE_OK) {
    result.end = HttpEnd::kBroken;
    if (one.too_large) {
      result.end = HttpEnd::kTooLarge;
    } else if (WasNeverSent(one.easy)) {
      result.end = HttpEnd::kUnreachable;
    }
    result.message = one.error_text[0] != '\0' ? one.error_text : Curl().easy_strerror(*one.ended);
  }
  auto on_end = std::move(one.on_end);
  Remove(id);
  on_end(std::move(result));
}

void HttpClient::State::Remove(std::uint64_t id) {
  const auto found = running.find(id);
  if (found == running.end()) return;
  if (multi != nullptr) Curl().multi_remove_handle(multi, found->second->easy);
  running.erase(found);
}

// Without libcurl.
void HttpClient::State::EndAll() {
  const auto keep = shared_from_this();
  while (!running.empty()) {
    const auto first = running.begin();
    auto on_end = std::move(first->second->on_end);
    running.erase(first);
    HttpResult result;
    result.end = HttpEnd::kUnreachable;
    result.message = OpenCurl().error().message;
    on_end(std::move(result));
  }
}

void HttpClient::State::Close() {
  while (!running.empty()) Remove(running.begin()->first);
  if (multi != nullptr) Curl().multi_cleanup(multi);
  sockets.clear();
  timer.Close();
}

namespace {

class CurlTransfer final : public HttpTransfer {
 public:
  CurlTransfer(std::weak_ptr<HttpClient::State> state, std::uint64_t id)
      : state_(std::move(state)), id_(id) {}
  ~CurlTransfer() override {
    if (const auto state = state_.lock()) state->Remove(id_);
  }

 private:
  std::weak_ptr<HttpClient::State> state_;
  std::uint64_t id_;
};

curl_slist* HeaderList(const HttpRequest& request) {
  curl_slist* list = nullptr;
  const auto add = [&list](const std::string& name, const std::string& value) {
    list = Curl().slist_append(list, (name + ": " + value).c_str());
  };
  for (const auto& [name, value] : request.headers) add(name, value);
  for (const auto& [name, value] : request.secret_headers) add(name, value.Reveal());
  // Without this libcurl asks before it sends a long body, and waits a second for the answer.
  return Curl().slist_append(list, "Expect:");
}

// libcurl has one function for options of all types.
template <class T>
void Set(CURL* easy, CURLoption option, T value) {
  Curl().easy_setopt(easy, option, value);
}

}  // namespace

HttpClient::HttpClient(Loop& loop) : state_(std::make_shared<State>(loop)) {
  uv_timer_init(loop.uv(), state_->timer.get());
}

// False: without libcurl.
bool HttpClient::State::Begin() {
  if (multi != nullptr) return true;
  if (!OpenCurl()) return false;
  multi = Curl().multi_init();
  if (multi == nullptr) std::abort();
  Curl().multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, OnSocket);
  Curl().multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
  Curl().multi_setopt(multi, CURLMOPT_TIMERFUNCTION, OnTimerWish);
  Curl().multi_setopt(multi, CURLMOPT_TIMERDATA, this);
  return true;
}

HttpClient::~HttpClient() { state_->Close(); }

std::unique_ptr<HttpTransfer> HttpClient::Start(HttpRequest request, DataHandler on_data,
                                                EndHandler on_end) {
  const std::uint64_t id = ++state_->last_id;
  auto one = std::make_unique<Running>();
  one->id = id;
  one->news = &state_->news;
  if (!state_->Begin()) {
    one->on_end = std::move(on_end);
    state_->running[id] = std::move(one);
    const auto end = [](uv_timer_t* timer) {
      if (timer->data != nullptr) static_cast<State*>(timer->data)->EndAll();
    };
    uv_timer_start(state_->timer.get(), end, 0, 0);
    return std::make_unique<CurlTransfer>(state_, id);
  }
  one->easy = Curl().easy_init();
  if (one->easy == nullptr) std::abort();
  one->header_list = HeaderList(request);
  one->body = std::move(request.body);
  one->max_bytes = request.max_bytes;
  one->on_data = std::move(on_data);
  one->on_end = std::move(on_end);
  CURL* easy = one->easy;
  Set(easy, CURLOPT_PRIVATE, one.get());
  Set(easy, CURLOPT_URL, request.url.c_str());
  Set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  Set(easy, CURLOPT_NOSIGNAL, 1L);
  Set(easy, CURLOPT_HTTPHEADER, one->header_list);
  Set(easy, CURLOPT_WRITEFUNCTION, OnBody);
  Set(easy, CURLOPT_WRITEDATA, one.get());
  Set(easy, CURLOPT_HEADERFUNCTION, OnHeader);
  Set(easy, CURLOPT_HEADERDATA, one.get());
  Set(easy, CURLOPT_ERRORBUFFER, one->error_text);
  if (IsLoopback(request.url)) Set(easy, CURLOPT_PROXY, "");
  if (request.method == "GET") {
    Set(easy, CURLOPT_HTTPGET, 1L);
  } else {
    Set(easy, CURLOPT_POST, 1L);
    Set(easy, CURLOPT_POSTFIELDS, one->body.data());
    Set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(one->body.size()));
    if (request.method != "POST") Set(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
  state_->running[id] = std::move(one);
  // Begins by the timer that libcurl wishes for, so nothing is called before this returns.
  Curl().multi_add_handle(state_->multi, easy);
  return std::make_unique<CurlTransfer>(state_, id);
}

bool IsLoopback(const std::string& url) {
  const auto address = ParseAddress(url);
  return address && IsLoopbackHost(address->host);
}

base::Result<std::string> OriginOf(const std::string& url) {
  if (!OpenCurl()) return base::Fail(OpenCurl().error());
  const auto address = ParseAddress(url);
  if (!address || (address->scheme != "http" && address->scheme != "https")) {
    return base::Fail(base::InvalidArgument("expected an address that begins with https://"));
  }
  if (address->credentials) {
    return base::Fail(base::InvalidArgument(
        "an address may hold no user and password; keys come from the environment or a file"));
  }
  return address->scheme + "://" + address->host +
         (address->port.empty() ? "" : ":" + address->port);
}

}  // namespace cupilot::loop
