#include "run_service.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "cache/rocks_store.h"
#include "log/log.h"
#include "loop/timer.h"
#include "loop/zmq_server.h"
#include "model_providers.h"
#include "parts.h"
#include "protocol/client_messages.h"
#include "service/instance_lock.h"
#include "service/requests.h"
#include "service/restart_note.h"
#include "service/service.h"

namespace cupilot {
namespace {

using base::Result;
using service::InstanceLock;
using std::chrono::milliseconds;

constexpr milliseconds kLookAgain{30};
constexpr milliseconds kMostLeaving{60000};  // what is measured then is measured again
constexpr std::size_t kMostWorkersLog = 4 << 20;

// Systemd has taken the socket's path from a daemon that it did not start: nobody can reach that
// one any more. Its number counts only while its program is ours.
void EndHolder(const std::string& lock_file) {
  const auto note = base::ReadFile(lock_file);
  const int pid = note ? service::PidOf(*note) : 0;
  if (pid <= 0) return;
  std::error_code error;
  const std::string program =
      std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", error).filename();
  if (program.rfind("cupilotd", 0) == 0) ::kill(pid, SIGTERM);
}

Result<InstanceLock> TakeLock(const std::string& path, const ServiceStart& start) {
  auto lock = InstanceLock::Take(path);
  if (lock || start.patience == milliseconds(0)) return lock;
  // One that waits is enough.
  auto turn = InstanceLock::Take(path + ".next");
  if (!turn) return base::Fail(base::Unavailable("another daemon waits for its turn already"));
  if (start.socket >= 0) EndHolder(path);
  const base::SystemClock clock;
  const auto until = clock.Now() + start.patience;
  while (clock.Now() < until) {
    ::poll(nullptr, 0, static_cast<int>(kLookAgain.count()));
    if (auto again = InstanceLock::Take(path)) return again;
  }
  return lock;
}

// Workers write to their log themselves: it is put aside between two daemons.
void RotateWorkersLog(const std::string& path) {
  const auto file = base::IdentifyFile(path);
  if (file && file->size > kMostWorkersLog) (void)std::rename(path.c_str(), (path + ".1").c_str());
}

log::Settings LogSettings(const service::Settings& settings, const std::string& file) {
  return {settings.log_level, settings.log_json, file,
          static_cast<std::size_t>(settings.log_megabytes * 0x1p20),
          static_cast<std::size_t>(settings.log_files)};
}

// Whether a daemon that ended could be started again: else it stays.
bool CouldStartAgain(const base::UserFolders& folders) {
  return service::ReadSettings(folders.config).has_value() &&
         ::access((base::ExecutableFolder() + "/cupilotd").c_str(), X_OK) == 0;
}

// Why, and how, this daemon ends. On the loop thread.
class Ending {
 public:
  Ending(loop::Loop& loop, service::Service& service)
      : loop_(loop), service_(service), limit_(loop) {}

  void AtOnce(const std::string& why) {
    if (why_.empty()) why_ = why;
    loop_.Stop();
  }
  // When what is measured has been measured.
  void Soon(const std::string& why) {
    if (!why_.empty()) return;
    why_ = why;
    log::Info("the daemon ends what it measures", {{"because", why}});
    limit_.Start(kMostLeaving, [this] { loop_.Stop(); });
    service_.Leave([this] { loop_.Stop(); });
  }
  const std::string& why() const { return why_; }

 private:
  loop::Loop& loop_;
  service::Service& service_;
  loop::Timer limit_;
  std::string why_;
};

}  // namespace

int RunService(const base::UserFolders& folders, const service::Settings& settings,
               const ServiceStart& start, base::UniqueFunction<void(const std::string&)> ready) {
  const auto fail = [&ready](const base::Error& error) {
    ready(error.message);
    return kEnvironment;
  };
  for (const std::string& folder : {folders.state, folders.cache, folders.runtime}) {
    if (auto made = base::MakePrivateFolder(folder); !made) return fail(made.error());
  }
  auto lock = TakeLock(folders.state + "/daemon.lock", start);
  if (!lock) return fail(lock.error());
  (void)log::Configure(LogSettings(settings, folders.state + "/daemon.log"));
  RotateWorkersLog(folders.state + "/workers.log");
  const base::SystemClock clock;
  const std::string because = service::StartedBecause(lock->before());
  const std::string date = base::FormatDate(clock.WallTime());
  lock->Note(service::RunningNote(::getpid(), CUPILOT_VERSION, date));
  log::Info("the daemon starts", {{"version", CUPILOT_VERSION}, {"because", because}});
  // Keys before threads.
  auto providers = ModelProviders::Read(settings.models.models, folders.config, folders);
  if (!providers) return fail(providers.error().In("the setting models"));
  auto store = cache::RocksStore::Open(folders.state + "/store");
  if (!store) return fail(store.error());

  loop::Loop loop;
  // A key that is missing is no reason to leave the user without tuned kernels.
  const auto made = (*providers)->Make(loop, clock);
  if (!made) log::Error("no language model is asked", {{"reason", made.error()}});
  service::PublishFiles files;
  const int nice = static_cast<int>(settings.nice);
  evaluate::ProcessWorkers workers(loop, clock,
                                   WorkerSettings(settings, nice, folders.state + "/workers.log"));
  evaluate::WorkerEvaluator evaluator(workers, clock, EvaluatorSettings(folders));
  service::ProcessCaptureRunner captures(loop, CaptureSettings(nice, folders));
  service::Service service({loop, clock, **store, workers, evaluator, files, &captures,
                            made ? (*providers)->surroundings() : nullptr},
                           settings, folders.state);
  Ending ending(loop, service);
  service::IdleExit idle_exit(settings.idle_exit, settings.idle_exit_after);
  service::Requests requests(service, folders.state,
                             [&ending] { ending.AtOnce("`cupilot daemon stop`"); });
  requests.SetStart({because, start.socket >= 0});
  bool handed_over = false;
  requests.OnHandOver([&](const std::string& version) {
    handed_over = true;
    ending.Soon("it makes way for version " + version);
  });
  std::unique_ptr<loop::ZmqServer> server;
  loop::ZmqServer::Options listen;
  listen.socket = start.socket;
  auto listening = loop::ZmqServer::Listen(loop, folders.runtime + "/daemon.sock", listen,
                                           [&](const std::string& peer, std::string_view message) {
                                             idle_exit.OnRequest(clock.Now());
                                             server->Send(peer, requests.Handle(peer, message));
                                           });
  if (!listening) return fail(listening.error());
  server = std::move(*listening);
  service.OnEvent([&](const std::string& name, const records::Json& data) {
    const std::string text = protocol::TextOf(
        protocol::DaemonMessage{protocol::DaemonMessage::Kind::kEvent, {}, data, name});
    const std::set<std::string> subscribers = requests.subscribers();
    for (const std::string& peer : subscribers) {
      if (!server->Send(peer, text)) requests.Forget(peer);
    }
  });
  for (const int number : {SIGINT, SIGTERM}) {
    loop.OnSignal(number, [&ending, number] {
      ending.AtOnce(number == SIGINT ? "an interrupt from the keyboard"
                                     : "the system or a user ended it (SIGTERM)");
    });
  }
  loop::Timer idle_timer(loop);
  if (const auto period = idle_exit.period(); period > milliseconds(0)) {
    idle_timer.StartRepeating(period, [&] {
      const bool listened_to = !requests.subscribers().empty();
      if (!idle_exit.IsTime(service.IdleReason(), listened_to, clock.Now())) return;
      if (CouldStartAgain(folders)) ending.AtOnce("nothing was left to do");
    });
  }
  ready("");
  service.Start();
  loop.Run();
  workers.Stop();
  loop.RunOnce(false);
  lock->Note(service::EndedNote(::getpid(), CUPILOT_VERSION, base::FormatDate(clock.WallTime()),
                                ending.why()));
  log::Info("the daemon ends", {{"version", CUPILOT_VERSION}, {"because", ending.why()}});
  log::Flush();
  return handed_over && start.socket >= 0 ? kStartAgain : 0;
}

}  // namespace cupilot
