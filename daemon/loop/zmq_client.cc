#include "loop/zmq_client.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

#include <cerrno>
#include <cstring>

namespace cupilot::loop {

struct ZmqClient::State {
  ~State() {
    if (socket != nullptr) zmq_close(socket);
    if (context != nullptr) zmq_ctx_term(context);
  }
  void* context = nullptr;
  void* socket = nullptr;
};

namespace {

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
  state->context = zmq_ctx_new();
  state->socket = zmq_socket(state->context, ZMQ_DEALER);
  const int linger = 0;
  zmq_setsockopt(state->socket, ZMQ_LINGER, &linger, sizeof linger);
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

base::Result<std::string> ZmqClient::Receive(std::chrono::milliseconds limit) {
  zmq_pollitem_t item{state_->socket, 0, ZMQ_POLLIN, 0};
  const int ready = zmq_poll(&item, 1, static_cast<long>(limit.count()));
  if (ready < 0)
    return base::Fail(base::IoError(std::string("poll: ") + zmq_strerror(zmq_errno())));
  if (ready == 0) return base::Fail(base::Timeout("the daemon did not answer in time"));
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
