#include "loop/zmq_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>

#include "loop/uv_handle.h"

namespace cupilot::loop {
namespace {

// Timers and workers have their turn between messages that take long.
constexpr std::chrono::milliseconds kMostOfATurn{5};
constexpr std::int64_t kMaxMessage = 1 << 20;
constexpr int kMessagesPerTurn = 64;  // an unbounded drain would starve the rest of the loop
// Of one peer, in messages: by ZeroMQ's own 1000 each could make us hold a gigabyte.
constexpr int kMostReceived = 16;
constexpr int kMostSent = 256;
// The reply to `stop` is still under way when the socket is closed; who does not read it is not
// waited for longer.
constexpr int kLingerMs = 200;

base::Result<int> BindSocket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return base::Fail(base::Unavailable("the socket's path is longer than " +
                                        std::to_string(sizeof address.sun_path - 1) +
                                        " bytes: " + path));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file < 0) return base::Fail(base::IoError(std::string("socket: ") + std::strerror(errno)));
  ::unlink(path.c_str());
  const mode_t old = ::umask(077);
  const int bound = ::bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::umask(old);
  if (bound != 0 || ::listen(file, 64) != 0) {
    const std::string reason = std::strerror(errno);
    ::close(file);
    return base::Fail(base::Unavailable("cannot listen on " + path + ": " + reason));
  }
  return file;
}

// Peer-Address of a Unix socket is "...:uid:gid:pid"; read from the right.
bool IsOurUser(zmq_msg_t* message) {
  const char* text = zmq_msg_gets(message, "Peer-Address");
  if (text == nullptr) return false;
  std::string address = text;
  for (int field = 0; field < 2; ++field) {
    const std::size_t colon = address.rfind(':');
    if (colon == std::string::npos) return false;
    address.resize(colon);
  }
  const std::size_t colon = address.rfind(':');
  const std::string uid = colon == std::string::npos ? address : address.substr(colon + 1);
  return uid == std::to_string(::getuid());
}

// Whether who sent the message has closed its end by now. libzmq itself would know only after it
// has handed over all that was sent before. A descriptor that is another one's by now is no
// mistake: its first owner is gone, too.
bool SenderIsGone(zmq_msg_t* message) {
  pollfd connection{zmq_msg_get(message, ZMQ_SRCFD), 0, 0};
  return connection.fd >= 0 && ::poll(&connection, 1, 0) > 0 && connection.revents != 0;
}

void SetOptions(void* socket, int file, int greeting_ms) {
  const auto set = [socket](int option, auto value) {
    zmq_setsockopt(socket, option, &value, sizeof value);
  };
  set(ZMQ_USE_FD, file);
  set(ZMQ_LINGER, kLingerMs);
  set(ZMQ_ROUTER_MANDATORY, 1);
  set(ZMQ_MAXMSGSIZE, kMaxMessage);
  set(ZMQ_HANDSHAKE_IVL, greeting_ms);
  set(ZMQ_RCVHWM, kMostReceived);
  set(ZMQ_SNDHWM, kMostSent);
  // Where libzmq knows it, others are turned away before they can say anything; IsOurUser() looks
  // at each message all the same.
  set(ZMQ_IPC_FILTER_UID, ::getuid());
}

}  // namespace

struct ZmqServer::State {
  State() : poll(this), idle(this) {}
  ~State() {
    poll.Close();
    idle.Close();
    if (socket != nullptr) zmq_close(socket);
    if (context != nullptr) zmq_ctx_term(context);
    if (!path.empty()) ::unlink(path.c_str());
  }

  bool Ready() const {
    int events = 0;
    std::size_t size = sizeof events;
    return zmq_getsockopt(socket, ZMQ_EVENTS, &events, &size) == 0 && (events & ZMQ_POLLIN) != 0;
  }
  void Drain();
  bool ReceiveOne();
  // ZMQ_FD is edge-triggered: whatever is left has to be come back to without another edge.
  void ContinueLater() {
    uv_idle_start(idle.get(), [](uv_idle_t* handle) {
      if (handle->data == nullptr) return;
      uv_idle_stop(handle);
      static_cast<State*>(handle->data)->Drain();
    });
  }

  UvHandle<uv_poll_t> poll;
  UvHandle<uv_idle_t> idle;
  void* context = nullptr;
  void* socket = nullptr;
  std::string path;
  Handler on_message;
  std::int64_t abandoned = 0;
};

void ZmqServer::State::Drain() {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kMessagesPerTurn; ++i) {
    if (!Ready()) return;
    if (!ReceiveOne()) return;
    if (std::chrono::steady_clock::now() - begin > kMostOfATurn) break;
  }
  ContinueLater();
}

// One message of two frames, [peer][body]; anything else is dropped whole.
bool ZmqServer::State::ReceiveOne() {
  std::string peer, body;
  int frames = 0;
  bool ours = true;
  bool gone = false;
  bool more = true;
  while (more) {
    zmq_msg_t message;
    zmq_msg_init(&message);
    if (zmq_msg_recv(&message, socket, ZMQ_DONTWAIT) < 0) {
      zmq_msg_close(&message);
      return false;
    }
    const std::string bytes(static_cast<const char*>(zmq_msg_data(&message)),
                            zmq_msg_size(&message));
    (frames == 0 ? peer : body) = bytes;
    if (frames > 0) ours = ours && IsOurUser(&message);
    if (frames > 0) gone = SenderIsGone(&message);
    ++frames;
    more = zmq_msg_more(&message) != 0;
    zmq_msg_close(&message);
  }
  if (frames != 2 || !ours) return true;
  if (gone) {
    ++abandoned;
  } else {
    on_message(peer, body);
  }
  return true;
}

base::Result<std::unique_ptr<ZmqServer>> ZmqServer::Listen(Loop& loop, const std::string& path,
                                                           Handler on_message) {
  return Listen(loop, path, Options(), std::move(on_message));
}

base::Result<std::unique_ptr<ZmqServer>> ZmqServer::Listen(Loop& loop, const std::string& path,
                                                           const Options& options,
                                                           Handler on_message) {
  auto state = std::make_unique<State>();
  // Both handles are given to libuv first, so that every way out may close them.
  uv_idle_init(loop.uv(), state->idle.get());
  const auto fail = [&state](base::Error error) {
    state->poll.Discard();
    return base::Fail(std::move(error));
  };
  auto bound = options.socket >= 0 ? base::Result<int>(options.socket) : BindSocket(path);
  if (!bound) return fail(bound.error());
  if (options.socket < 0) state->path = path;
  state->context = zmq_ctx_new();
  zmq_ctx_set(state->context, ZMQ_IO_THREADS, 1);
  state->socket = zmq_socket(state->context, ZMQ_ROUTER);
  SetOptions(state->socket, *bound, static_cast<int>(options.greeting.count()));
  if (zmq_bind(state->socket, ("ipc://" + path).c_str()) != 0) {
    return fail(base::Unavailable("cannot serve " + path + ": " + zmq_strerror(zmq_errno())));
  }
  int events_file = -1;
  std::size_t size = sizeof events_file;
  zmq_getsockopt(state->socket, ZMQ_FD, &events_file, &size);
  state->on_message = std::move(on_message);
  if (uv_poll_init(loop.uv(), state->poll.get(), events_file) != 0) {
    return fail(base::Internal("libuv cannot poll the ZeroMQ descriptor"));
  }
  // What wakes the loop is looked at in its next turn, which begins at once: behind what was left
  // of the turn before it would be twice as much for one turn.
  uv_poll_start(state->poll.get(), UV_READABLE, [](uv_poll_t* poll, int, int) {
    if (poll->data != nullptr) static_cast<State*>(poll->data)->ContinueLater();
  });
  state->ContinueLater();  // what came before the poll began made no edge
  return std::unique_ptr<ZmqServer>(new ZmqServer(std::move(state)));
}

ZmqServer::ZmqServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
ZmqServer::~ZmqServer() = default;

std::int64_t ZmqServer::abandoned() const { return state_->abandoned; }

bool ZmqServer::Send(const std::string& peer, std::string_view message) {
  const bool sent =
      zmq_send(state_->socket, peer.data(), peer.size(), ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0 &&
      zmq_send(state_->socket, message.data(), message.size(), ZMQ_DONTWAIT) >= 0;
  // Sending may consume the edge of a message that came in: look again.
  if (state_->Ready()) state_->ContinueLater();
  return sent;
}

}  // namespace cupilot::loop
