// Answers from a recording: no network, no model, the same each time.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agents/alarms.h"
#include "agents/exchange_record.h"
#include "agents/provider.h"

namespace cupilot::agents {

// A request is answered by what was recorded for the same role, system text, prompt (byte by byte)
// and sample; what was recorded several times for one is given in that order, errors too. A request
// that has no answer left is kMissing, and its message holds the request.
class ReplayProvider final : public Provider {
 public:
  ReplayProvider(Alarms& alarms, std::vector<ExchangeRecord> exchanges);
  // A file of documents (exchange_record.h), or a folder: of all its *.jsonl files, by name.
  static base::Result<std::unique_ptr<ReplayProvider>> Load(Alarms& alarms,
                                                            const std::string& path);

  const std::string& name() const override { return name_; }
  ProviderTraits traits() const override { return {false, false}; }
  std::string Bytes(const ModelRequest& request) const override;
  std::unique_ptr<ModelCall> Send(ModelRequest request, TextHandler on_text,
                                  AnswerHandler done) override;

  // Recorded and not asked for yet: what a replay that is complete leaves is 0.
  std::size_t left() const;

 private:
  Alarms& alarms_;
  std::string name_ = "replay";
  std::map<std::string, std::deque<ModelResult>> recorded_;  // by the key of what is matched
  std::map<std::string, int> asked_;
};

}  // namespace cupilot::agents
