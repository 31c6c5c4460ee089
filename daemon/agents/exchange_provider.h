// A folder in place of a connection: requests are written there, and answers are looked for. For
// machines without network, for batches by hand, for people who answer themselves.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "agents/alarms.h"
#include "agents/batch_format.h"
#include "agents/provider.h"

namespace cupilot::agents {

// FOLDER/requests/ID.jsonl holds an open request: one line of OpenAI's batch format, so that the
// files one after another are the input of a batch. FOLDER/answers/*.jsonl are outputs of batches
// (any number, any names, other lines in them are passed over); FOLDER/answers/ID.txt is an
// answer's text as it is. ID is made of the request's content (provider.h, RequestKey), so a
// request that is asked again, by another process or on another machine with a copy of the folder,
// finds its answer. Files are written whole or not at all. A request whose answer was read is no
// longer open: its file is removed, the answer stays.
//
// Send ends at once: with the answer, or kPending. Who gets that asks again later.
class ExchangeProvider final : public Provider {
 public:
  ExchangeProvider(Alarms& alarms, std::string folder);
  // A folder that a BatchRunner (batch_runner.h) carries to a service and back. There an error is
  // an answer too: its request is no longer open.
  ExchangeProvider(Alarms& alarms, std::string folder, std::unique_ptr<BatchFormat> format,
                   std::string name);

  const std::string& name() const override { return name_; }
  ProviderTraits traits() const override { return traits_; }
  std::string Bytes(const ModelRequest& request) const override;
  std::unique_ptr<ModelCall> Send(ModelRequest request, TextHandler on_text,
                                  AnswerHandler done) override;

  // The ID of a request: "cupilot-" and its key.
  static std::string IdOf(const ModelRequest& request);
  // Requests that wait for their answers, whoever wrote them.
  int Open() const;

 private:
  // Which bytes of a file were read.
  using Identity = std::pair<std::uint64_t, std::int64_t>;

  ModelResult Look(const ModelRequest& request);
  void ReadAnswerFiles();
  void ReadAnswerFile(const std::string& path);
  base::Result<> WriteOpen(const std::string& id, const ModelRequest& request) const;

  Alarms& alarms_;
  std::string folder_;
  std::unique_ptr<BatchFormat> format_;
  std::string name_;
  ProviderTraits traits_;
  std::map<std::string, Identity> read_;          // answer files
  std::map<std::string, records::Json> answers_;  // lines by ID
  std::string complaint_;                         // of the last line that could not be read
};

}  // namespace cupilot::agents
