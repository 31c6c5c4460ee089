#include "agents/replay_provider.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "agents/answer_soon.h"
#include "base/hash.h"

namespace cupilot::agents {
namespace {

std::string MatchKey(const ModelRequest& request) {
  base::Hasher hasher;
  hasher.Add(request.role).Add(request.system).Add(request.prompt);
  return hasher.Add(std::to_string(request.sample)).Hex();
}

ModelError Missing(const ModelRequest& request, int asked_before) {
  ModelError error;
  error.why = Failure::kMissing;
  error.message = asked_before == 0 ? "no answer was recorded for this request"
                                    : "this request has no answer left; recorded: " +
                                          std::to_string(asked_before);
  error.message += "\nrole: " + request.role + ", sample: " + std::to_string(request.sample) +
                   "\n--- system\n" + request.system + "\n--- prompt\n" + request.prompt +
                   "\n--- end\n";
  return error;
}

}  // namespace

ReplayProvider::ReplayProvider(Alarms& alarms, std::vector<ExchangeRecord> exchanges)
    : alarms_(alarms) {
  for (ExchangeRecord& exchange : exchanges) {
    recorded_[MatchKey(exchange.request)].push_back(std::move(exchange.result));
  }
}

base::Result<std::unique_ptr<ReplayProvider>> ReplayProvider::Load(Alarms& alarms,
                                                                   const std::string& path) {
  std::vector<std::string> files;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
      if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
  } else {
    files.push_back(path);
  }
  std::vector<ExchangeRecord> all;
  for (const std::string& file : files) {
    TRY_ASSIGN(auto exchanges, ReadExchanges(file));
    std::move(exchanges.begin(), exchanges.end(), std::back_inserter(all));
  }
  return std::make_unique<ReplayProvider>(alarms, std::move(all));
}

std::string ReplayProvider::Bytes(const ModelRequest& request) const {
  return request.system + "\n" + request.prompt;
}

std::unique_ptr<ModelCall> ReplayProvider::Send(ModelRequest request, TextHandler on_text,
                                                AnswerHandler done) {
  const std::string key = MatchKey(request);
  const auto found = recorded_.find(key);
  ModelResult result;
  if (found == recorded_.end() || found->second.empty()) {
    result = tl::unexpected(Missing(request, asked_[key]));
  } else {
    ++asked_[key];
    result = std::move(found->second.front());
    found->second.pop_front();
  }
  return AnswerSoon(alarms_, std::move(result), std::move(on_text), std::move(done));
}

std::size_t ReplayProvider::left() const {
  std::size_t count = 0;
  for (const auto& [key, results] : recorded_) count += results.size();
  return count;
}

}  // namespace cupilot::agents
