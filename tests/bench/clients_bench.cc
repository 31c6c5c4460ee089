// clients_bench: 2,000 requests a second from 50 clients, ten seconds long, and what each reply
// took from the moment when its request was due (so that a daemon that falls behind cannot hide
// it); of a daemon without work and of one that tunes kernels on the host device, alone and beside
// clients that send half a message, never read, or are silent. Every fourth request is `status`,
// the others are `ping`; once each kind of question about kernels is among them. Starts a daemon of
// its own in folders of its own. Exit 1: a limit is exceeded, or nothing was tuned meanwhile.
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "client/connection.h"
#include "client/spawn.h"
#include "tests/support/fake_project.h"
#include "tests/support/private_xdg.h"

namespace {

using Clock = std::chrono::steady_clock;
using cupilot::client::Connection;

constexpr int kClients = 50;
constexpr int kRequestsASecond = 2000;
constexpr int kSeconds = 10;
constexpr double kMostMs = 5;
constexpr int kKernels = 4;
constexpr std::chrono::nanoseconds kApart{std::chrono::nanoseconds(1'000'000'000) /
                                          kRequestsASecond};

int Connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  (void)!::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return file;
}

// A client by hand (ZMTP 3.0): libzmq's two threads each would be what is measured.
class Client {
 public:
  explicit Client(const std::string& path) : file_(Connect(path)) {
    std::string greeting =
        std::string("\xff") + std::string(8, '\0') + "\x7f" + std::string("\x03\x00NULL", 6);
    greeting.resize(64, '\0');
    const std::string ready =
        std::string("\x05READY\x0bSocket-Type") + std::string("\0\0\0\x06", 4) + "DEALER";
    Say(greeting + std::string("\x04") + static_cast<char>(ready.size()) + ready);
    std::array<char, 64> theirs{};
    (void)!::recv(file_, theirs.data(), theirs.size(), MSG_WAITALL);
    (void)!::recv(file_, theirs.data(), 2, MSG_WAITALL);
    (void)!::recv(file_, theirs.data(), static_cast<unsigned char>(theirs[1]), MSG_WAITALL);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { ::close(file_); }

  int file() const { return file_; }
  void Ask(const std::string& message, Clock::time_point due) {
    due_.push_back(due);
    Say(std::string("\0", 1) + static_cast<char>(message.size()) + message);
  }
  // What has come; false once the daemon has closed.
  bool Read(std::vector<double>& milliseconds) {
    std::array<char, 65536> bytes{};
    const ssize_t count = ::recv(file_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count <= 0) return false;
    read_.append(bytes.data(), static_cast<std::size_t>(count));
    while (TakeFrame() && !due_.empty()) {
      milliseconds.push_back(
          std::chrono::duration<double, std::milli>(Clock::now() - due_.front()).count());
      due_.pop_front();
    }
    return true;
  }

 private:
  void Say(const std::string& bytes) const {
    (void)!::send(file_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  bool TakeFrame() {
    if (read_.size() < 2) return false;
    const bool large = (read_[0] & 2) != 0;
    const std::size_t head = large ? 9 : 2;
    if (read_.size() < head) return false;
    std::size_t size = 0;
    for (std::size_t i = 1; i < head; ++i) size = size * 256 + static_cast<unsigned char>(read_[i]);
    if (read_.size() < head + size) return false;
    read_.erase(0, head + size);
    return true;
  }

  int file_;
  std::string read_;
  std::deque<Clock::time_point> due_;  // of requests without a reply yet
};

// Of request messages one after the other.
using Questions = std::vector<std::string>;

std::string Question(const std::string& verb) { return R"({"id": 1, "verb": ")" + verb + "\"}"; }
std::string AboutKernel(const std::string& verb) {
  return R"({"id": 1, "verb": ")" + verb + R"(", "params": {"kernel": "damp0"}})";
}
Questions OfTheDaemon() {
  return {Question("status"), Question("ping"), Question("ping"), Question("ping")};
}
Questions OfKernels() {
  return {AboutKernel("explain"), Question("ping"), AboutKernel("history"), Question("status"),
          Question("list"),       Question("ping"), AboutKernel("best"),    Question("ping")};
}

bool Run(const std::string& path, const Questions& questions, const char* what) {
  std::deque<Client> clients;
  std::vector<pollfd> items;
  for (int i = 0; i < kClients; ++i)
    items.push_back({clients.emplace_back(path).file(), POLLIN, 0});
  constexpr int kAll = kRequestsASecond * kSeconds;
  std::vector<double> all;
  const auto begin = Clock::now();
  const auto limit = begin + std::chrono::seconds(kSeconds * 6);
  int asked = 0;
  while (all.size() < kAll && Clock::now() < limit) {
    const auto now = Clock::now();
    for (; asked < kAll && begin + kApart * asked <= now; ++asked) {
      // 50 and the number of questions have a common divisor: each client asks all of them.
      const auto turn = static_cast<std::size_t>(asked + asked / kClients);
      clients[static_cast<std::size_t>(asked % kClients)].Ask(questions[turn % questions.size()],
                                                              begin + kApart * asked);
    }
    const auto wait = asked < kAll ? begin + kApart * asked - Clock::now() : kApart;
    const timespec time{0, std::max<long>(0, static_cast<long>(wait.count()))};
    if (::ppoll(items.data(), items.size(), &time, nullptr) <= 0) continue;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].revents != 0 && !clients[i].Read(all)) items[i].fd = -1;
    }
  }
  if (all.size() < kAll) {
    std::printf("%-52s  FAILED: %zu of %d requests were answered\n", what, all.size(), kAll);
    return false;
  }
  std::sort(all.begin(), all.end());
  const double p50 = all[all.size() / 2], p99 = all[all.size() * 99 / 100];
  std::printf("%-52s %6zu replies  p50 %7.3f ms  p99 %7.3f ms  limit %g%s\n", what, all.size(), p50,
              p99, kMostMs, p99 <= kMostMs ? "" : "  FAILED");
  std::fflush(stdout);
  return p99 <= kMostMs;
}

// Silent ones, and ones that begin a message of ZeroMQ's greeting and never go on.
std::vector<int> BadConnections(const std::string& path) {
  std::vector<int> files;
  for (int i = 0; i < 100; ++i) {
    files.push_back(Connect(path));
    if (i % 2 == 0) (void)!::send(files.back(), "\xff\0\0", 3, MSG_NOSIGNAL);
  }
  return files;
}

// Asks and never reads, until it is told to stop.
void Flood(const std::string& path, const std::atomic<bool>& enough) {
  auto client = cupilot::loop::ZmqClient::Connect(path);
  while (client && !enough) {
    for (int i = 0; i < 20; ++i) {
      if (!(*client)->Send(R"({"id": 1, "verb": "ping", "params": {}})")) return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

bool RunBesideBadClients(const std::string& path, const char* what) {
  std::atomic<bool> enough = false;
  std::thread flood([&] { Flood(path, enough); });
  const std::vector<int> bad = BadConnections(path);
  const bool fine = Run(path, OfTheDaemon(), what);
  enough = true;
  flood.join();
  for (const int file : bad) ::close(file);
  return fine;
}

std::string Source() {
  std::string text = "#include <cuda_runtime.h>\n";
  for (int i = 0; i < kKernels; ++i) {
    const std::string number = std::to_string(i);
    text +=
        "// cupilot: tune\n// cupilot: workload small grid=64 block=64 n=4096 decay=0.5 "
        "now=normal[n] next=inout normal[n]\n__global__ void damp" +
        number +
        "(const float* now, float* next, float decay, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n) next[i] = now[i] - decay * (next[i] + " +
        number + ".0f);\n}\n";
  }
  return text;
}

int Evaluations(Connection& connection) {
  const auto status = connection.Request("status");
  return status ? (*status)["counters"].value("evaluations", 0) : -1;
}

// Kernels for longer than all of this takes; waits until the search for each is under way.
bool BeginToTune(const cupilot::test::PrivateXdg& xdg, Connection& connection) {
  cupilot::test::FakeProject project(xdg.folder() / "project");
  project.command().arguments[0] = CUPILOT_BENCH_NVCC;
  project.WriteSource(Source());
  project.Configure();
  project.Register(xdg.state());
  project.Compile();
  const auto limit = Clock::now() + std::chrono::minutes(3);
  while (Clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (Evaluations(connection) >= 10 * kKernels) return true;
  }
  return false;
}

bool RunWhileTuning(const cupilot::test::PrivateXdg& xdg, const std::string& path) {
  auto connection = Connection::Open(Connection::Start::kNever);
  if (!connection || !BeginToTune(xdg, *connection)) {
    std::printf("FAILED: nothing is tuned\n");
    return false;
  }
  const int before = Evaluations(*connection);
  bool fine = Run(path, OfTheDaemon(), "while kernels are tuned");
  fine = RunBesideBadClients(path, "while kernels are tuned, beside those") && fine;
  fine = Run(path, OfKernels(), "while kernels are tuned, all kinds of questions") && fine;
  const auto status = connection->Request("status");
  const int measured = Evaluations(*connection) - before;
  const std::string state = status ? status->value("state", "") : "";
  std::printf("candidates that were measured meanwhile: %d, then it was %s%s\n", measured,
              state.c_str(), measured > 0 && state == "tuning" ? "" : "  FAILED");
  return fine && measured > 0 && state == "tuning";
}

}  // namespace

int main() {
  const cupilot::test::PrivateXdg xdg;
  for (const auto& [name, value] : xdg.Environment()) setenv(name.c_str(), value.c_str(), 1);
  setenv("CUPILOT_DAEMON", CUPILOT_BENCH_DAEMON, 1);
  xdg.folder().Write("config/cupilot/config.json", R"({"seconds_per_kernel": 600})");
  const auto folders = cupilot::base::FindUserFolders();
  if (!folders || !cupilot::client::StartDaemon(*folders)) {
    std::fprintf(stderr, "the daemon does not start\n");
    return 3;
  }
  const std::string path = cupilot::client::SocketPath(*folders);
  bool fine = Run(path, OfTheDaemon(), "50 clients, 2,000 requests a second");
  fine = RunBesideBadClients(path, "the same beside clients that behave badly") && fine;
  fine = RunWhileTuning(xdg, path) && fine;
  auto connection = Connection::Open(Connection::Start::kNever);
  if (connection) {
    (void)connection->Request("stop");
    if (!cupilot::client::WaitForEnd(connection->pid(), 5000)) ::kill(connection->pid(), SIGTERM);
  }
  return fine ? 0 : 1;
}
