// The record of an evolution, and the evolution made from it again.
#include <array>

#include "base/hash.h"
#include "records/reader.h"
#include "search/evolution/evolution.h"

namespace cupilot::search::evolution {
namespace {

using records::Json;

constexpr const char* kSchema = "cupilot.evolution/1";

// All that decides beside results and settings.
std::string InputHash(const Input& input) {
  Json json = {{"kernel", input.kernel},
               {"device", input.device},
               {"original", ToJson(input.original)},
               {"given", Json::array()},
               {"seeds", Json::array()},
               {"seen", input.seen},
               {"seed", records::NumberJson(input.seed)}};
  for (const Individual& member : input.given) json["given"].push_back(ToJson(member));
  for (const Plan& plan : input.seeds) json["seeds"].push_back(ToJson(plan));
  for (const auto& [technique, prior] : input.priors) {
    json["priors"][technique] = {records::NumberJson(prior.log_gain),
                                 records::NumberJson(prior.weight)};
  }
  return records::HashJson(json);
}

base::Error Corrupt(const std::string& what) {
  return base::Corruption("the record of the evolution: " + what);
}

}  // namespace

const std::string& Evolution::HashOf(const Event& event) {
  if (event.task) event.hash = base::HashHex(records::CompactJson(evolution::ToJson(*event.task)));
  event.task.reset();
  return event.hash;
}

Json Evolution::ToJson() const {
  Json events = Json::array();
  for (const Event& event : events_) {
    switch (event.kind) {
      case Event::Kind::kTask:
        events.push_back({{"task", event.id}, {"hash", HashOf(event)}});
        break;
      case Event::Kind::kReport:
        events.push_back({{"report", event.id}, {"result", evolution::ToJson(*event.result)}});
        break;
      case Event::Kind::kStopped:
        events.push_back({{"stopped", std::string(Name(stop_))}});
        break;
      case Event::Kind::kStop:
        events.push_back({{"stop", event.detail}});
        break;
    }
  }
  return {{"schema", kSchema},
          {"kernel", input_.kernel},
          {"input", InputHash(input_)},
          {"settings", evolution::ToJson(settings_)},
          {"events", std::move(events)}};
}

base::Result<> Evolution::Again(const Json& event, const std::string& path) {
  records::Reading reading(records::Strictness::kLenient);
  records::ObjectReader object(event, path, reading);
  std::optional<std::int64_t> task;
  std::optional<std::int64_t> report;
  std::optional<std::string> stop;
  std::string hash;
  Json result;
  object.Optional("task", task)
      .Optional("report", report)
      .Optional("stop", stop)
      .Optional("hash", hash)
      .Optional("result", result);
  if (reading.error()) return base::Fail(Corrupt(reading.error()->message));
  if (stop) {
    Stop(*stop);
    return {};
  }
  if (report) {
    TRY_ASSIGN(Result value, ReadResult(result, path + ".result"));
    if (Report(static_cast<int>(*report), std::move(value))) return {};
    return base::Fail(Corrupt(path + " reports what was not asked for"));
  }
  const Step step = Next();
  const bool same = task ? step.task && step.task->id == *task && HashOf(events_.back()) == hash
                         : step.kind == Step::Kind::kStopped;
  if (!same) return base::Fail(Corrupt(path + " is not what this input leads to"));
  return {};
}

base::Result<Evolution> Evolution::Replay(Input input, const Settings& settings, const Json& json) {
  records::Reading reading(records::Strictness::kLenient);
  records::ObjectReader object(json, "", reading);
  std::string hash;
  Json recorded;
  std::vector<Json> events;
  object.Schema(kSchema)
      .Optional("input", hash)
      .Optional("settings", recorded)
      .Optional("events", events);
  if (reading.error()) return base::Fail(Corrupt(reading.error()->message));
  if (hash != InputHash(input)) return base::Fail(Corrupt("it is of another input"));
  Evolution evolution(std::move(input), settings);
  if (records::CanonicalJson(recorded) !=
      records::CanonicalJson(evolution::ToJson(evolution.settings_))) {
    return base::Fail(Corrupt("it was made with other settings"));
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    TRY(evolution.Again(events[i], "events[" + std::to_string(i) + "]"));
  }
  return evolution;
}

}  // namespace cupilot::search::evolution
