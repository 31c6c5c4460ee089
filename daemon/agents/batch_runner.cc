#include "agents/batch_runner.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>

#include "base/file.h"
#include "base/hash.h"

namespace cupilot::agents {
namespace {

using records::Json;
namespace fs = std::filesystem;

constexpr const char* kCreating = "creating";

std::vector<std::string> TextsAt(const Json& json, const char* key) {
  std::vector<std::string> texts;
  const auto found = json.is_object() ? json.find(key) : json.end();
  if (found == json.end() || !found->is_array()) return texts;
  for (const Json& one : *found) {
    if (one.is_string()) texts.push_back(one.get<std::string>());
  }
  return texts;
}

}  // namespace

BatchRunner::BatchRunner(Alarms& alarms, BatchService& service, const BatchFormat& format,
                         Settings settings)
    : alarms_(alarms), service_(service), format_(format), settings_(std::move(settings)) {}

std::string BatchRunner::Path(const std::string& name) const {
  return settings_.folder + "/batches/" + name + ".json";
}

base::Result<> BatchRunner::Start() {
  TRY(base::MakeFolders(settings_.folder + "/batches"));
  TRY(ReadState());
  Look();
  return {};
}

base::Result<> BatchRunner::ReadState() {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(settings_.folder + "/batches", error)) {
    if (entry.path().extension() != ".json") continue;
    TRY_ASSIGN(const std::string text, base::ReadFile(entry.path()));
    const auto json = records::ParseJson(text);
    if (!json) return base::Fail(json.error().In(entry.path().string()));
    Batch batch{entry.path().stem(), TextsAt(*json, "requests")};
    sent_.insert(batch.requests.begin(), batch.requests.end());
    const auto done = json->find("done");
    if (done != json->end() && *done == true) continue;
    if (batch.name == kCreating) {
      TRY(Lose(batch.requests));
    } else {
      open_.push_back(std::move(batch));
    }
  }
  return {};
}

base::Result<> BatchRunner::Write(const Batch& batch, bool done) const {
  const Json json = {{"requests", batch.requests}, {"done", done}};
  return base::WriteFileDurably(Path(batch.name), records::PrettyJson(json));
}

// Answers first, then what says that there are some.
base::Result<> BatchRunner::Lose(const std::vector<std::string>& requests) {
  std::string lines;
  for (const std::string& id : requests) lines += format_.LostLine(id);
  const std::string name = "lost-" + base::HashHex(lines);
  TRY(base::WriteFileDurably(settings_.folder + "/answers/" + name + ".jsonl", lines));
  TRY(Write({name, requests}, true));
  sent_.insert(requests.begin(), requests.end());
  return base::RemoveTree(Path(kCreating));
}

void BatchRunner::Look() {
  problem_.clear();
  to_poll_ = open_;
  PollNext();
}

void BatchRunner::PollNext() {
  if (to_poll_.empty()) return SendWaiting();
  Batch batch = std::move(to_poll_.back());
  to_poll_.pop_back();
  const std::string name = batch.name;
  service_.Poll(name, [this, batch, alive = std::weak_ptr(alive_)](
                          tl::expected<std::optional<std::string>, ModelError> lines) {
    if (!alive.expired()) OnPolled(batch, std::move(lines));
  });
}

void BatchRunner::OnPolled(const Batch& batch,
                           tl::expected<std::optional<std::string>, ModelError> lines) {
  if (!lines) {
    problem_ = "batch " + batch.name + ": " + lines.error().message;
  } else if (*lines) {
    if (const auto kept = Keep(batch, **lines); !kept) problem_ = kept.error().message;
  }
  PollNext();
}

base::Result<> BatchRunner::Keep(const Batch& batch, const std::string& lines) {
  std::string all = lines;
  std::set<std::string> missing(batch.requests.begin(), batch.requests.end());
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) {
    const auto json = records::ParseJson(line);
    if (json && json->is_object()) missing.erase(records::TextAt(*json, "custom_id"));
  }
  if (!all.empty() && all.back() != '\n') all += '\n';
  for (const std::string& id : missing) all += format_.LostLine(id);
  TRY(base::WriteFileDurably(settings_.folder + "/answers/" + batch.name + ".jsonl", all));
  TRY(Write(batch, true));
  std::erase_if(open_, [&batch](const Batch& one) { return one.name == batch.name; });
  return {};
}

std::vector<std::string> BatchRunner::Waiting() const {
  std::vector<std::string> ids;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(settings_.folder + "/requests", error)) {
    const std::string id = entry.path().stem();
    if (entry.path().extension() == ".jsonl" && sent_.count(id) == 0) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

void BatchRunner::SendWaiting() {
  const std::vector<std::string> waiting = Waiting();
  if (waiting.empty()) looks_ = 0;
  const bool full = waiting.size() >= settings_.most_requests;
  if (waiting.empty() || (!full && ++looks_ < settings_.looks_before_sending)) return Rest();
  std::vector<std::string> requests;
  std::string lines;
  for (const std::string& id : waiting) {
    if (requests.size() >= settings_.most_requests || lines.size() >= settings_.most_bytes) break;
    const auto line = base::ReadFile(settings_.folder + "/requests/" + id + ".jsonl");
    if (!line) continue;
    lines += *line;
    requests.push_back(id);
  }
  if (const auto written = Write({kCreating, requests}, false); !written) {
    problem_ = written.error().message;
    return Rest();
  }
  looks_ = 0;
  service_.Create(lines, [this, requests, alive = std::weak_ptr(alive_)](
                             tl::expected<std::string, ModelError> name) {
    if (!alive.expired()) OnCreated(requests, std::move(name));
  });
}

void BatchRunner::OnCreated(std::vector<std::string> requests,
                            tl::expected<std::string, ModelError> name) {
  base::Result<> kept;
  if (name) {
    Batch batch{*name, std::move(requests)};
    kept = Write(batch, false);
    if (kept) {
      kept = base::RemoveTree(Path(kCreating));
      sent_.insert(batch.requests.begin(), batch.requests.end());
      open_.push_back(std::move(batch));
    }
  } else {
    problem_ = "a batch could not be sent: " + name.error().message;
    kept = name.error().may_cost ? Lose(requests) : base::RemoveTree(Path(kCreating));
  }
  if (!kept) problem_ = kept.error().message;
  Rest();
}

void BatchRunner::Rest() {
  next_ = alarms_.After(settings_.period, [this] { Look(); });
}

}  // namespace cupilot::agents
