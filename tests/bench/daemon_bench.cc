// daemon_bench: the figures of the design that concern the daemon and need no GPU, each beside its
// limit: start, start after SIGKILL, a request's reply, a look-up in the store, memory and
// processor time while idle (also after work). Starts daemons of its own in folders of its own.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "cache/rocks_store.h"
#include "client/connection.h"
#include "client/spawn.h"
#include "tests/support/fake_project.h"
#include "tests/support/private_xdg.h"

namespace {

using Clock = std::chrono::steady_clock;

double Milliseconds(const std::function<void()>& what) {
  const auto begin = Clock::now();
  what();
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

void Print(const char* what, double value, const char* unit, double limit) {
  std::printf("%-58s %10.3f %-4s limit %g%s\n", what, value, unit, limit,
              value <= limit ? "" : "  EXCEEDED");
  std::fflush(stdout);
}

// RssAnon of a process in megabytes, -1 if it cannot be read.
double AnonymousMegabytes(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("RssAnon:", 0) == 0) return std::atof(line.c_str() + 8) / 1024;
  }
  return -1;
}

// Processor seconds that a process has used.
double ProcessorSeconds(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t close = text.rfind(')');
  if (close == std::string::npos) return 0;
  const char* at = text.c_str() + close + 2;
  unsigned long user = 0, system = 0;
  // state and ten numbers stand before utime and stime.
  (void)std::sscanf(at, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
  return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

void Idle(int pid, const char* memory, const char* processor) {
  constexpr int kSeconds = 20;
  const double before = ProcessorSeconds(pid);
  std::this_thread::sleep_for(std::chrono::seconds(kSeconds));
  Print(processor, (ProcessorSeconds(pid) - before) / kSeconds * 100, "%", 0.1);
  Print(memory, AnonymousMegabytes(pid), "MB", 16);
}

int DaemonPid() {
  auto connection = cupilot::client::Connection::Open(cupilot::client::Connection::Start::kNever);
  return connection ? connection->pid() : 0;
}

// A project with a kernel is built once: the daemon that serves scans its source and tunes it on
// the host device, until it says that it is done. False if it does not.
bool Work(const cupilot::test::PrivateXdg& xdg, cupilot::client::Connection& connection) {
  const auto source = cupilot::base::ReadFile(CUPILOT_BENCH_KERNEL);
  if (!source) return false;
  cupilot::test::FakeProject project(xdg.folder() / "project");
  project.command().arguments[0] = CUPILOT_BENCH_NVCC;
  project.WriteSource(*source);
  project.Configure();
  project.Register(xdg.state());
  project.Compile();
  const auto limit = Clock::now() + std::chrono::minutes(5);
  while (Clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const auto status = connection.Request("status");
    if (!status) return false;
    if (status->value("idle_reason", "") != "done") continue;
    const auto& counters = (*status)["counters"];
    std::printf("work: %d scans, %d evaluations\n", counters.value("scans", 0),
                counters.value("evaluations", 0));
    return counters.value("evaluations", 0) > 0;
  }
  return false;
}

int Daemons(const cupilot::test::PrivateXdg& xdg) {
  const auto folders = cupilot::base::FindUserFolders();
  if (!folders) {
    std::fprintf(stderr, "%s\n", folders.error().message.c_str());
    return 3;
  }
  std::vector<double> starts, after_kill;
  for (int i = 0; i < 9; ++i) {
    bool started = false;
    const double time =
        Milliseconds([&] { started = cupilot::client::StartDaemon(*folders).has_value(); });
    if (!started) {
      std::fprintf(stderr, "the daemon does not start: %s\n",
                   cupilot::client::StartLog(*folders).c_str());
      return 3;
    }
    (i == 0 ? starts : after_kill).push_back(time);
    const int pid = DaemonPid();
    if (pid <= 0) return 3;
    if (i == 8) break;
    kill(pid, SIGKILL);
    (void)cupilot::client::WaitForEnd(pid, 5000);
  }
  Print("daemon ready after start (first, empty store)", starts[0], "ms", 200);
  Print("daemon ready after SIGKILL (median of 8)", Median(after_kill), "ms", 200);
  auto connection = cupilot::client::Connection::Open(cupilot::client::Connection::Start::kNever);
  if (!connection) return 3;
  const int pid = connection->pid();
  std::vector<double> replies;
  for (int i = 0; i < 2000; ++i) {
    bool fine = false;
    const double time = Milliseconds([&] { fine = connection->Request("status").has_value(); });
    if (!fine) return 3;
    replies.push_back(time);
  }
  Print("request to reply on a connected socket (median of 2000)", Median(replies), "ms", 1);
  Idle(pid, "daemon idle: memory of its own (RssAnon), after 2000 requests",
       "daemon idle: processor");
  const bool worked = Work(xdg, *connection);
  if (worked) {
    Idle(pid, "daemon idle: memory of its own (RssAnon), after tuning",
         "daemon idle: processor, after tuning");
  } else {
    std::fprintf(stderr, "nothing was tuned: no figures of a daemon after work\n");
  }
  (void)connection->Request("stop");
  if (!cupilot::client::WaitForEnd(pid, 5000)) kill(pid, SIGTERM);
  return worked ? 0 : 3;
}

int Store(const std::string& folder) {
  auto store = cupilot::cache::RocksStore::Open(folder);
  if (!store) return 3;
  const std::string value(2000, 'v');
  for (int i = 0; i < 2000; ++i) {
    (void)(*store)->Apply(
        {{cupilot::cache::Table::kEvaluations, "key" + std::to_string(i), value}});
  }
  std::vector<double> times;
  for (int i = 0; i < 2000; ++i) {
    times.push_back(Milliseconds([&] {
      (void)(*store)->Get(cupilot::cache::Table::kEvaluations,
                          "key" + std::to_string(i * 7 % 2000));
    }));
  }
  Print("store look-up (median of 2000, 2 kB values)", Median(times), "ms", 1);
  return 0;
}

}  // namespace

int main() {
  const cupilot::test::PrivateXdg xdg;
  for (const auto& [name, value] : xdg.Environment()) setenv(name.c_str(), value.c_str(), 1);
  setenv("CUPILOT_DAEMON", CUPILOT_BENCH_DAEMON, 1);
  xdg.folder().Write("config/cupilot/config.json",
                     R"({"seconds_per_kernel": 10, "measure_seconds": 0.3})");
  const int stored = Store(xdg.folder() / "store");
  const int served = Daemons(xdg);
  return stored != 0 ? stored : served;
}
