#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "loop/zmq_client.h"
#include "loop/zmq_server.h"

namespace {
std::atomic<bool> threads_are_slow{false};
}

// In place of the C library's: new threads do not get round to what they do first.
extern "C" int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  if (threads_are_slow && ::syscall(SYS_gettid) != ::getpid()) return 0;
  return ::syscall(SYS_rt_sigprocmask, how, set, before, _NSIG / 8) == 0 ? 0 : errno;
}

namespace cupilot::loop {
namespace {

std::string SocketPath() { return testing::TempDir() + "/s" + std::to_string(::getpid()); }

TEST(Zmq, AnswersManyMessagesOfOneClient) {
  Loop loop;
  const std::string path = SocketPath();
  int received = 0;
  std::unique_ptr<ZmqServer> server;
  auto listening = ZmqServer::Listen(loop, path, [&](const std::string& peer, std::string_view m) {
    ++received;
    EXPECT_TRUE(server->Send(peer, "re: " + std::string(m)));
  });
  ASSERT_TRUE(listening.has_value()) << listening.error().message;
  server = std::move(*listening);
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 077, 0u) << "others may reach the socket";
  std::thread client_thread([&] {
    auto client = ZmqClient::Connect(path);
    ASSERT_TRUE(client.has_value()) << client.error().message;
    constexpr int kMessages = 500;  // more than one turn of the loop takes
    for (int i = 0; i < kMessages; ++i) {
      ASSERT_TRUE((*client)->Send(std::to_string(i)).has_value());
    }
    for (int i = 0; i < kMessages; ++i) {
      auto reply = (*client)->Receive(std::chrono::seconds(20));
      ASSERT_TRUE(reply.has_value()) << i << ": " << reply.error().message;
      ASSERT_EQ(*reply, "re: " + std::to_string(i));
    }
    loop.Stop();
  });
  loop.Run();
  client_thread.join();
  EXPECT_EQ(received, 500);
  server.reset();
  EXPECT_NE(::stat(path.c_str(), &status), 0) << "the path is left behind";
}

// Messages that take long are not all answered before anything else has its turn.
TEST(Zmq, TheRestOfTheLoopHasItsTurnBetweenSlowMessages) {
  Loop loop;
  const std::string path = SocketPath();
  constexpr int kMessages = 12;
  int received = 0, when_others_ran = 0;
  auto server = ZmqServer::Listen(loop, path, [&](const std::string&, std::string_view) {
    if (received++ == 0) loop.Post([&] { when_others_ran = received; });
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(6);
    while (std::chrono::steady_clock::now() < until) {
    }
    if (received == kMessages) loop.Stop();
  });
  ASSERT_TRUE(server.has_value()) << server.error().message;
  auto client = ZmqClient::Connect(path);
  ASSERT_TRUE(client.has_value()) << client.error().message;
  for (int i = 0; i < kMessages; ++i) ASSERT_TRUE((*client)->Send("slow").has_value());
  loop.Run();
  EXPECT_EQ(received, kMessages);
  EXPECT_GE(when_others_ran, 1);
  EXPECT_LE(when_others_ran, 2);
}

// What ZeroMQ was about to tell a client's monitor was lost memory, which the address sanitizer's
// run sees at its end. How the two ends meet is up to the threads: hence many times.
TEST(Zmq, BothEndsMayGoAtTheSameTime) {
  const std::string path = SocketPath() + "_whose_name_does_not_fit_into_a_message_itself";
  for (int i = 0; i < 200; ++i) {
    Loop loop;
    auto server = ZmqServer::Listen(loop, path, [](const std::string&, std::string_view) {});
    ASSERT_TRUE(server.has_value()) << server.error().message;
    auto client = ZmqClient::Connect(path);
    ASSERT_TRUE(client.has_value()) << client.error().message;
    ASSERT_TRUE((*client)->Send("so that there is a connection").has_value());
    std::thread client_thread([&] { client->reset(); });
    server->reset();
    client_thread.join();
  }
}

// The masks of blocked signals by thread.
std::map<std::string, unsigned long long> BlockedSignals() {
  std::map<std::string, unsigned long long> masks;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(thread.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (!line.starts_with("SigBlk:")) continue;
      masks[thread.path().filename()] = std::stoull(line.substr(7), nullptr, 16);
    }
  }
  return masks;
}

// Not even before they run: who has blocked a signal to read it would end of it.
TEST(Zmq, NoThreadIsHandedASignal) {
  Loop loop;
  const std::string path = SocketPath();
  const auto server = ZmqServer::Listen(loop, path, [](const std::string&, std::string_view) {});
  ASSERT_TRUE(server.has_value()) << server.error().message;
  const auto before = BlockedSignals();
  threads_are_slow = true;
  const auto client = ZmqClient::Connect(path);
  const auto after = BlockedSignals();
  threads_are_slow = false;
  ASSERT_TRUE(client.has_value()) << client.error().message;
  int started = 0;
  for (const auto& [thread, mask] : after) {
    if (before.contains(thread)) {
      EXPECT_EQ(mask, before.at(thread)) << "ours are as they were";
      continue;
    }
    ++started;
    EXPECT_NE(mask & (1ULL << (SIGTERM - 1)), 0u);
  }
  EXPECT_GE(started, 1);
}

TEST(Zmq, NobodyThereIsKnownAtOnce) {
  const auto client = ZmqClient::Connect(testing::TempDir() + "/nobody");
  ASSERT_FALSE(client.has_value());
  EXPECT_EQ(client.error().code, base::ErrorCode::kUnavailable);
}

TEST(Zmq, ATooLongPathSaysSo) {
  Loop loop;
  const auto server = ZmqServer::Listen(loop, "/tmp/" + std::string(120, 'x'),
                                        [](const std::string&, std::string_view) {});
  ASSERT_FALSE(server.has_value());
  EXPECT_NE(server.error().message.find("107"), std::string::npos);
}

}  // namespace
}  // namespace cupilot::loop
