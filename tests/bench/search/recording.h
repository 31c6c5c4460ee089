// What one way of searching was told about one kernel, so that it can be run again without
// compiler, device or model: the kernel and its workload, what the techniques made of it, each
// evaluation and each exchange with a model. A file of JSON lines, compressed by Zstandard.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "agents/exchange_record.h"
#include "base/result.h"
#include "records/evaluation.h"
#include "records/json.h"
#include "records/kernel.h"
#include "records/workload.h"

namespace cupilot::bench {

// Facts about variants of a kernel on a device, whoever asked for them: the arms of one kernel
// share them while they are recorded, so that the noise of measurements decides nothing between
// them. A value is {"result": ...} or {"error": {"code", "message"}}.
struct Facts {
  std::map<std::string, records::Json> replies;      // of source workers, by ReplyKey
  std::map<std::string, records::Json> evaluations;  // by variant id
};

struct Recording {
  std::string kernel;  // name of the example
  std::string arm;
  std::uint64_t seed = 1;
  std::int64_t evaluations = 0;  // the arm's budgets
  std::int64_t requests = 0;
  std::string device = "host";
  records::DeviceIdentity identity;
  std::string driver;
  records::Kernel scanned;
  records::Workload workload;
  Facts facts;
  std::vector<agents::ExchangeRecord> exchanges;  // in the order in which they ended
};

// kNotFound where there is none; kCorruption names the file and the line.
base::Result<Recording> ReadRecording(const std::string& path);
// Whole or not at all. The same recording gives the same bytes.
base::Result<> WriteRecording(const std::string& path, const Recording& recording);

// DIR/KERNEL/ARM.jsonl.zst
std::string RecordingPath(const std::string& folder, const std::string& kernel,
                          const std::string& arm);

records::Json FactOf(const base::Result<records::Json>& result);
base::Result<records::Json> ResultOf(const records::Json& fact);

}  // namespace cupilot::bench
