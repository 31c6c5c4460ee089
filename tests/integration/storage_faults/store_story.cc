#include <memory>
#include <utility>

#include "agents/exchange_log.h"
#include "base/file.h"
#include "base/hash.h"
#include "cache/rocks_store.h"
#include "records/json.h"
#include "service/catalog.h"
#include "service/journal.h"
#include "service/prune.h"
#include "tests/integration/storage_faults/made_records.h"
#include "tests/integration/storage_faults/story.h"
#include "tests/integration/storage_faults/story_steps.h"
#include "tests/support/manual_clock.h"

namespace cupilot::test {
namespace {

using cache::Table;
using cache::Write;
using records::Json;

// Says each batch before it is written, and whether it was: "batch [[table, key, hash], ...]", then
// "applied" or "not applied".
class ToldStore final : public cache::Store {
 public:
  explicit ToldStore(std::unique_ptr<cache::RocksStore> store) : store_(std::move(store)) {}

  base::Result<std::optional<std::string>> Get(Table table, std::string_view key) override {
    return store_->Get(table, key);
  }
  base::Result<> Apply(const std::vector<Write>& writes) override {
    Json batch = Json::array();
    for (const Write& write : writes) {
      batch.push_back({static_cast<int>(write.table), write.key,
                       write.value ? base::HashHex(*write.value) : ""});
    }
    Say("batch " + batch.dump());
    auto applied = store_->Apply(writes);
    Say(applied ? "applied" : "not applied");
    return applied;
  }
  base::Result<> Scan(
      Table table, std::string_view prefix,
      const std::function<bool(std::string_view, std::string_view)>& visit) override {
    return store_->Scan(table, prefix, visit);
  }
  base::Result<> Compact() override { return store_->Compact(); }
  base::Result<> CopyTo(const std::string& folder) override { return store_->CopyTo(folder); }

 private:
  std::unique_ptr<cache::RocksStore> store_;
};

// As the daemon does it when it starts; `newest`: what this program takes itself for.
base::Result<std::unique_ptr<ToldStore>> OpenAsDaemon(const std::string& root, int newest,
                                                      std::string& backup) {
  const std::string folder = root + "/store";
  TRY(cache::CheckFormat(folder, newest));
  TRY_ASSIGN(auto opened, cache::RocksStore::Open(folder));
  auto store = std::make_unique<ToldStore>(std::move(opened));
  TRY_ASSIGN(const cache::Upgraded upgraded,
             cache::BringUpToDate(*store, folder, kUpgradeDate, newest, LaterSteps()));
  backup = upgraded.backup;
  return store;
}

std::unique_ptr<ToldStore> TakeOpening(const std::string& root, int newest) {
  std::unique_ptr<ToldStore> store;
  TakeStep("open", [&]() -> base::Result<std::string> {
    std::string backup;
    TRY_ASSIGN(store, OpenAsDaemon(root, newest, backup));
    return backup;
  });
  return store;
}

// A step without words.
void Take(const std::string& name, const std::function<base::Result<>()>& step) {
  TakeStep(name, [&]() -> base::Result<std::string> {
    TRY(step());
    return std::string();
  });
}

constexpr std::size_t kLarge = 60'000;  // a kernel with what it includes

void SaveVerdicts(cache::Store& store, int from, int to, std::size_t bytes,
                  const std::string& date = "") {
  service::Catalog catalog(store);
  for (int i = from; i < to; ++i) {
    const records::Variant variant = NumberedVariant("one", i, bytes);
    records::Evaluation evaluation =
        AcceptedEvaluation(variant, base::HashHex("one"), base::HashHex("workload"), 1.5);
    if (!date.empty()) evaluation.date = date;
    Take("verdict", [&] { return catalog.SaveVerdict(variant, evaluation); });
  }
}

void SaveDecisions(cache::Store& store) {
  service::Catalog catalog(store);
  const ManualClock clock;
  service::Journal journal(store, clock);
  using Kind = service::Mark::Kind;
  const std::string key = base::HashHex("one");
  const service::Mark pinned{Kind::kPinned, key, "a", "one", "", kUpgradeDate};
  const service::Mark rejected{Kind::kRejected, key, "b", "one", "", kUpgradeDate};
  Take("pin", [&] { return catalog.SaveMark(pinned); });
  Take("reject", [&] { return catalog.SaveMark(rejected); });
  Take("allow", [&] { return catalog.DropMark(rejected); });
  for (int i = 0; i < 2; ++i) {
    Take("propose", [&]() -> base::Result<> {
      service::Catalog::Proposal proposal{NumberedVariant("one", 900 + i), 1.4, "sm_90", "2026"};
      TRY(catalog.SaveProposal(key, proposal));
      return {};
    });
    Take("change", [&] {
      return journal.Add({"/a.cu", "one"}, {"pinned", {"a"}, "a title", "the user pinned it"});
    });
  }
  Take("fact", [&] { return catalog.SaveFact("snoozed_until", "later"); });
  Take("job", [&] { return catalog.SaveJob("job/" + key, Json{{"schema", "cupilot.job/1"}}); });
}

void SaveExchanges(cache::Store& store, const std::string& root) {
  ManualClock clock;
  agents::ExchangeLog log(store, clock, root + "/exchanges", {});
  for (int i = 0; i < 2; ++i) {
    clock.Advance(std::chrono::seconds(1));
    Take("exchange", [&] {
      agents::ExchangeRecord record;
      record.provider = "a provider";
      record.request.prompt = "question " + std::to_string(i);
      record.result->text = "an answer";
      return log.Add(record);
    });
  }
}

void Prune(cache::Store& store) {
  Take("prune", [&]() -> base::Result<> {
    TRY_ASSIGN(const service::PruneReport report,
               service::PlanPrune(store, {{}, {}}, {"2026-01-01T00:00:00Z", 0}));
    if (!report.writes.empty()) TRY(store.Apply(report.writes));
    return store.Compact();
  });
}

}  // namespace

void LiveWithStore(const std::string& root) {
  auto store = TakeOpening(root, cache::kStoreFormat);
  records::Kernel kernel;
  kernel.name = kernel.base_name = "one";
  kernel.key = base::HashHex("one");
  Take("kernel",
       [&] { return service::Catalog(*store).SaveKernel(kernel, MakeSmallWorkload("one")); });
  // More than a table in memory holds: some of it is written out while this goes on.
  SaveVerdicts(*store, 0, 24, kLarge, "2025-06-01T00:00:00Z");
  SaveDecisions(*store);
  SaveExchanges(*store, root);
  Prune(*store);
  SaveVerdicts(*store, 24, 28, 100);
  store.reset();
  store = TakeOpening(root, cache::kStoreFormat);
  SaveVerdicts(*store, 28, 30, kLarge);
  Prune(*store);
  SaveVerdicts(*store, 30, 32, 100);
}

void PrepareUpgrade(const std::string& root) {
  if (base::FileExists(root + "/store")) return;
  auto opened = cache::RocksStore::Open(root + "/store");
  std::vector<Write> writes;
  for (int i = 0; i < 8; ++i) {
    writes.push_back({Table::kKernels, "kernel " + std::to_string(i),
                      cache::Seal(Json{{"text", std::string(1000, 'x')}})});
  }
  // Without the number: as the versions did that knew none.
  if (!opened || !(*opened)->Apply(writes)) std::abort();
}

void LiveWithUpgrade(const std::string& root) {
  const auto store = TakeOpening(root, kLaterFormat);
  SaveVerdicts(*store, 0, 3, 100);
}

}  // namespace cupilot::test
