// op "replay" of device workers: whether a captured launch comes out as it did in the program,
// again and again. Pure values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/worker_messages.h"
#include "records/json.h"

namespace cupilot::protocol {

// Contents that the program's launch left, in the blob store: by case, then by the name of the
// argument, buffer or global. What is written and not named was left as it was.
using LeftBehind = std::map<std::string, std::map<std::string, std::string>>;

struct ReplayRequest {
  CandidateSet set;  // kernel, workload and the original's artifact; no variant
  LeftBehind after;
  std::int64_t times = 100;
  double max_seconds = 10;  // of a case; two runs at least
};

struct ReplayedCase {
  std::string name;
  std::int64_t times = 0;   // runs that gave the same bits
  std::string reason = {};  // empty: all of them, and the program's; else what differed
  // What differed is no more than rounding, as of another compiler or another order of additions.
  bool rounding = false;
  std::int64_t wanted = 0;  // runs that were asked for; fewer without a reason: the time was up
  double seconds = 0;       // within which
  bool failed = false;      // the replay itself: nothing is known of the case but the reason
  bool operator==(const ReplayedCase&) const = default;
};

struct ReplayReply {
  std::vector<ReplayedCase> cases;
};

// Of a case whose replay was no run of the original.
ReplayedCase NotReplayed(const std::string& name, const base::Error& error);

records::Json ToJson(const ReplayRequest& request);
base::Result<ReplayRequest> ParseReplayRequest(const records::Json& json);
records::Json ToJson(const ReplayReply& reply);
base::Result<ReplayReply> ParseReplayReply(const records::Json& json);

}  // namespace cupilot::protocol
