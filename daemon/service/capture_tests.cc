#include "service/capture_tests.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "log/log.h"
#include "records/json.h"

namespace cupilot::service {
namespace {

using records::Json;

constexpr const char* kTriesFact = "capture_tries";
// How soon after the end of a build tool a capture begins.
constexpr std::chrono::milliseconds kLookAgain{500};

}  // namespace

CaptureTests::CaptureTests(loop::Loop& loop, Catalog& catalog, CaptureRunner* runner,
                           Settings settings,
                           base::UniqueFunction<void(const CaptureId* ended)> changed)
    : catalog_(catalog),
      runner_(runner),
      settings_(std::move(settings)),
      changed_(std::move(changed)),
      timer_(loop) {
  Load();
}

CaptureTests::~CaptureTests() {
  *alive_ = false;
  if (running_) runner_->Stop();
}

void CaptureTests::Load() {
  const auto text = catalog_.Fact(kTriesFact);
  const auto json = text ? records::ParseJson(*text) : base::Result<Json>(Json());
  if (!json || !json->is_array()) return;
  for (const Json& row : *json) {
    CaptureTry last;
    last.key = records::TextAt(row, "key");
    last.begun = row.value("begun", 0);
    last.ended = row.value("ended", false);
    last.failure = records::TextAt(row, "failure");
    last.log = records::TextAt(row, "log");
    tries_[{records::TextAt(row, "build_folder"), records::TextAt(row, "test")}] = std::move(last);
  }
}

void CaptureTests::Save() {
  Json rows = Json::array();
  for (const auto& [id, last] : tries_) {
    rows.push_back({{"build_folder", id.build_folder},
                    {"test", id.test},
                    {"key", last.key},
                    {"begun", last.begun},
                    {"ended", last.ended},
                    {"failure", last.failure},
                    {"log", last.log}});
  }
  if (auto saved = catalog_.SaveFact(kTriesFact, records::CompactJson(rows)); !saved) {
    log::Error("what was captured by tests cannot be written down", {{"reason", saved.error()}});
  }
}

std::string CaptureTests::LogOf(const CaptureId& id) const {
  return settings_.log_folder + "/" +
         base::Hasher().Add(id.build_folder).Add(id.test).Hex().substr(0, 16) + ".log";
}

const CaptureTry* CaptureTests::FindTry(const CaptureId& id) const {
  const auto found = tries_.find(id);
  return found == tries_.end() ? nullptr : &found->second;
}

void CaptureTests::Look(const std::map<std::string, Project>& projects,
                        const std::vector<CaptureObject>& objects) {
  notes_.clear();
  due_.clear();
  for (CaptureDemand& demand : DemandsOf(objects)) {
    const auto project = projects.find(demand.id.build_folder);
    if (project == projects.end()) continue;
    std::string& note = notes_[demand.id];
    if (running_ && running_->id == demand.id) {
      note = "is being captured by the test '" + demand.id.test + "'";
      continue;
    }
    if (!settings_.enabled) {
      note = "the test '" + demand.id.test +
             "' is not run, since capture_tests is off in the settings; run `cupilot capture -- "
             "PROGRAM`";
      continue;
    }
    if (const auto command = CommandOf(project->second, demand.id.test); !command) {
      note = command.error().message;
      continue;
    }
    const CaptureTry* last = FindTry(demand.id);
    note = NoteOf(demand, last);
    if (runner_ != nullptr && IsDue(demand, last)) due_.push_back(std::move(demand));
  }
  if (due_.empty()) timer_.Cancel();
}

bool CaptureTests::Begin(const std::map<std::string, Project>& projects,
                         const std::function<bool(const CaptureDemand&)>& may_begin) {
  if (running_) return false;
  for (const CaptureDemand& demand : due_) {
    if (!may_begin(demand)) continue;
    if (runner_->IsBuilding(demand.id.build_folder)) {
      timer_.Start(kLookAgain, [this] { changed_(nullptr); });
      continue;
    }
    const auto project = projects.find(demand.id.build_folder);
    if (project == projects.end()) continue;
    auto command = CommandOf(project->second, demand.id.test);
    if (!command) continue;
    running_ = demand;
    interrupted_ = false;
    CaptureTry& last = tries_[demand.id];
    const int before = last.key == demand.key ? last.begun : 0;
    last = {demand.key, before + 1, false, "", LogOf(demand.id)};
    // Before it begins: what ends the daemon or the machine is not begun for ever.
    Save();
    log::Info("a capture begins",
              {{"test", demand.id.test}, {"build_folder", demand.id.build_folder}});
    runner_->Run({demand.id, std::move(*command), last.log},
                 [this, alive = alive_](const std::string& failure) {
                   if (*alive) OnEnd(failure);
                 });
    return true;
  }
  return false;
}

void CaptureTests::OnEnd(const std::string& failure) {
  const CaptureId id = running_->id;
  running_.reset();
  log::Info(
      "a capture ended",
      {{"test", id.test}, {"failure", failure}, {"interrupted", interrupted_ ? "yes" : "no"}});
  if (const auto last = tries_.find(id); last != tries_.end() && !interrupted_) {
    last->second.ended = true;
    last->second.failure = failure;
    Save();
  }
  changed_(&id);
}

void CaptureTests::Again(const CaptureId& id) {
  const auto last = tries_.find(id);
  // Two kernels that have no room beside each other would take turns without end.
  if (last == tries_.end() || last->second.begun >= kMostBegun) return;
  last->second.ended = false;
  Save();
}

void CaptureTests::Interrupt() {
  if (!running_ || interrupted_) return;
  interrupted_ = true;
  runner_->Stop();
}

void CaptureTests::Forget(const std::string& build_folder) {
  if (running_ && running_->id.build_folder == build_folder) Interrupt();
  const auto gone = std::erase_if(tries_, [&](const auto& entry) {
    if (entry.first.build_folder != build_folder) return false;
    (void)base::RemoveTree(entry.second.log);
    return true;
  });
  if (gone > 0) Save();
}

std::string CaptureTests::Note(const CaptureId& id) const {
  const auto found = notes_.find(id);
  return found == notes_.end() ? "" : found->second;
}

}  // namespace cupilot::service
