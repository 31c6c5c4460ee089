#include "loop/zmq_client.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

namespace cupilot::loop {

struct ZmqClient::State {
  ~State() {
    // Else the end of the connection is told to a monitor that may be gone by then, and what was to
    // be told is lost memory (ZeroMQ's issue 3575 has the same order hang).
    if (monitor != nullptr) zmq_socket_monitor(socket, nullptr, 0);
    if (socket != nullptr) zmq_close(socket);
    if (monitor != nullptr) zmq_close(monitor);
    if (context != nullptr) zmq_ctx_term(context);
  }
  void* context = nullptr;
  void* socket = nullptr;
  void* monitor = nullptr;  // has something to read once the other end is gone
};

namespace {

constexpr const char* kMonitor = "inproc://monitor";

bool HasMessage(void* socket) {
  zmq_pollitem_t item{socket, 0, ZMQ_POLLIN, 0};
  return zmq_poll(&item, 1, 0) > 0;
}

// ZeroMQ's threads block all signals, but as the first thing that they do. Until one of them runs
// it would be handed a signal that this thread has blocked to read it, and the process would end.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;
  ~WithoutSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// ZeroMQ connects in the background and never says that nobody is there; a plain connect does.
base::Result<> Probe(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return base::Fail(base::Unavailable("the socket's path is too long: " + path));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file < 0) return base::Fail(base::IoError(std::string("socket: ") + std::strerror(errno)));
  const int result = ::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const std::string reason = std::strerror(errno);
  ::close(file);
  if (result != 0)
    return base::Fail(base::Unavailable("no daemon listens at " + path + ": " + reason));
  return {};
}

}  // namespace

base::Result<std::unique_ptr<ZmqClient>> ZmqClient::Connect(const std::string& path) {
  TRY(Probe(path));
  auto state = std::make_unique<State>();
  {
    const WithoutSignals here;  // the first socket starts the threads
    state->context = zmq_ctx_new();
    state->socket = zmq_socket(state->context, ZMQ_DEALER);
  }
  const int linger = 0;
  zmq_setsockopt(state->socket, ZMQ_LINGER, &linger, sizeof linger);
  // Else a daemon that was killed looks like one that takes its time.
  if (zmq_socket_monitor(state->socket, kMonitor, ZMQ_EVENT_DISCONNECTED) == 0) {
    state->monitor = zmq_socket(state->context, ZMQ_PAIR);
    zmq_connect(state->monitor, kMonitor);
  }
  if (zmq_connect(state->socket, ("ipc://" + path).c_str()) != 0) {
    return base::Fail(base::Unavailable(std::string("connect: ") + zmq_strerror(zmq_errno())));
  }
  return std::unique_ptr<ZmqClient>(new ZmqClient(std::move(state)));
}

ZmqClient::ZmqClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
ZmqClient::~ZmqClient() = default;

base::Result<> ZmqClient::Send(std::string_view message) {
  if (zmq_send(state_->socket, message.data(), message.size(), 0) < 0) {
    return base::Fail(base::IoError(std::string("send: ") + zmq_strerror(zmq_errno())));
  }
  return {};
}

base::Result<ZmqClient::Ready> ZmqClient::Wait(std::span<const int> files,
                                               std::chrono::milliseconds limit) {
  std::vector<zmq_pollitem_t> items = {{state_->socket, 0, ZMQ_POLLIN, 0}};
  for (const int file : files) items.push_back({nullptr, file, ZMQ_POLLIN | ZMQ_POLLERR, 0});
  if (state_->monitor != nullptr) items.push_back({state_->monitor, 0, ZMQ_POLLIN, 0});
  const int ready =
      zmq_poll(items.data(), static_cast<int>(items.size()), static_cast<long>(limit.count()));
  if (ready < 0 && zmq_errno() != EINTR) {
    return base::Fail(base::IoError(std::string("poll: ") + zmq_strerror(zmq_errno())));
  }
  if (ready <= 0) return Ready{};
  const bool gone = state_->monitor != nullptr && items.back().revents != 0;
  // The last message and the end may have come together.
  const bool message = items[0].revents != 0 || (gone && HasMessage(state_->socket));
  return Ready{message, gone && !message};
}

base::Result<std::string> ZmqClient::Receive(std::chrono::milliseconds limit) {
  TRY_ASSIGN(const Ready ready, Wait({}, limit));
  if (ready.gone) return base::Fail(base::Unavailable("the daemon has ended"));
  if (!ready.message) return base::Fail(base::Timeout("the daemon did not answer in time"));
  zmq_msg_t message;
  zmq_msg_init(&message);
  if (zmq_msg_recv(&message, state_->socket, 0) < 0) {
    zmq_msg_close(&message);
    return base::Fail(base::IoError(std::string("receive: ") + zmq_strerror(zmq_errno())));
  }
  std::string bytes(static_cast<const char*>(zmq_msg_data(&message)), zmq_msg_size(&message));
  zmq_msg_close(&message);
  return bytes;
}

}  // namespace cupilot::loop
