// The record of a search, and the search made from it again.
#include "records/read_parts.h"
#include "records/reader.h"
#include "search/kernel_search.h"

namespace cupilot::search {
namespace {

using records::Json;
using Kind = Outcome::Kind;

constexpr const char* kSchema = "cupilot.search/1";
constexpr std::array<std::pair<std::string_view, Kind>, 4> kKinds = {{
    {"declined", Kind::kDeclined},
    {"rejected", Kind::kRejected},
    {"accepted", Kind::kAccepted},
    {"failed", Kind::kFailed},
}};

Json CaseJson(const CaseSpeedup& one) {
  Json json = {{"name", one.name},
               {"speedup", records::NumberJson(one.speedup)},
               {"low", records::NumberJson(one.low)},
               {"least", records::NumberJson(one.least)}};
  if (!one.admitted) json["admitted"] = false;
  return json;
}

Json OutcomeJson(const Outcome& outcome) {
  Json json = {{"kind", records::WordOf(kKinds, outcome.kind)}};
  records::Put(json, "reason", outcome.reason);
  records::Put(json, "variant", outcome.variant);
  records::Put(json, "limit", outcome.limit);
  records::Put(json, "same_code", outcome.same_code);
  if (outcome.built.registers > 0) {
    json["registers"] = outcome.built.registers;
    json["shared_bytes"] = outcome.built.shared_bytes;
    if (outcome.built.local_bytes > 0) json["local_bytes"] = outcome.built.local_bytes;
  }
  if (outcome.built.cpu_seconds > 0) json["build_cpu_seconds"] = outcome.built.cpu_seconds;
  if (outcome.speedup) json["speedup"] = records::NumberJson(*outcome.speedup);
  if (outcome.aligned) json["aligned"] = records::ToJson(*outcome.aligned);
  if (outcome.floor_share > 0) json["floor_share"] = outcome.floor_share;
  for (const CaseSpeedup& one : outcome.cases) json["cases"].push_back(CaseJson(one));
  return json;
}

Json CandidateJson(const Candidate& candidate) {
  Json json = {{"id", candidate.id},
               {"parent", candidate.parent},
               {"expected_gain", candidate.expected_gain},
               {"strategy", records::ToJson(candidate.strategy)}};
  if (candidate.retunes()) {
    json["values"] = Json::object();
    for (const auto& [name, value] : candidate.values) json["values"][name] = value;
  }
  records::Put(json, "made", candidate.made);
  return json;
}

base::Result<Outcome> ReadOutcome(const Json& json, const std::string& path) {
  records::Reading reading(records::Strictness::kLenient);
  records::ObjectReader object(json, path, reading);
  Outcome outcome;
  std::vector<Json> cases;
  object.OptionalWord("kind", kKinds, outcome.kind)
      .Optional("reason", outcome.reason)
      .Optional("variant", outcome.variant)
      .Optional("limit", outcome.limit)
      .Optional("same_code", outcome.same_code)
      .Optional("registers", outcome.built.registers)
      .Optional("shared_bytes", outcome.built.shared_bytes)
      .Optional("local_bytes", outcome.built.local_bytes)
      .Optional("build_cpu_seconds", outcome.built.cpu_seconds)
      .Optional("speedup", outcome.speedup)
      .Optional("aligned", outcome.aligned)
      .Optional("floor_share", outcome.floor_share)
      .Optional("cases", cases);
  for (const Json& entry : cases) {
    records::ObjectReader of(entry, path + ".cases", reading);
    CaseSpeedup one;
    of.Optional("name", one.name)
        .Optional("speedup", one.speedup)
        .Optional("low", one.low)
        .Optional("least", one.least)
        .Optional("admitted", one.admitted);
    outcome.cases.push_back(std::move(one));
  }
  if (reading.error()) return base::Fail(*reading.error());
  return outcome;
}

// What the recorded idea was when Next() returned it (an accepted one has its aligned strategy
// now).
struct Recorded {
  std::string key;
  std::optional<Outcome> probed;  // its first report
  std::optional<Outcome> outcome;
  MadeIdea made;  // of one that was made elsewhere
};

std::string Identity(const Json& idea) {
  return records::CanonicalJson({{"parent", idea.value("parent", 0)},
                                 {"asked", idea.value("asked", "")},
                                 {"made", idea.value("made", "")},
                                 {"values", idea.value("values", Json())}});
}

base::Result<MadeIdea> ReadMade(const Json& json, const std::string& path) {
  records::Reading reading(records::Strictness::kLenient);
  records::ObjectReader object(json, path, reading);
  MadeIdea made;
  std::optional<records::Strategy> strategy;
  std::int64_t parent = 0;
  object.Optional("made", made.variant)
      .Optional("strategy", strategy)
      .Optional("parent", parent)
      .Optional("expected_gain", made.expected_gain);
  if (reading.error()) return base::Fail(*reading.error());
  if (strategy) made.strategy = std::move(*strategy);
  made.parent = static_cast<int>(parent);
  return made;
}

}  // namespace

Json KernelSearch::ToJson() const {
  Json ideas = Json::array();
  for (const Idea& idea : ideas_) {
    Json json = CandidateJson(idea.candidate);
    json["asked"] = idea.asked;
    if (idea.probed) json["probed"] = OutcomeJson(*idea.probed);
    if (idea.outcome && !idea.unproven) json["outcome"] = OutcomeJson(*idea.outcome);
    ideas.push_back(std::move(json));
  }
  return {{"schema", kSchema},
          {"kernel", input_.kernel},
          {"seed", records::NumberJson(input_.seed)},
          {"numbers", input_.strategy},
          {"ideas", std::move(ideas)},
          {"events", events_}};
}

base::Result<KernelSearch> KernelSearch::Replay(SearchInput input, const Json& json) {
  const auto corrupt = [](const std::string& what) {
    return base::Fail(base::Corruption("the record of the search: " + what));
  };
  records::Reading reading(records::Strictness::kLenient);
  records::ObjectReader object(json, "", reading);
  std::vector<Json> ideas;
  std::vector<std::int64_t> events;
  std::string strategy = "number_search";  // records of before there were others
  object.Schema(kSchema)
      .Optional("numbers", strategy)
      .Optional("ideas", ideas)
      .Optional("events", events);
  if (reading.error()) return corrupt(reading.error()->message);
  if (strategy != input.strategy) return corrupt("numbers were looked for by '" + strategy + "'");

  std::vector<Recorded> recorded;
  for (std::size_t i = 0; i < ideas.size(); ++i) {
    const std::string path = "ideas[" + std::to_string(i) + "]";
    if (!ideas[i].is_object()) return corrupt(path + " is no object");
    Recorded idea;
    idea.key = Identity(ideas[i]);
    TRY_ASSIGN(idea.made, ReadMade(ideas[i], path));
    if (ideas[i].contains("probed")) {
      TRY_ASSIGN(idea.probed, ReadOutcome(ideas[i]["probed"], path + ".probed"));
    }
    if (ideas[i].contains("outcome")) {
      TRY_ASSIGN(idea.outcome, ReadOutcome(ideas[i]["outcome"], path + ".outcome"));
    }
    recorded.push_back(std::move(idea));
  }

  KernelSearch search(std::move(input));
  for (const std::int64_t event : events) {
    if (event == 0) {
      if (search.Next()) return corrupt("there is more to try than there was");
      continue;
    }
    const auto id = static_cast<std::size_t>(event < 0 ? -event : event);
    if (id == 0 || id > recorded.size()) return corrupt("an event of no idea");
    if (event < 0) {
      if (id <= search.ideas_.size() && recorded[id - 1].probed && !search.ideas_[id - 1].outcome) {
        search.ReportProbe(static_cast<int>(id), *recorded[id - 1].probed);
        continue;
      }
      if (!recorded[id - 1].outcome) return corrupt("a report without an outcome");
      search.Report(static_cast<int>(id), *recorded[id - 1].outcome);
      continue;
    }
    const MadeIdea& made = recorded[id - 1].made;
    const std::optional<Candidate> next = made.variant.empty() ? search.Next() : search.Take(made);
    if (!next || static_cast<std::size_t>(next->id) != id) return corrupt("an idea too many");
    Json now = CandidateJson(*next);
    now["asked"] = search.ideas_.back().asked;
    if (Identity(now) != recorded[id - 1].key) {
      return corrupt("idea " + std::to_string(id) + " is not what this input leads to");
    }
  }
  return search;
}

}  // namespace cupilot::search
