#include "protocol/replay.h"

#include <utility>

#include "records/reader.h"

namespace cupilot::protocol {

using records::Json;
using records::ObjectReader;
using records::Reading;
using records::Strictness;

// NOLINTNEXTLINE(misc-use-internal-linkage): found by the reader through its argument
void Read(const Json& json, const std::string& path, ReplayedCase& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("name", out.name)
      .Optional("times", out.times)
      .Optional("reason", out.reason)
      .Optional("rounding", out.rounding)
      .Optional("wanted", out.wanted)
      .Optional("seconds", out.seconds)
      .Optional("failed", out.failed);
}

Json ToJson(const ReplayRequest& request) {
  return {{"set", ToJson(request.set)},
          {"after", request.after},
          {"times", request.times},
          {"max_seconds", request.max_seconds}};
}

base::Result<ReplayRequest> ParseReplayRequest(const Json& json) {
  ReplayRequest request;
  Json set;
  Reading reading(Strictness::kLenient);
  ObjectReader object(json, "", reading);
  object.Optional("set", set)
      .Optional("after", request.after)
      .Optional("times", request.times)
      .Optional("max_seconds", request.max_seconds);
  if (!reading.ok()) return base::Fail(*reading.error());
  TRY_ASSIGN(request.set, ParseCandidateSet(set));
  return request;
}

Json ToJson(const ReplayReply& reply) {
  Json cases = Json::array();
  for (const ReplayedCase& one : reply.cases) {
    cases.push_back({{"name", one.name},
                     {"times", one.times},
                     {"reason", one.reason},
                     {"rounding", one.rounding},
                     {"wanted", one.wanted},
                     {"seconds", one.seconds},
                     {"failed", one.failed}});
  }
  return {{"cases", std::move(cases)}};
}

ReplayedCase NotReplayed(const std::string& name, const base::Error& error) {
  ReplayedCase one;
  one.name = name;
  one.reason = "it cannot be replayed: " + error.message;
  one.failed = true;
  return one;
}

base::Result<ReplayReply> ParseReplayReply(const Json& json) {
  ReplayReply reply;
  Reading reading(Strictness::kLenient);
  ObjectReader object(json, "", reading);
  object.Optional("cases", reply.cases);
  if (!reading.ok()) return base::Fail(*reading.error());
  return reply;
}

}  // namespace cupilot::protocol
