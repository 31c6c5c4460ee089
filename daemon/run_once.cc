#include "run_once.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/file.h"
#include "cache/memory_store.h"
#include "cache/rocks_store.h"
#include "log/log.h"
#include "loop/loop.h"
#include "model_providers.h"
#include "parts.h"
#include "service/once.h"

namespace cupilot {
namespace {

using base::Result;

constexpr std::size_t kPoolOfOne = 1000;  // entries of one kernel, which are gone at the end

// The one error line of a run that could not begin.
int FailOnce(const base::Error& error) {
  std::cout << service::ErrorLine(error).dump() << std::endl;
  return 0;
}

// To standard error. A run that goes well says nothing of itself there.
void SetLog(const service::Settings& settings) {
  log::Settings log = LogSettings(settings, "");
  if (log.level == log::Level::kInfo) log.level = log::Level::kWarning;
  (void)log::Configure(log);  // fails for files alone
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

}  // namespace

int RunOnce(const base::UserFolders& folders, const service::Settings& settings) {
  SetLog(settings);
  std::string line;
  std::getline(std::cin, line);
  const service::OnceRequest request = service::ReadOnceRequest(line);
  auto providers = ModelProviders::Read(request.provider, request.folder, folders);
  if (!providers) return FailOnce(providers.error());
  auto books = BooksOf(**providers, folders);
  if (!books) return FailOnce(books.error());
  loop::Loop loop;
  loop.AdoptOrphans();
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
  evaluate::ProcessWorkers workers(loop, clock, WorkerSettings(settings, 0, ""));
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

}  // namespace cupilot
