#include "agents/exchange_provider.h"

#include <filesystem>
#include <sstream>
#include <utility>

#include "agents/answer_soon.h"
#include "agents/wire_format.h"
#include "base/file.h"

namespace cupilot::agents {
namespace {

using records::Json;
namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "cupilot-";

// For whoever opens the folder.
constexpr std::string_view kNotice =
    "requests/ID.jsonl  a question of cuPilot's that is open: a line of OpenAI's batch format\n"
    "                   (all of them: cat requests/*.jsonl > batch.jsonl)\n"
    "answers/*.jsonl    put the output of such a batch here, under any name\n"
    "answers/ID.txt     or the text of one answer\n"
    "Then run the same command again, here or where this folder was copied to.\n";

}  // namespace

ExchangeProvider::ExchangeProvider(Alarms& alarms, std::string folder)
    : alarms_(alarms),
      folder_(std::move(folder)),
      format_(std::make_unique<OpenAiBatchFormat>()),
      name_("exchange " + folder_),
      traits_{.sends = true, .costs = false, .batch = false} {}

ExchangeProvider::ExchangeProvider(Alarms& alarms, std::string folder,
                                   std::unique_ptr<BatchFormat> format, std::string name)
    : alarms_(alarms),
      folder_(std::move(folder)),
      format_(std::move(format)),
      name_(std::move(name)),
      traits_{.sends = true, .costs = true, .batch = true} {}

std::string ExchangeProvider::IdOf(const ModelRequest& request) {
  return std::string(kPrefix) + RequestKey(request);
}

std::string ExchangeProvider::Bytes(const ModelRequest& request) const {
  return format_->Line(IdOf(request), request);
}

std::unique_ptr<ModelCall> ExchangeProvider::Send(ModelRequest request, TextHandler on_text,
                                                  AnswerHandler done) {
  return AnswerSoon(alarms_, Look(request), std::move(on_text), std::move(done));
}

ModelResult ExchangeProvider::Look(const ModelRequest& request) {
  const std::string id = IdOf(request);
  const std::string open = folder_ + "/requests/" + id + ".jsonl";
  if (auto text = base::ReadFile(folder_ + "/answers/" + id + ".txt")) {
    ModelAnswer answer;
    answer.repeated = !base::FileExists(open);
    (void)base::RemoveTree(open);
    answer.text = std::move(*text);
    return answer;
  }
  ReadAnswerFiles();
  if (const auto found = answers_.find(id); found != answers_.end()) {
    ModelResult result = format_->ResultOf(found->second);
    const bool repeated = !base::FileExists(open);
    if (result) {
      result->repeated = repeated;
    } else {
      result.error().repeated = repeated;
    }
    if (result || traits_.batch) (void)base::RemoveTree(open);
    return result;
  }
  ModelError error;
  if (const auto written = WriteOpen(id, request); !written) {
    error.message = written.error().message;
    return tl::unexpected(std::move(error));
  }
  error.why = Failure::kPending;
  error.message = "the request waits for its answer: " + open;
  if (!complaint_.empty()) error.message += " (" + complaint_ + ")";
  return tl::unexpected(std::move(error));
}

base::Result<> ExchangeProvider::WriteOpen(const std::string& id,
                                           const ModelRequest& request) const {
  TRY(base::MakeFolders(folder_ + "/answers"));
  TRY(base::WriteFileIfDifferent(folder_ + "/README.txt", kNotice));
  TRY(base::WriteFileIfDifferent(folder_ + "/requests/" + id + ".jsonl", Bytes(request)));
  return {};
}

// Only files that changed are read again; they are whole, or grow and change again.
void ExchangeProvider::ReadAnswerFiles() {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_ + "/answers", error)) {
    const std::string path = entry.path();
    if (entry.path().extension() != ".jsonl") continue;
    const auto identity = base::IdentifyFile(path);
    if (!identity) continue;
    const Identity now = {identity->size, identity->mtime_ns};
    auto& read = read_[path];
    if (read == now) continue;
    read = now;
    ReadAnswerFile(path);
  }
}

void ExchangeProvider::ReadAnswerFile(const std::string& path) {
  const auto text = base::ReadFile(path);
  if (!text) return;
  if (complaint_.rfind(path + ":", 0) == 0) complaint_.clear();
  std::istringstream lines(*text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const auto json = records::ParseJson(line);
    if (!json || !json->is_object()) {
      complaint_ = path + ":" + std::to_string(number) + " is no JSON object";
      continue;
    }
    const std::string id = records::TextAt(*json, "custom_id");
    if (id.rfind(kPrefix, 0) != 0) continue;
    // An answer is better than an error, wherever it stands.
    const auto known = answers_.find(id);
    if (known == answers_.end() || !format_->Succeeded(known->second)) answers_[id] = *json;
  }
}

int ExchangeProvider::Open() const {
  int count = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_ + "/requests", error)) {
    if (entry.path().extension() == ".jsonl") ++count;
  }
  return count;
}

}  // namespace cupilot::agents
