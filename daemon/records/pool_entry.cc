#include "records/pool_entry.h"

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "records/evaluation.h"
#include "records/pool_parts.h"
#include "records/variant.h"

namespace cupilot::records {
namespace {

constexpr std::array<std::pair<std::string_view, PoolOrigin>, 3> kOrigins = {{
    {"here", PoolOrigin::kHere},
    {"imported", PoolOrigin::kImported},
    {"shipped", PoolOrigin::kShipped},
}};
constexpr double kMostFactor = 1e6;  // beyond that nothing was measured rightly
constexpr std::size_t kLongestId = 64;

bool IsOneOf(std::string_view words, const std::string& word) {
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    if (words.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

bool IsFactor(double factor) {
  return std::isfinite(factor) && factor > 0 && factor <= kMostFactor;
}

// What may stand in a command and a key: hashes, and short names.
bool IsId(const std::string& id) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !id.empty() && id.size() <= kLongestId && std::all_of(id.begin(), id.end(), fits);
}

void CheckEntry(const PoolEntry& entry, ObjectReader& object) {
  if (!IsId(entry.id)) object.Fail("id", "must be a hash or a short name of a-z, 0-9, - and _");
  if (!entry.bottleneck.empty() &&
      !IsOneOf("dram l2 shared fp32 fp16 tensor latency occupancy launch", entry.bottleneck)) {
    object.Fail("bottleneck", "unknown bottleneck '" + entry.bottleneck + "'");
  }
  if (!entry.reason.empty() &&
      std::find(std::begin(kReasons), std::end(kReasons), entry.reason) == std::end(kReasons)) {
    object.Fail("reason", "unknown reason '" + entry.reason + "'");
  }
  if (entry.strategy.steps.empty()) object.Fail("strategy.steps", "is empty");
  if (entry.tried < 0) object.Fail("tried", "must not be negative");
  if (entry.won < 0 || entry.won > entry.tried) object.Fail("won", "must be from 0 to `tried`");
  if (entry.origin == PoolOrigin::kShipped) {
    if (!entry.source) object.Fail("source", "missing; a shipped entry says where it is from");
  } else if (entry.tried == 0) {
    object.Fail("tried", "must be positive; only shipped entries were not tried");
  }
}

}  // namespace

void Read(const Json& json, const std::string& path, PoolDevice& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("kind", out.kind).Optional("name", out.name).Optional("arch", out.arch);
  if (out.kind != "cuda" && out.kind != "host") object.Fail("kind", "one of cuda, host");
  object.Finish();
}

Json ToJson(const PoolDevice& device) {
  Json json = {{"kind", device.kind}};
  Put(json, "name", device.name);
  Put(json, "arch", device.arch);
  return json;
}

void Read(const Json& json, const std::string& path, PoolSource& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("title", out.title)
      .Required("authors", out.authors)
      .Required("year", out.year)
      .Optional("address", out.address);
  constexpr std::int64_t kFirstYear = 1900, kLastYear = 2200;
  if (out.year < kFirstYear || out.year > kLastYear) object.Fail("year", "is no year");
  if (!out.address.empty() && !out.address.starts_with("https://")) {
    object.Fail("address", "must begin with https://");
  }
  if (object.ok() && (out.title.empty() || out.authors.empty())) object.Fail("title", "is empty");
  object.Finish();
}

Json ToJson(const PoolSource& source) {
  Json json = {{"title", source.title}, {"authors", source.authors}, {"year", source.year}};
  Put(json, "address", source.address);
  return json;
}

void Read(const Json& json, const std::string& path, PoolGain& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("factor", out.factor).Optional("interval", out.interval);
  if (!IsFactor(out.factor)) object.Fail("factor", "must be a positive number");
  if (out.interval) {
    const auto [low, high] = *out.interval;
    const bool holds = IsFactor(low) && IsFactor(high) && low <= out.factor && out.factor <= high;
    if (!holds) object.Fail("interval", "must hold the factor");
  }
  object.Finish();
}

Json ToJson(const PoolGain& gain) {
  Json json = {{"factor", gain.factor}};
  if (gain.interval) json["interval"] = *gain.interval;
  return json;
}

void Read(const Json& json, const std::string& path, PoolEntry& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Schema(PoolEntry::kSchema)
      .Required("id", out.id)
      .Optional("kernel", out.kernel)
      .Optional("kernel_key", out.kernel_key)
      .Optional("features", out.features)
      .Optional("bottleneck", out.bottleneck)
      .Required("device", out.device)
      .Required("strategy", out.strategy)
      .Optional("gain", out.gain)
      .Optional("reason", out.reason)
      .Optional("tried", out.tried)
      .Optional("won", out.won)
      .Optional("date", out.date)
      .OptionalWord("origin", kOrigins, out.origin)
      .Optional("source", out.source)
      .Optional("note", out.note);
  object.Finish();
  // Older entries have the ceiling's name.
  if (std::string word = BottleneckOf(out.bottleneck); !word.empty()) out.bottleneck = word;
  if (object.ok()) CheckEntry(out, object);
}

base::Result<PoolEntry> ParsePoolEntry(const Json& json) {
  return ReadDocument<PoolEntry>(json, Strictness::kStrict);
}

Json ToJson(const PoolEntry& entry) {
  Json json = {{"schema", PoolEntry::kSchema},
               {"id", entry.id},
               {"device", ToJson(entry.device)},
               {"strategy", ToJson(entry.strategy)},
               {"origin", WordOf(kOrigins, entry.origin)}};
  Put(json, "kernel", entry.kernel);
  Put(json, "kernel_key", entry.kernel_key);
  Put(json, "bottleneck", entry.bottleneck);
  Put(json, "reason", entry.reason);
  Put(json, "date", entry.date);
  Put(json, "note", entry.note);
  if (entry.features) json["features"] = ToJson(*entry.features);
  if (entry.gain) json["gain"] = ToJson(*entry.gain);
  if (entry.source) json["source"] = ToJson(*entry.source);
  if (entry.tried > 0) json["tried"] = NumberJson(entry.tried);
  if (entry.won > 0) json["won"] = NumberJson(entry.won);
  return json;
}

bool Gained(const PoolEntry& entry) {
  if (!entry.reason.empty()) return false;
  return entry.origin == PoolOrigin::kShipped || (entry.gain && entry.gain->factor > 1);
}

std::string PoolEntryId(const std::string& kernel_key, const PoolDevice& device,
                        const Strategy& strategy) {
  Json steps = Json::array();
  for (const StrategyStep& step : strategy.steps) {
    steps.push_back({{"technique", step.technique}, {"parameters", step.parameters}});
  }
  return HashJson({{"kernel", kernel_key}, {"device", ToJson(device)}, {"steps", steps}});
}

void Read(const Json& json, const std::string& path, PoolFile& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Schema(PoolFile::kSchema).Required("entries", out.entries).Finish();
}

base::Result<PoolFile> ParsePoolFile(const Json& json) {
  return ReadDocument<PoolFile>(json, Strictness::kStrict);
}

Json ToJson(const PoolFile& file) {
  return {{"schema", PoolFile::kSchema}, {"entries", ArrayJson(file.entries)}};
}

}  // namespace cupilot::records
