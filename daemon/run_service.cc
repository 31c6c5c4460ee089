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

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/version.h"
#include "cache/rocks_store.h"
#include "cache/upgrade.h"
#include "log/log.h"
#include "loop/timer.h"
#include "loop/zmq_client.h"
#include "loop/zmq_server.h"
#include "model_providers.h"
#include "parts.h"
#include "protocol/client_messages.h"
#include "service/instance_lock.h"
#include "service/requests.h"
#include "service/restart_note.h"
#include "service/service.h"
#include "workloads/recording_folders.h"

namespace cupilot {
namespace {

using base::Result;
using service::InstanceLock;
using std::chrono::milliseconds;

constexpr milliseconds kLookAgain{30};
constexpr milliseconds kLookAtProgram{60000};
constexpr milliseconds kMostAnswering{5000};
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

// Whether the one that runs is of an older version and was asked to make way for this one; where
// systemd started it, it starts the next one, too.
bool AskOlderToMakeWay(const std::string& lock_file, const std::string& socket) {
  const auto note = base::ReadFile(lock_file);
  if (!note || !base::IsOlderVersion(service::VersionOf(*note), CUPILOT_VERSION)) return false;
  auto client = loop::ZmqClient::Connect(socket);
  const records::Json request = {
      {"id", 1}, {"verb", "hand_over"}, {"params", {{"version", CUPILOT_VERSION}}}};
  if (!client || !(*client)->Send(request.dump())) return false;
  const auto text = (*client)->Receive(kMostAnswering);
  const auto reply = text ? protocol::ParseDaemonMessage(*text)
                          : Result<protocol::DaemonMessage>(base::Fail(text.error()));
  return reply && reply->kind == protocol::DaemonMessage::Kind::kResult &&
         reply->content.value("by_systemd", records::Json()) == false;
}

Result<InstanceLock> TakeLock(const std::string& path, const std::string& socket,
                              ServiceStart start) {
  auto lock = InstanceLock::Take(path);
  if (lock) return lock;
  if (start.patience == milliseconds(0)) {
    if (!AskOlderToMakeWay(path, socket)) return lock;
    start.patience = kMostLeaving * 2;
  }
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

// Whether a daemon that ended could be started again: else it stays.
bool CouldStartAgain(const base::UserFolders& folders) {
  return service::ReadSettings(folders.config).has_value() &&
         ::access((base::ExecutableFolder() + "/cupilotd").c_str(), X_OK) == 0;
}

// Whether another program has taken the place of this one's: an upgrade. Asked with every request,
// before workers of another version meet a daemon of this one.
class OwnProgram {
 public:
  OwnProgram() : path_(base::ExecutableFolder() + "/cupilotd"), began_(Now()) {}
  bool Replaced() const {
    const auto now = Now();
    return now && began_ && *now != *began_;
  }
  const std::string& path() const { return path_; }

 private:
  using Identity = std::pair<dev_t, ino_t>;
  std::optional<Identity> Now() const {
    struct stat status{};
    if (::stat(path_.c_str(), &status) != 0) return std::nullopt;
    return Identity(status.st_dev, status.st_ino);
  }
  const std::string path_;
  const std::optional<Identity> began_;
};

// Starts the next daemon, which waits for the end of this one. It is nobody's child.
void StartNext(const std::string& program) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::fork() != 0) ::_exit(0);
    ::execl(program.c_str(), program.c_str(), "--take-over", nullptr);
    ::_exit(127);
  }
  if (child > 0) (void)base::WaitForEnd(child);
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

// What is made before the loop, in this order.
struct Ground {
  InstanceLock lock;
  std::string because;  // why there is a new daemon
  std::unique_ptr<ModelProviders> providers;
  std::unique_ptr<cache::Store> store;
};

// The parts around the loop. Everything on the loop thread, but for the constructor.
class Daemon {
 public:
  Daemon(Ground& ground, const base::UserFolders& folders, const service::Settings& settings,
         const ServiceStart& start)
      : folders_(folders),
        start_(start),
        models_(MakeModels(*ground.providers)),
        workers_(loop_, clock_,
                 WorkerSettings(settings, static_cast<int>(settings.nice),
                                folders.state + "/workers.log")),
        evaluator_(workers_, clock_, EvaluatorSettings(folders)),
        captures_(loop_, CaptureSettings(static_cast<int>(settings.nice), folders)),
        service_({loop_, clock_, *ground.store, workers_, evaluator_, files_, &captures_, models_},
                 settings, folders.state),
        ending_(loop_, service_),
        idle_exit_(settings.idle_exit, settings.idle_exit_after),
        requests_(service_, folders.state, [this] { ending_.AtOnce("`cupilot daemon stop`"); }),
        idle_timer_(loop_),
        program_timer_(loop_) {
    requests_.SetStart({ground.because, start.socket >= 0, settings.hash});
    requests_.OnHandOver([this](const std::string& version) {
      handed_over_ = true;
      ending_.Soon("it makes way for version " + version);
    });
    requests_.SetAbandoned([this] { return server_->abandoned(); });
    service_.OnEvent(
        [this](const std::string& name, const records::Json& data) { OnEvent(name, data); });
  }

  // Opens the socket; from then on clients wait for Run().
  Result<> Listen() {
    loop::ZmqServer::Options options;
    options.socket = start_.socket;
    TRY_ASSIGN(server_,
               loop::ZmqServer::Listen(loop_, folders_.runtime + "/daemon.sock", options,
                                       [this](const std::string& peer, std::string_view message) {
                                         OnMessage(peer, message);
                                       }));
    return {};
  }

  // Until something ends it; why() says what.
  void Run() {
    loop_.AdoptOrphans();
    loop_.OnSignal(SIGINT, [this] { ending_.AtOnce("an interrupt from the keyboard"); });
    loop_.OnSignal(SIGTERM, [this] { ending_.AtOnce("the system or a user ended it (SIGTERM)"); });
    program_timer_.StartRepeating(kLookAtProgram, [this] { LookAtProgram(); });
    if (const auto period = idle_exit_.period(); period > milliseconds(0)) {
      idle_timer_.StartRepeating(period, [this] { LookIfIdle(); });
    }
    service_.Start();
    // Clients wait for an answer before.
    loop_.Post([cache = folders_.cache] { workloads::RemoveAbandonedRecordings(cache); });
    loop_.Run();
    workers_.Stop();
    loop_.RunOnce(false);
  }
  const std::string& why() const { return ending_.why(); }
  bool handed_over() const { return handed_over_; }

 private:
  // A key that is missing is no reason to leave the user without tuned kernels.
  const service::ModelSurroundings* MakeModels(ModelProviders& providers) {
    const auto made = providers.Make(loop_, clock_);
    if (made) return providers.surroundings();
    log::Error("no language model is asked", {{"reason", made.error()}});
    return nullptr;
  }

  void OnMessage(const std::string& peer, std::string_view message) {
    idle_exit_.OnRequest(clock_.Now());
    LookAtProgram();
    requests_.OnTime(clock_.Now());
    server_->Send(peer, requests_.Handle(peer, message));
  }

  void OnEvent(const std::string& name, const records::Json& data) {
    requests_.OnEvent();
    const std::string text = protocol::TextOf(
        protocol::DaemonMessage{protocol::DaemonMessage::Kind::kEvent, {}, data, name});
    const std::set<std::string> subscribers = requests_.subscribers();
    for (const std::string& peer : subscribers) {
      if (!server_->Send(peer, text)) requests_.Forget(peer);
    }
  }

  void LookAtProgram() {
    if (!ending_.why().empty() || !program_.Replaced()) return;
    handed_over_ = true;
    ending_.Soon("its program was replaced by another one");
    if (start_.socket < 0) StartNext(program_.path());
  }

  void LookIfIdle() {
    const bool listened_to = !requests_.subscribers().empty();
    if (!idle_exit_.IsTime(service_.IdleReason(), listened_to, clock_.Now())) return;
    if (CouldStartAgain(folders_)) return ending_.AtOnce("nothing was left to do");
    log::Warning("the daemon stays although there is nothing to do",
                 {{"because", "with these settings, or without its program, none could start"}});
    idle_timer_.Cancel();
  }

  const base::UserFolders& folders_;
  const ServiceStart start_;
  const base::SystemClock clock_;
  loop::Loop loop_;
  const service::ModelSurroundings* const models_;
  service::PublishFiles files_;
  evaluate::ProcessWorkers workers_;
  evaluate::WorkerEvaluator evaluator_;
  service::ProcessCaptureRunner captures_;
  service::Service service_;
  Ending ending_;
  service::IdleExit idle_exit_;
  service::Requests requests_;
  const OwnProgram program_;
  bool handed_over_ = false;
  std::unique_ptr<loop::ZmqServer> server_;
  loop::Timer idle_timer_;
  loop::Timer program_timer_;
};

void WriteEnd(InstanceLock& lock, const std::string& why) {
  const base::SystemClock clock;
  lock.Note(
      service::EndedNote(::getpid(), CUPILOT_VERSION, base::FormatDate(clock.WallTime()), why));
  log::Info("the daemon ends", {{"version", CUPILOT_VERSION}, {"because", why}});
  log::Flush();
}

// Of an older cuPilot it is upgraded, after a copy of it was made.
Result<std::unique_ptr<cache::RocksStore>> OpenStore(const std::string& folder) {
  const base::SystemClock clock;
  TRY(cache::CheckFormat(folder));
  TRY_ASSIGN(auto store, cache::RocksStore::Open(folder));
  TRY_ASSIGN(const cache::Upgraded upgraded,
             cache::BringUpToDate(*store, folder, base::FormatDate(clock.WallTime())));
  if (!upgraded.backup.empty()) {
    log::Info("the store was upgraded",
              {{"from", upgraded.from}, {"to", cache::kStoreFormat}, {"backup", upgraded.backup}});
  }
  return store;
}

// Keys are read before there are threads.
Result<> OpenRest(Ground& ground, const base::UserFolders& folders,
                  const service::Settings& settings) {
  auto providers = ModelProviders::Read(settings.models.models, folders.config, folders);
  if (!providers) return base::Fail(providers.error().In("the setting models"));
  ground.providers = std::move(*providers);
  TRY_ASSIGN(ground.store, OpenStore(folders.state + "/store"));
  return {};
}

Result<InstanceLock> TakePlace(const base::UserFolders& folders, const service::Settings& settings,
                               const ServiceStart& start) {
  for (const std::string& folder : {folders.state, folders.cache, folders.runtime}) {
    TRY(base::MakePrivateFolder(folder));
  }
  auto lock = TakeLock(folders.state + "/daemon.lock", folders.runtime + "/daemon.sock", start);
  if (!lock) return lock;
  (void)log::Configure(LogSettings(settings, folders.state + "/daemon.log"));
  RotateWorkersLog(folders.state + "/workers.log");
  return lock;
}

}  // namespace

int RunService(const base::UserFolders& folders, const service::Settings& settings,
               const ServiceStart& start, base::UniqueFunction<void(const std::string&)> ready) {
  auto lock = TakePlace(folders, settings, start);
  if (!lock) {
    ready(lock.error().message);
    return kEnvironment;
  }
  Ground ground{std::move(*lock), "", nullptr, nullptr};
  ground.because = service::StartedBecause(ground.lock.before());
  const std::string date = base::FormatDate(base::SystemClock().WallTime());
  ground.lock.Note(service::RunningNote(::getpid(), CUPILOT_VERSION, date));
  log::Info("the daemon starts", {{"version", CUPILOT_VERSION}, {"because", ground.because}});
  const auto fail = [&](const base::Error& error) {
    WriteEnd(ground.lock, "it could not start: " + error.message);
    ready(error.message);
    return kEnvironment;
  };
  if (auto opened = OpenRest(ground, folders, settings); !opened) return fail(opened.error());
  Daemon daemon(ground, folders, settings, start);
  if (auto listening = daemon.Listen(); !listening) return fail(listening.error());
  ready("");
  daemon.Run();
  WriteEnd(ground.lock, daemon.why());
  return daemon.handed_over() && start.socket >= 0 ? kStartAgain : 0;
}

}  // namespace cupilot
