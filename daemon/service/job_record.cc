#include "service/job_record.h"

#include <utility>

#include "records/read_parts.h"
#include "records/reader.h"

namespace cupilot::service {

using records::Json;

static constexpr const char* kJobSchema = "cupilot.job/1";

Json ToJson(const JobRecord& record) {
  Json opinions = Json::array();
  for (const search::Opinion& opinion : record.opinions) {
    opinions.push_back({{"technique", opinion.technique},
                        {"applies", opinion.applies},
                        {"reason", opinion.reason},
                        {"parameters", opinion.parameters}});
  }
  Json seeds = Json::array();
  for (const records::Strategy& seed : record.elsewhere.seeds)
    seeds.push_back(records::ToJson(seed));
  Json json = {
      {"schema", kJobSchema},          {"spent_seconds", record.spent_seconds},
      {"seeds", std::move(seeds)},     {"champions", ChampionsJson(record.elsewhere.champions)},
      {"pool", ToJson(record.advice)}, {"opinions", std::move(opinions)},
      {"search", record.search}};
  if (!record.models.is_null()) json["models"] = record.models;
  return json;
}

base::Result<JobRecord> ParseJobRecord(const Json& json) {
  records::Reading reading(records::Strictness::kLenient);
  records::ObjectReader object(json, "", reading);
  JobRecord record;
  std::vector<Json> opinions, champions;
  Json pool = ToJson(PoolAdvice());  // of a record from before there was one
  object.Schema(kJobSchema)
      .Optional("seeds", record.elsewhere.seeds)
      .Optional("champions", champions)
      .Optional("pool", pool)
      .Optional("spent_seconds", record.spent_seconds)
      .Optional("opinions", opinions)
      .Optional("search", record.search)
      .Optional("models", record.models);
  for (const Json& entry : opinions) {
    records::ObjectReader of(entry, "opinions", reading);
    search::Opinion opinion;
    of.Optional("technique", opinion.technique)
        .Optional("applies", opinion.applies)
        .Optional("reason", opinion.reason)
        .Optional("parameters", opinion.parameters);
    record.opinions.push_back(std::move(opinion));
  }
  record.elsewhere.champions = ParseChampions(champions);
  if (!reading.ok()) return base::Fail(*reading.error());
  TRY_ASSIGN(record.advice, ParsePoolAdvice(pool));
  return record;
}

}  // namespace cupilot::service
