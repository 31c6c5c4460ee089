// Clients that send too much, too little or too slowly, or are somebody else's: they cost the
// others nothing. Spoken by hand, since libzmq's own sockets do none of that.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "loop/zmq_client.h"
#include "loop/zmq_server.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::loop {
namespace {

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

// A connection that says what the test wants, byte by byte (ZMTP 3.0).
class RawClient {
 public:
  explicit RawClient(const std::string& path)
      : file_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_un address = AddressOf(path);
    connected_ = ::connect(file_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient() { ::close(file_); }

  bool connected() const { return connected_; }
  // False once the other side has closed.
  bool Say(const std::string& bytes) const {
    return ::send(file_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  // So many bytes; empty once the other side has closed.
  std::string Hear(std::size_t count) const {
    std::string bytes(count, '\0');
    const ssize_t got = ::recv(file_, bytes.data(), count, MSG_WAITALL);
    return got == static_cast<ssize_t>(count) ? bytes : "";
  }
  // What ZeroMQ says before any message.
  bool Greet() const {
    std::string greeting =
        std::string("\xff") + std::string(8, '\0') + "\x7f" + std::string("\x03\x00NULL", 6);
    greeting.resize(64, '\0');
    const std::string ready =
        std::string("\x05READY\x0bSocket-Type") + std::string("\0\0\0\x06", 4) + "DEALER";
    if (!Say(greeting + std::string("\x04") + static_cast<char>(ready.size()) + ready))
      return false;
    // Its greeting and its READY: what comes before them is lost on libzmq.
    if (Hear(64).empty()) return false;
    const std::string head = Hear(2);
    return !head.empty() && !Hear(static_cast<unsigned char>(head[1])).empty();
  }
  // Waits until the other side closes; what it says before that is passed over.
  void AwaitClose() const {
    char buffer[4096];
    while (::recv(file_, buffer, sizeof buffer, 0) > 0) {
    }
  }

 private:
  int file_;
  bool connected_ = false;
};

class BadClientsTest : public ::testing::Test {
 protected:
  ~BadClientsTest() override {
    if (!thread_.joinable()) return;
    loop_.Stop();
    thread_.join();
    server_.reset();
  }

  std::string path() const { return folder_ / "socket"; }

  void Listen(const ZmqServer::Options& options = {}) {
    auto listening = ZmqServer::Listen(loop_, path(), options,
                                       [this](const std::string& peer, std::string_view m) {
                                         ++received_;
                                         server_->Send(peer, "re: " + std::string(m));
                                       });
    ASSERT_TRUE(listening) << listening.error().message;
    server_ = std::move(*listening);
  }
  void Serve(const ZmqServer::Options& options = {}) {
    ASSERT_NO_FATAL_FAILURE(Listen(options));
    thread_ = std::thread([this] { loop_.Run(); });
  }

  // Somebody who behaves is answered.
  void ExpectService() const {
    auto client = ZmqClient::Connect(path());
    ASSERT_TRUE(client) << client.error().message;
    ASSERT_TRUE((*client)->Send("fine"));
    const auto reply = (*client)->Receive(std::chrono::seconds(60));
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(*reply, "re: fine");
  }

  test::TemporaryFolder folder_;
  Loop loop_;
  std::atomic<int> received_ = 0;
  std::unique_ptr<ZmqServer> server_;
  std::thread thread_;
};

TEST_F(BadClientsTest, HalfAMessageIsNone) {
  Serve();
  const RawClient half(path());
  ASSERT_TRUE(half.Greet());
  ASSERT_TRUE(half.Say(std::string("\x00\x64", 2) + "ten bytes."));  // of a hundred
  ExpectService();
  EXPECT_EQ(received_, 1);
}

TEST_F(BadClientsTest, WhoSpeaksByHandIsUnderstood) {
  Serve();  // else the tests around this one would show nothing
  const RawClient raw(path());
  ASSERT_TRUE(raw.Greet());
  ASSERT_TRUE(raw.Say(std::string("\x00\x02hi", 4)));
  ExpectService();
  while (received_ < 2) ExpectService();
}

TEST_F(BadClientsTest, AGreetingWithoutEndIsCutOff) {
  ZmqServer::Options options;
  options.greeting = std::chrono::milliseconds(30);
  Serve(options);
  const RawClient silent(path());
  const RawClient slow(path());
  ASSERT_TRUE(slow.Say("\xff"));
  silent.AwaitClose();
  slow.AwaitClose();
  ExpectService();
}

TEST_F(BadClientsTest, AGigabyteIsNotWaitedFor) {
  Serve();
  const RawClient huge(path());
  ASSERT_TRUE(huge.Greet());
  ASSERT_TRUE(huge.Say(std::string("\x02\0\0\0\0\x40\0\0\0", 9) + std::string(1000, 'x')));
  huge.AwaitClose();
  ExpectService();
  EXPECT_EQ(received_, 1);
}

TEST_F(BadClientsTest, AnotherProtocolIsNoMessage) {
  Serve();
  const RawClient browser(path());
  ASSERT_TRUE(browser.Say("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  ExpectService();
  EXPECT_EQ(received_, 1);
}

TEST_F(BadClientsTest, WhoSendsWithoutEndAndReadsNothingLeavesTheOthersTheirTurn) {
  Serve();
  std::atomic<bool> enough = false;
  std::thread flood([&] {
    const RawClient raw(path());
    if (!raw.Greet()) return;
    std::string many;
    for (int i = 0; i < 100; ++i) many += std::string("\x00\x02hi", 4);
    // Its answers are never read: the server may close it, or leave it waiting, which `enough`
    // ends.
    while (!enough && raw.Say(many)) {
    }
  });
  int served = 0;
  while (received_ < served + 1000) {
    ExpectService();
    ++served;
  }
  enough = true;
  flood.join();
}

TEST_F(BadClientsTest, WhatSomebodyAskedWhoIsGoneIsNotWorkedOff) {
  Listen();
  {
    const RawClient gone(path());
    ASSERT_TRUE(gone.Greet());
    std::string many;
    for (int i = 0; i < 100; ++i) many += std::string("\x00\x02hi", 4);
    ASSERT_TRUE(gone.Say(many));
  }
  // All of them, before anybody else comes: a connection that gets the number of the one that is
  // gone would answer for it.
  while (received_ + server_->abandoned() < 100) loop_.RunOnce(true);
  EXPECT_EQ(received_, 0);
  thread_ = std::thread([this] { loop_.Run(); });
  ExpectService();
  EXPECT_EQ(received_, 1);
}

TEST_F(BadClientsTest, AnotherUserIsTurnedAway) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can become another user";
  Serve();
  // As if folder and socket were open to all, which they are not.
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(path().c_str(), 0777), 0);
  bool connected = false;
  std::thread other([&] {
    // Of this thread alone: glibc's function would change them all.
    constexpr int kNobody = 65534;
    if (::syscall(SYS_setresuid, -1, kNobody, -1) != 0) return;
    const RawClient raw(path());
    connected = raw.connected();
    (void)(raw.Greet() && raw.Say(std::string("\x00\x02hi", 4)));
    raw.AwaitClose();
  });
  other.join();
  EXPECT_TRUE(connected);
  ExpectService();
  EXPECT_EQ(received_, 1);
}

// There are descriptors for them (RaiseFileLimit): without one libzmq 4.3.4 ends the process.
TEST_F(BadClientsTest, ThousandsOfConnectionsLeaveTheOthersTheirs) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit all = before;
  all.rlim_cur = all.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &all), 0);
  Serve();
  {
    // Both ends are in this process.
    const auto count = static_cast<std::size_t>(std::min<rlim_t>(2000, all.rlim_max / 4));
    std::vector<std::unique_ptr<RawClient>> many;
    while (many.size() < count) many.push_back(std::make_unique<RawClient>(path()));
    EXPECT_TRUE(many.back()->connected());
    ExpectService();
  }
  ExpectService();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(BadClientsTest, AGivenSocketIsServedAndItsPathStays) {
  const int given = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = AddressOf(path());
  ASSERT_EQ(::bind(given, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(given, 8), 0);
  ZmqServer::Options options;
  options.socket = ::dup(given);  // as systemd keeps its own
  Serve(options);
  ExpectService();
  loop_.Stop();
  thread_.join();
  server_.reset();
  struct stat status{};
  EXPECT_EQ(::stat(path().c_str(), &status), 0) << "the next daemon would not be found";
  const RawClient next(path());
  EXPECT_TRUE(next.connected());
  ::close(given);
}

}  // namespace
}  // namespace cupilot::loop
