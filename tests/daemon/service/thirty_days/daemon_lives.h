// The daemon's lives on one machine, in this process: each is made on the files that the one before
// left, after an orderly end or after a kill at some point between two writes. The disk may be full
// meanwhile.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/rocks_store.h"
#include "cache/upgrade.h"
#include "evaluate/worker_evaluator.h"
#include "loop/loop.h"
#include "service/requests.h"
#include "service/service.h"
#include "tests/daemon/service/thirty_days/machine.h"

namespace cupilot::service {

// What the disk does with writes, and when the process dies.
struct Fate {
  bool full = false;
  long writes_left = -1;       // until the kill; -1: none is due
  bool dead = false;           // nothing is written any more
  std::function<void()> dies;  // the moment
  std::int64_t refused = 0;    // writes, because the disk was full
  std::int64_t written = 0;

  // Before and after each write: a kill may come between.
  void Point() {
    if (dead || writes_left < 0 || writes_left-- > 0) return;
    Die();
  }
  void Die() {
    if (dies) dies();
    dead = true;
  }
  base::Result<> MayWrite() {
    Point();
    if (dead) return base::Fail(base::IoError("the process is dead"));
    if (full) ++refused;
    if (full) return base::Fail(base::IoError("No space left on device"));
    ++written;
    return {};
  }
};

// Keeps the book on what the store acknowledged.
class MortalStore final : public cache::Store {
 public:
  using Book = std::function<void(cache::Store& store, const std::vector<cache::Write>& writes)>;

  // `book` is told what will be written, in front of it.
  MortalStore(cache::Store& store, Fate& fate, Book book)
      : store_(store), fate_(fate), book_(std::move(book)) {}

  base::Result<std::optional<std::string>> Get(cache::Table table, std::string_view key) override {
    return store_.Get(table, key);
  }
  base::Result<> Apply(const std::vector<cache::Write>& writes) override {
    TRY(fate_.MayWrite());
    book_(store_, writes);
    TRY(store_.Apply(writes));
    fate_.Point();
    return {};
  }
  base::Result<> Scan(
      cache::Table table, std::string_view prefix,
      const std::function<bool(std::string_view, std::string_view)>& visit) override {
    return store_.Scan(table, prefix, visit);
  }
  base::Result<> Compact() override { return fate_.dead ? base::Result<>() : store_.Compact(); }
  base::Result<> CopyTo(const std::string& folder) override { return store_.CopyTo(folder); }

 private:
  cache::Store& store_;
  Fate& fate_;
  Book book_;
};

class MortalFiles final : public PublishFiles {
 public:
  explicit MortalFiles(Fate& fate) : fate_(fate) {}
  base::Result<bool> Write(const std::string& path, const std::string& bytes) override {
    TRY(fate_.MayWrite());
    auto written = PublishFiles::Write(path, bytes);
    fate_.Point();
    return written;
  }
  base::Result<> Touch(const std::string& path) override {
    if (fate_.dead) return {};
    return PublishFiles::Touch(path);
  }

 private:
  Fate& fate_;
};

class DaemonLives {
 public:
  DaemonLives(test::Machine& machine, test::MachineClock& clock, std::string state,
              Settings settings, MortalStore::Book book)
      : machine_(machine),
        clock_(clock),
        state_(std::move(state)),
        settings_(std::move(settings)),
        book_(std::move(book)) {
    fate.dies = [this] { CopyFilesAsTheyAre(); };
  }
  ~DaemonLives() {
    if (life_ != nullptr) End();
  }

  Fate fate;

  Service& service() { return *life_->service; }
  cache::Store& store() { return *life_->mortal; }
  double StoreMegabytes() { return static_cast<double>(life_->store->BytesHeldForTest()) / 0x1p20; }
  loop::Loop& loop() { return life_->loop; }
  bool left() const { return life_->left; }
  bool alive() const { return life_ != nullptr; }

  // Returns the copy that was made because the store was of an older format, or nothing.
  std::string Begin() {
    fate.dead = false;
    machine_.Start();
    auto life = std::make_unique<Life>(clock_);
    const std::string folder = store_folder();
    EXPECT_TRUE(cache::CheckFormat(folder));
    auto opened = cache::RocksStore::Open(folder);
    if (!opened) ADD_FAILURE() << opened.error().message;
    if (!opened) return {};
    life->store = std::move(*opened);
    const auto upgraded =
        cache::BringUpToDate(*life->store, folder, base::FormatDate(clock_.WallTime()));
    EXPECT_TRUE(upgraded) << upgraded.error().message;
    life->mortal = std::make_unique<MortalStore>(*life->store, fate, book_);
    life->files = std::make_unique<MortalFiles>(fate);
    life->evaluator = std::make_unique<evaluate::WorkerEvaluator>(
        machine_, clock_,
        evaluate::WorkerEvaluator::Settings{{state_ + "/built", 60000}, state_ + "/work"});
    life->service =
        std::make_unique<Service>(Service::Collaborators{life->loop, clock_, *life->mortal,
                                                         machine_, *life->evaluator, *life->files},
                                  settings_, state_);
    life->requests = std::make_unique<Requests>(*life->service, state_, [] {});
    Life* raw = life.get();
    life->requests->OnHandOver(
        [raw](const std::string&) { raw->service->Leave([raw] { raw->left = true; }); });
    life_ = std::move(life);
    life_->service->Start();
    return upgraded ? upgraded->backup : "";
  }

  // In order, as at a stop, or after a hand-over.
  void End() {
    machine_.Stop();
    life_->loop.RunOnce(false);
    life_.reset();
  }

  // As they are when the process is killed now, or as they were when it died.
  void EndByKill() {
    if (!fate.dead) fate.Die();
    machine_.Drop();
    life_.reset();
    std::filesystem::remove_all(store_folder());
    std::filesystem::rename(killed_folder(), store_folder());
    fate.writes_left = -1;
  }

  // As one of cuPilot's before the format had a number.
  void MakeStoreOlder() {
    auto store = cache::RocksStore::Open(store_folder());
    ASSERT_TRUE(store);
    ASSERT_TRUE((*store)->Apply({{cache::Table::kCounters, "store_format", std::nullopt}}));
    std::filesystem::remove(store_folder() + "_format.json");
  }

  records::Json Ask(const std::string& verb, const records::Json& params) {
    const records::Json message = {{"id", 1}, {"verb", verb}, {"params", params}};
    const auto reply = records::ParseJson(life_->requests->Handle("peer", message.dump()));
    EXPECT_TRUE(reply) << verb;
    return reply.value_or(records::Json::object());
  }

  std::string store_folder() const { return state_ + "/store"; }

 private:
  struct Life {
    explicit Life(const base::Clock& clock) : loop(clock) {}
    loop::Loop loop;
    std::unique_ptr<cache::RocksStore> store;
    std::unique_ptr<MortalStore> mortal;
    std::unique_ptr<MortalFiles> files;
    std::unique_ptr<evaluate::WorkerEvaluator> evaluator;
    std::unique_ptr<Service> service;
    std::unique_ptr<Requests> requests;
    bool left = false;
  };

  std::string killed_folder() const { return state_ + "/store.killed"; }

  // Name and size of each file: what the store's own threads change while it is copied.
  std::map<std::string, std::uintmax_t> FilesOfStore() const {
    std::map<std::string, std::uintmax_t> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(store_folder(), error)) {
      files[entry.path().filename()] = entry.file_size(error);
    }
    return files;
  }

  // A moment's files: where a flush or compaction came between, once more.
  void CopyFilesAsTheyAre() {
    for (int attempt = 0; attempt < 10000; ++attempt) {
      std::error_code error;
      std::filesystem::remove_all(killed_folder());
      const auto before = FilesOfStore();
      std::filesystem::copy(store_folder(), killed_folder(), error);
      if (!error && FilesOfStore() == before) return;
    }
    ADD_FAILURE() << "the store was never quiet";
  }

  test::Machine& machine_;
  test::MachineClock& clock_;
  const std::string state_;
  const Settings settings_;
  const MortalStore::Book book_;
  std::unique_ptr<Life> life_;
};

}  // namespace cupilot::service
