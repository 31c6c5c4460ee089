// cupilotd: puts the parts together and runs the loop. The main flow: the lock, the store, the
// workers, the service, the socket.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/file.h"
#include "base/install_layout.h"
#include "base/paths.h"
#include "cache/memory_store.h"
#include "cache/rocks_store.h"
#include "cache/upgrade.h"
#include "evaluate/process_workers.h"
#include "evaluate/worker_evaluator.h"
#include "log/log.h"
#include "loop/zmq_server.h"
#include "model_providers.h"
#include "protocol/client_messages.h"
#include "service/instance_lock.h"
#include "service/once.h"
#include "service/process_capture_runner.h"
#include "service/requests.h"
#include "service/service.h"

namespace cupilot {
namespace {

using base::Result;

constexpr int kEnvironment = 3;

int Complain(const base::Error& error) {
  std::fprintf(stderr, "cupilotd: %s\n", error.message.c_str());
  return kEnvironment;
}

evaluate::ProcessWorkers::Settings WorkerSettings(int nice, const std::string& log_file) {
  evaluate::ProcessWorkers::Settings settings;
  settings.program = base::LibexecFolder() + "/cupilot-worker";
  settings.nice = nice;
  settings.log_file = log_file;
  settings.limits = evaluate::LimitsFor(static_cast<int>(std::thread::hardware_concurrency()));
  return settings;
}

evaluate::WorkerEvaluator::Settings EvaluatorSettings(const base::UserFolders& folders) {
  evaluate::WorkerEvaluator::Settings settings;
  settings.build.artifact_folder = folders.cache + "/artifacts";
  settings.work_folder = folders.cache + "/work";
  return settings;
}

service::ProcessCaptureRunner::Settings CaptureSettings(int nice,
                                                        const base::UserFolders& folders) {
  service::ProcessCaptureRunner::Settings settings;
  settings.program = base::ExecutableFolder() + "/cupilot";
  settings.cache_folder = folders.cache;
  settings.nice = nice;
  return settings;
}

constexpr std::size_t kPoolOfOne = 1000;  // entries of one kernel, which are gone at the end

// The one error line of a run that could not begin.
int FailOnce(const base::Error& error) {
  std::cout << service::ErrorLine(error).dump() << std::endl;
  return 0;
}

// What is spent on services holds across runs; all else is forgotten with the run, or is in the
// folder that requests and answers go through.
Result<std::unique_ptr<cache::Store>> BooksOf(const ModelProviders& providers,
                                              const base::UserFolders& folders) {
  const auto& choices = providers.choices();
  if (std::none_of(choices.begin(), choices.end(), IsService)) {
    return std::make_unique<cache::MemoryStore>();
  }
  TRY(base::MakePrivateFolder(folders.state));
  auto store = cache::RocksStore::Open(folders.state + "/tune_models");
  if (!store) return base::Fail(store.error().In("another `cupilot tune` may be asking models"));
  return std::unique_ptr<cache::Store>(std::move(*store));
}

int RunOnce(const base::UserFolders& folders, const service::Settings& settings) {
  std::string line;
  std::getline(std::cin, line);
  const service::OnceRequest request = service::ReadOnceRequest(line);
  auto providers = ModelProviders::Read(request.provider, request.folder, folders);
  if (!providers) return FailOnce(providers.error());
  auto books = BooksOf(**providers, folders);
  if (!books) return FailOnce(books.error());
  loop::Loop loop;
  const base::SystemClock clock;
  if (auto made = (*providers)->Make(loop, clock); !made) return FailOnce(made.error());
  cache::MemoryStore store;
  cache::MemoryStore allowed;
  service::OnceModels asked;
  for (const agents::ProviderChoice& choice : (*providers)->choices()) {
    asked.services.push_back(IsService(choice));
    if (choice.kind == agents::ProviderKind::kExchange) asked.exchange_folder = choice.path;
  }
  asked.store = &store;
  // Of what no service got nothing is kept: an exchange folder has it all, a program its own log.
  const bool kept = std::count(asked.services.begin(), asked.services.end(), true) > 0;
  const std::string exchanges =
      kept ? folders.state + "/tune_exchanges"
           : folders.cache + "/tune_exchanges_" + std::to_string(::getpid());
  service::Models models(**books, allowed, clock, exchanges, settings.models);
  if (const auto* surroundings = (*providers)->surroundings()) {
    if (auto used = models.Use(*surroundings); !used) return FailOnce(used.error());
    asked.models = &models;
  }
  service::Catalog catalog(store);
  evaluate::ProcessWorkers workers(loop, clock, WorkerSettings(0, ""));
  evaluate::WorkerEvaluator evaluator(workers, clock, EvaluatorSettings(folders));
  service::Pool pool(store, kPoolOfOne);
  service::Once once(
      loop, {workers, evaluator, catalog, clock, pool},
      [](const records::Json& out) {
        std::cout << out.dump(-1, ' ', false, records::Json::error_handler_t::replace) << std::endl;
      },
      asked);
  loop.Post([&] { once.Start(line); });
  loop.OnSignal(SIGINT, [&loop] { loop.Stop(); });
  loop.Run();
  workers.Stop();
  loop.RunOnce(false);
  if (!kept) (void)base::RemoveTree(exchanges);
  return 0;
}

// Of an older cuPilot it is upgraded, after a copy of it was made.
Result<std::unique_ptr<cache::RocksStore>> OpenStore(const std::string& folder,
                                                     const base::Clock& clock) {
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

// `ready` is told once the socket is served, with an empty text, or why it cannot be.
int RunService(const base::UserFolders& folders, const service::Settings& settings,
               base::UniqueFunction<void(const std::string&)> ready) {
  const auto fail = [&ready](const base::Error& error) {
    ready(error.message);
    return kEnvironment;
  };
  for (const std::string& folder : {folders.state, folders.cache, folders.runtime}) {
    if (auto made = base::MakePrivateFolder(folder); !made) return fail(made.error());
  }
  auto lock = service::InstanceLock::Take(folders.state + "/daemon.lock");
  if (!lock) return fail(lock.error());
  (void)log::Configure({settings.log_level, settings.log_json, folders.state + "/daemon.log"});
  // Keys before threads.
  auto providers = ModelProviders::Read(settings.models.models, folders.config, folders);
  if (!providers) return fail(providers.error().In("the setting models"));
  const base::SystemClock clock;
  auto store = OpenStore(folders.state + "/store", clock);
  if (!store) return fail(store.error());

  loop::Loop loop;
  // A key that is missing is no reason to leave the user without tuned kernels.
  const auto made = (*providers)->Make(loop, clock);
  if (!made) log::Error("no language model is asked", {{"reason", made.error()}});
  service::PublishFiles files;
  evaluate::ProcessWorkers workers(
      loop, clock, WorkerSettings(static_cast<int>(settings.nice), folders.state + "/workers.log"));
  evaluate::WorkerEvaluator evaluator(workers, clock, EvaluatorSettings(folders));
  service::ProcessCaptureRunner captures(loop,
                                         CaptureSettings(static_cast<int>(settings.nice), folders));
  service::Service service({loop, clock, **store, workers, evaluator, files, &captures,
                            made ? (*providers)->surroundings() : nullptr},
                           settings, folders.state);
  service::Requests requests(service, folders.state, [&loop] { loop.Stop(); });
  std::unique_ptr<loop::ZmqServer> server;
  auto listening = loop::ZmqServer::Listen(loop, folders.runtime + "/daemon.sock",
                                           [&](const std::string& peer, std::string_view message) {
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
  for (const int number : {SIGINT, SIGTERM}) loop.OnSignal(number, [&loop] { loop.Stop(); });
  ready("");
  service.Start();
  loop.Run();
  workers.Stop();
  loop.RunOnce(false);
  log::Flush();
  return 0;
}

// The starter gets the reason of a failed start; what runs on has no descriptor and no session of
// it.
int Detach(const base::UserFolders& folders, const service::Settings& settings) {
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) return Complain(base::IoError("pipe"));
  const pid_t child = ::fork();
  if (child < 0) return Complain(base::IoError("fork"));
  if (child > 0) {
    ::close(report[1]);
    std::string reason;
    char buffer[512];
    for (ssize_t n = 0; (n = ::read(report[0], buffer, sizeof buffer)) > 0;) {
      reason.append(buffer, static_cast<std::size_t>(n));
    }
    if (reason == "ready") return 0;
    return Complain(base::Unavailable(reason.empty() ? "it ended before it was ready" : reason));
  }
  ::setsid();
  const int null = ::open("/dev/null", O_RDWR);
  for (int file = 0; file < 3; ++file) ::dup2(null, file);
  const int keep = ::fcntl(report[1], F_DUPFD_CLOEXEC, 10);
  ::close_range(3, static_cast<unsigned>(keep - 1), 0);
  ::close_range(static_cast<unsigned>(keep + 1), ~0u, 0);
  if (::chdir("/") != 0) return kEnvironment;
  return RunService(folders, settings, [keep](const std::string& reason) {
    const std::string text = reason.empty() ? "ready" : reason;
    (void)!::write(keep, text.data(), text.size());
    ::close(keep);
  });
}

int Main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "--version") {
    std::puts("cupilotd " CUPILOT_VERSION);
    return 0;
  }
  const bool known = mode.empty() || mode == "--foreground" || mode == "--once";
  if (argc > 2 || !known) {
    std::fprintf(stderr, "usage: cupilotd [--foreground | --once | --version]\n");
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);
  const auto folders = base::FindUserFolders();
  if (!folders) return Complain(folders.error());
  const auto settings = service::ReadSettings(folders->config);
  if (!settings) return Complain(settings.error());
  // Workers, and what they start, inherit it.
  if (settings->require_sandbox) ::setenv("CUPILOT_REQUIRE_SANDBOX", "1", 1);
  // Of a program that is captured we are no part, though it may have started us.
  for (const char* name : {"CUPILOT_CAPTURE", "CUDA_INJECTION64_PATH", "CUPILOT_DISABLE"}) {
    ::unsetenv(name);
  }
  RaiseFileLimit();
  if (mode == "--once") return RunOnce(*folders, *settings);
  ::setpriority(PRIO_PROCESS, 0, 5);
  if (mode.empty()) return Detach(*folders, *settings);
  return RunService(*folders, *settings, [](const std::string& reason) {
    std::fprintf(stderr, "cupilotd: %s\n", reason.empty() ? "ready" : reason.c_str());
  });
}

}  // namespace
}  // namespace cupilot

int main(int argc, char** argv) { return cupilot::Main(argc, argv); }
