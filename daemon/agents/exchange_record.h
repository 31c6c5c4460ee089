// What was asked and what was answered, as a document: cupilot.exchange/1. What the daemon keeps of
// every exchange, what is exported, and what `replay` answers from.
#pragma once

#include <string>
#include <vector>

#include "agents/provider.h"
#include "base/result.h"

namespace cupilot::agents {

struct ExchangeRecord {
  std::string time;      // "2026-11-21T08:30:00Z", when it was asked
  std::string provider;  // its name
  ModelRequest request;  // texts as they were sent: without what must not leave this machine
  std::string sent;      // the exact bytes; empty: nothing was sent
  ModelResult result;    // of an error its message, and what came of the text
};

// Unknown keys are passed over in reading: we write them ourselves.
records::Json ToJson(const ExchangeRecord& record);
base::Result<ExchangeRecord> ReadExchange(const records::Json& json);

// A file with a document a line; empty lines are passed over. The message names file and line.
base::Result<std::vector<ExchangeRecord>> ReadExchanges(const std::string& path);

}  // namespace cupilot::agents
