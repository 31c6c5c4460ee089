#include "tests/support/mock_http_server.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

namespace cupilot::test {
namespace {

struct Sending {
  uv_write_t request{};
  std::string bytes;
};

std::string LowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

std::string MockHttpServer::Request::Header(const std::string& name) const {
  const std::string lower = LowerCase(head);
  const std::size_t at = lower.find("\r\n" + name + ":");
  if (at == std::string::npos) return {};
  const std::size_t begin = head.find_first_not_of(' ', at + name.size() + 3);
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

struct MockHttpServer::State {
  // A connection; it belongs to libuv's handle and is freed when that has closed.
  struct Connection final : Peer {
    uv_tcp_t socket{};
    State* server = nullptr;
    std::array<char, 65536> buffer{};
    std::string incoming;
    std::string endless;
    std::uint64_t endless_left = 0;
    std::uint64_t taken = 0;
    int under_way = 0;
    bool close_wanted = false;
    bool client_closed = false;
    bool gone = false;  // libuv has let go of it

    void Send(std::string_view bytes) override {
      if (client_closed || uv_is_closing(handle()) != 0) return;
      auto* sending = new Sending;
      sending->bytes = bytes;
      sending->request.data = sending;
      const uv_buf_t out =
          uv_buf_init(sending->bytes.data(), static_cast<unsigned>(sending->bytes.size()));
      ++under_way;
      const auto sent = [](uv_write_t* request, int status) {
        const std::unique_ptr<Sending> done(static_cast<Sending*>(request->data));
        static_cast<Connection*>(request->handle->data)->OnSent(done->bytes.size(), status);
      };
      uv_write(&sending->request, reinterpret_cast<uv_stream_t*>(&socket), &out, 1, sent);
    }
    void SendEndlessly(std::string bytes, std::uint64_t total) override {
      endless = std::move(bytes);
      endless_left = total;
      Send(endless);
    }
    void Close() override {
      close_wanted = true;
      if (under_way == 0) Drop();
    }
    bool closed_by_client() const override { return client_closed; }
    std::uint64_t sent() const override { return taken; }

    uv_handle_t* handle() { return reinterpret_cast<uv_handle_t*>(&socket); }
    void Drop() {
      const auto closed = [](uv_handle_t* one) {
        static_cast<Connection*>(one->data)->gone = true;
      };
      if (uv_is_closing(handle()) == 0) uv_close(handle(), closed);
    }
    void OnSent(std::size_t bytes, int status) {
      --under_way;
      if (status != 0) {
        client_closed = client_closed || status != UV_ECANCELED;
        return;
      }
      taken += bytes;
      if (endless_left > 0) {
        endless_left -= std::min<std::uint64_t>(endless_left, bytes);
        if (endless_left > 0) return Send(endless);
      }
      if (close_wanted && under_way == 0) Drop();
    }
    void OnRead(ssize_t count) {
      if (count < 0) {
        client_closed = true;
        Drop();
        return;
      }
      incoming.append(buffer.data(), static_cast<std::size_t>(count));
      while (TakeRequest()) {
      }
    }
    bool TakeRequest() {
      const std::size_t end = incoming.find("\r\n\r\n");
      if (end == std::string::npos) return false;
      Request request;
      request.head = incoming.substr(0, end + 2);
      const std::string length = request.Header("content-length");
      const std::size_t body = length.empty() ? 0 : std::stoul(length);
      if (incoming.size() < end + 4 + body) return false;
      request.body = incoming.substr(end + 4, body);
      incoming.erase(0, end + 4 + body);
      server->requests.push_back(request);
      server->handler(request, *this);
      return true;
    }
  };

  void OnConnection() {
    auto connection = std::make_unique<Connection>();
    connection->server = this;
    uv_tcp_init(listener.loop, &connection->socket);
    connection->socket.data = connection.get();
    uv_accept(reinterpret_cast<uv_stream_t*>(&listener),
              reinterpret_cast<uv_stream_t*>(&connection->socket));
    const auto allocate = [](uv_handle_t* handle, std::size_t, uv_buf_t* out) {
      auto* owner = static_cast<Connection*>(handle->data);
      *out = uv_buf_init(owner->buffer.data(), owner->buffer.size());
    };
    const auto read = [](uv_stream_t* stream, ssize_t count, const uv_buf_t*) {
      if (count != 0) static_cast<Connection*>(stream->data)->OnRead(count);
    };
    uv_read_start(reinterpret_cast<uv_stream_t*>(&connection->socket), allocate, read);
    connections.push_back(std::move(connection));
  }

  uv_tcp_t listener{};
  loop::Loop* loop = nullptr;
  Handler handler;
  std::vector<Request> requests;
  std::vector<std::unique_ptr<Connection>> connections;
  int port = 0;
  bool closed = false;
};

MockHttpServer::MockHttpServer(loop::Loop& loop, Handler handler)
    : state_(std::make_unique<State>()) {
  ::signal(SIGPIPE, SIG_IGN);  // a client may go while it is answered
  state_->loop = &loop;
  state_->handler = std::move(handler);
  uv_tcp_init(loop.uv(), &state_->listener);
  state_->listener.data = state_.get();
  sockaddr_in address{};
  uv_ip4_addr("127.0.0.1", 0, &address);
  uv_tcp_bind(&state_->listener, reinterpret_cast<const sockaddr*>(&address), 0);
  const auto connected = [](uv_stream_t* stream, int status) {
    if (status == 0) static_cast<State*>(stream->data)->OnConnection();
  };
  const int listening =
      uv_listen(reinterpret_cast<uv_stream_t*>(&state_->listener), 1024, connected);
  EXPECT_EQ(listening, 0);
  int size = sizeof address;
  uv_tcp_getsockname(&state_->listener, reinterpret_cast<sockaddr*>(&address), &size);
  state_->port = ntohs(address.sin_port);
}

// libuv lets go of a handle in a later turn of the loop: the memory stays until the last has.
MockHttpServer::~MockHttpServer() {
  const auto closed = [](uv_handle_t* handle) { static_cast<State*>(handle->data)->closed = true; };
  uv_close(reinterpret_cast<uv_handle_t*>(&state_->listener), closed);
  for (auto& connection : state_->connections) {
    connection->endless_left = 0;
    connection->Drop();
  }
  const auto all_closed = [this] {
    return state_->closed && std::all_of(state_->connections.begin(), state_->connections.end(),
                                         [](const auto& one) { return one->gone; });
  };
  while (!all_closed()) uv_run(state_->loop->uv(), UV_RUN_NOWAIT);
}

std::string MockHttpServer::url() const {
  return "http://127.0.0.1:" + std::to_string(state_->port);
}
const std::vector<MockHttpServer::Request>& MockHttpServer::requests() const {
  return state_->requests;
}
int MockHttpServer::connections() const { return static_cast<int>(state_->connections.size()); }

std::string HttpAnswer(int status, std::string_view body,
                       const std::vector<std::pair<std::string, std::string>>& headers) {
  std::string text = "HTTP/1.1 " + std::to_string(status) +
                     " Said\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  for (const auto& [name, value] : headers) text += name + ": " + value + "\r\n";
  return text + "\r\n" + std::string(body);
}

std::string HttpStreamHead(std::string_view content_type) {
  return "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: " + std::string(content_type) +
         "\r\n\r\n";
}

}  // namespace cupilot::test
