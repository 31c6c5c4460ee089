#include "service/pool.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "cache/keys.h"
#include "cache/record.h"
#include "log/log.h"
#include "records/pool_parts.h"
#include "search/kernel_search.h"
#include "search/seed_pool.h"
#include "service/kernel_workload.h"

namespace cupilot::service {
namespace {

using cache::Table;
using records::Json;
using records::PoolEntry;
using records::PoolOrigin;

constexpr const char* kAdviceSchema = "cupilot.pool_advice/1";
constexpr double kNewsOfFailure = 0.1;  // what is learned from one, as a logarithm of a gain

// What of a strategy can be done with another kernel: all but values of the source's own tunables.
// Nothing of one that is for a class of the kernel's sizes.
std::optional<records::Strategy> PortableOf(records::Strategy strategy) {
  const auto is = [](const char* technique) {
    return [technique](const records::StrategyStep& step) { return step.technique == technique; };
  };
  std::erase_if(strategy.steps, is(search::kTunablesStep));
  const bool classed =
      std::any_of(strategy.steps.begin(), strategy.steps.end(), is(search::kSizeClass));
  if (classed || strategy.steps.empty()) return std::nullopt;
  return strategy;
}

records::PoolDevice DeviceOf(const records::DeviceIdentity& identity) {
  const bool is_gpu = identity.arch.starts_with("sm_");
  return {is_gpu ? "cuda" : "host", identity.name, identity.arch};
}

// Nothing of it stands for what was rejected for anything but its speed.
std::optional<records::PoolGain> GainOfVerdict(const records::Evaluation& evaluation) {
  const bool right = evaluation.accepted || evaluation.metrics.contains("beaten_by") ||
                     evaluation.reason == "not_faster";
  const auto factor = MeasuredSpeedup(evaluation);
  if (!right || !factor || !(*factor > 0)) return std::nullopt;
  records::PoolGain gain{*factor, std::nullopt};
  if (evaluation.interval) {
    const auto [low, high] = *evaluation.interval;
    if (low > 0 && low <= *factor && *factor <= high) gain.interval = evaluation.interval;
  }
  return gain;
}

// What a profile says of the original.
struct Profile {
  std::string bound;                                 // as strategies name it; empty: not known
  std::map<std::string, std::int64_t> instructions;  // of all its kernels
};
std::optional<Profile> ProfileOf(const records::Evaluation& evaluation) {
  for (const Json& facts : evaluation.metrics) {
    const Json roofline = facts.is_object() ? facts.value("roofline", Json()) : Json();
    const Json original = roofline.is_object() ? roofline.value("original", Json()) : Json();
    if (!original.is_object()) continue;
    Profile profile;
    profile.bound = records::BottleneckOf(records::TextAt(original, "bound"));
    const Json kernels = original.value("instructions", Json::object());
    for (const Json& classes : kernels) {
      for (const auto& [name, count] : classes.items()) {
        if (count.is_number_integer()) {
          profile.instructions[name] += count.get<std::int64_t>();
        }
      }
    }
    return profile;
  }
  return std::nullopt;
}

// How much is lost with an entry.
double NewsOf(const PoolEntry& entry) {
  const double gain = entry.gain ? std::abs(std::log(entry.gain->factor)) : kNewsOfFailure;
  return gain * std::sqrt(static_cast<double>(std::max<std::int64_t>(entry.tried, 1)));
}

// Files come from anywhere, and are shown on terminals.
bool IsShowable(const std::string& text) {
  constexpr std::size_t kLongest = 2000;
  return text.size() <= kLongest && std::all_of(text.begin(), text.end(), [](char c) {
           return static_cast<unsigned char>(c) >= ' ' && c != '\x7f';
         });
}

std::string WhyNotImported(const PoolEntry& entry) {
  if (entry.origin == PoolOrigin::kShipped) return "it says that it is one of cuPilot's own";
  if (PortableOf(entry.strategy) != entry.strategy) return "its strategy is bound to one kernel";
  if (!entry.features) return "it says nothing of its kernel's features";
  for (const std::string* text : {&entry.kernel, &entry.device.name, &entry.device.arch,
                                  &entry.date, &entry.strategy.title, &entry.note}) {
    if (!IsShowable(*text)) return "a text of it is too long, or is none";
  }
  return {};
}

}  // namespace

void AddProfiles(const std::vector<records::Evaluation>& evaluations,
                 const records::DeviceIdentity& device, search::PoolQuestion& question) {
  for (const records::Evaluation& evaluation : evaluations) {
    const auto profile = evaluation.device == device ? ProfileOf(evaluation) : std::nullopt;
    if (!profile) continue;
    if (!profile->bound.empty()) question.bottleneck = profile->bound;
    if (question.features) records::AddCode(*question.features, profile->instructions);
  }
}

Json ToJson(const PoolAdvice& advice) {
  Json seeds = Json::array(), priors = Json::object();
  for (const records::Strategy& seed : advice.seeds) seeds.push_back(records::ToJson(seed));
  for (const auto& [technique, prior] : advice.priors) {
    priors[technique] = {{"weight", prior.weight},
                         {"log_gain", prior.log_gain},
                         {"tried", prior.tried},
                         {"failed", prior.failed}};
  }
  Json json = {{"schema", kAdviceSchema},
               {"bottleneck", advice.bottleneck},
               {"seeds", std::move(seeds)},
               {"priors", std::move(priors)},
               {"examples", records::ArrayJson(advice.examples)}};
  if (advice.features) json["features"] = records::ToJson(*advice.features);
  return json;
}

base::Result<PoolAdvice> ParsePoolAdvice(const Json& json) {
  records::Reading reading(records::Strictness::kLenient);
  records::ObjectReader object(json, "", reading);
  PoolAdvice advice;
  std::map<std::string, Json> priors;
  object.Schema(kAdviceSchema)
      .Optional("bottleneck", advice.bottleneck)
      .Optional("features", advice.features)
      .Optional("seeds", advice.seeds)
      .Optional("priors", priors)
      .Optional("examples", advice.examples);
  for (const auto& [technique, of] : priors) {
    records::ObjectReader one(of, "priors." + technique, reading);
    search::TechniquePrior& prior = advice.priors[technique];
    one.Optional("weight", prior.weight)
        .Optional("log_gain", prior.log_gain)
        .Optional("tried", prior.tried)
        .Optional("failed", prior.failed);
  }
  if (reading.error()) return base::Fail(*reading.error());
  return advice;
}

base::Result<> Pool::Load() {
  if (loaded_) return {};
  const auto visit = [this](std::string_view key, std::string_view value) {
    const auto record = cache::Unseal(value);
    auto entry =
        record ? records::ReadDocument<PoolEntry>(record->value, records::Strictness::kLenient)
               : base::Fail(record.error());
    if (!entry) {
      log::Warning("a record cannot be read", {{"key", key}, {"reason", entry.error()}});
      return true;
    }
    entries_.emplace(entry->id, std::move(*entry));
    return true;
  };
  TRY(store_.Scan(Table::kStrategies, cache::PoolPrefix(), visit));
  loaded_ = true;
  return {};
}

base::Result<> Pool::Save(const std::vector<PoolEntry>& entries) {
  std::vector<cache::Write> writes;
  writes.reserve(entries.size());
  for (const PoolEntry& entry : entries) {
    writes.push_back(
        {Table::kStrategies, cache::PoolKey(entry.id), cache::Seal(records::ToJson(entry))});
  }
  if (writes.empty()) return {};
  TRY(store_.Apply(writes));
  for (const PoolEntry& entry : entries) entries_[entry.id] = entry;
  return {};
}

// Of the older half those that say least go first.
base::Result<> Pool::Trim() {
  while (entries_.size() > most_) {
    std::vector<const PoolEntry*> old;
    old.reserve(entries_.size());
    for (const auto& [id, entry] : entries_) old.push_back(&entry);
    std::stable_sort(old.begin(), old.end(),
                     [](const PoolEntry* a, const PoolEntry* b) { return a->date < b->date; });
    old.resize((old.size() + 1) / 2);
    std::stable_sort(old.begin(), old.end(), [](const PoolEntry* a, const PoolEntry* b) {
      return NewsOf(*a) < NewsOf(*b);
    });
    // Of many too many, as after an import, many at once.
    old.resize(std::min(entries_.size() - most_, (old.size() + 1) / 2));
    std::vector<cache::Write> writes;
    std::vector<std::string> gone;
    for (const PoolEntry* entry : old) {
      gone.push_back(entry->id);
      writes.push_back({Table::kStrategies, cache::PoolKey(entry->id), std::nullopt});
    }
    TRY(store_.Apply(writes));
    for (const std::string& id : gone) entries_.erase(id);
  }
  return {};
}

base::Result<> Pool::Add(const PoolVerdict& verdict) {
  const records::Evaluation& evaluation = *verdict.evaluation;
  const auto strategy = PortableOf(*verdict.strategy);
  if (!verdict.features || !strategy) return {};
  TRY(Load());
  PoolEntry entry;
  entry.device = DeviceOf(evaluation.device);
  entry.id = records::PoolEntryId(evaluation.kernel_key, entry.device, *strategy);
  const auto known = entries_.find(entry.id);
  if (known != entries_.end()) {
    entry.tried = known->second.tried;
    entry.won = known->second.won;
    entry.bottleneck = known->second.bottleneck;
    if (known->second.features) entry.features = known->second.features;
  }
  // What was disassembled stays known.
  if (!entry.features || !records::KnowsCode(*entry.features)) entry.features = verdict.features;
  entry.kernel = verdict.kernel;
  entry.kernel_key = evaluation.kernel_key;
  entry.strategy = *strategy;
  if (!verdict.bottleneck.empty()) entry.bottleneck = verdict.bottleneck;
  if (entry.bottleneck.empty()) entry.bottleneck = entry.strategy.bottleneck;
  entry.gain = GainOfVerdict(evaluation);
  const bool won = evaluation.accepted || evaluation.metrics.contains("beaten_by");
  if (!won) entry.reason = evaluation.reason;
  ++entry.tried;
  entry.won += won ? 1 : 0;
  entry.date = evaluation.date;
  TRY(Save({entry}));
  return Trim();
}

base::Result<> Pool::AddProfile(const records::Evaluation& evaluation) {
  const auto profile = ProfileOf(evaluation);
  if (!profile) return {};
  TRY(Load());
  const records::PoolDevice device = DeviceOf(evaluation.device);
  std::vector<PoolEntry> changed;
  for (const auto& [id, entry] : entries_) {
    if (entry.kernel_key != evaluation.kernel_key || entry.device != device || !entry.features) {
      continue;
    }
    PoolEntry now = entry;
    if (!profile->bound.empty()) now.bottleneck = profile->bound;
    records::AddCode(*now.features, profile->instructions);
    if (now != entry) changed.push_back(std::move(now));
  }
  return Save(changed);
}

base::Result<std::size_t> Pool::Import(const records::PoolFile& file) {
  TRY(Load());
  for (std::size_t i = 0; i < file.entries.size(); ++i) {
    const std::string why = WhyNotImported(file.entries[i]);
    if (why.empty()) continue;
    return base::Fail(base::InvalidArgument(records::Join("entries", i) + " (" +
                                            file.entries[i].id + "): " + why));
  }
  std::vector<PoolEntry> taken;
  for (PoolEntry entry : file.entries) {
    const auto known = entries_.find(entry.id);
    if (known != entries_.end() &&
        (known->second.origin == PoolOrigin::kHere || known->second.date >= entry.date)) {
      continue;
    }
    entry.origin = PoolOrigin::kImported;
    entry.kernel_key.clear();
    taken.push_back(std::move(entry));
  }
  TRY(Save(taken));
  TRY(Trim());
  return taken.size();
}

base::Result<std::vector<PoolEntry>> Pool::All() {
  TRY(Load());
  std::vector<PoolEntry> all;
  all.reserve(entries_.size());
  for (const auto& [id, entry] : entries_) all.push_back(entry);
  const std::vector<PoolEntry>& shipped = search::SeedPool();
  all.insert(all.end(), shipped.begin(), shipped.end());
  return all;
}

base::Result<records::PoolFile> Pool::Export(bool names) {
  TRY(Load());
  records::PoolFile file;
  for (const auto& [id, entry] : entries_) {
    file.entries.push_back(search::Anonymous(entry, names));
  }
  return file;
}

PoolAdvice Pool::Advise(const search::PoolQuestion& question,
                        const std::vector<std::string>& applicable) {
  PoolAdvice advice;
  advice.features = question.features;
  advice.bottleneck = question.bottleneck;
  if (!question.features) return advice;
  const auto all = All();
  if (!all) {
    log::Error("the strategy pool cannot be read", {{"reason", all.error()}});
    return advice;
  }
  advice.seeds = search::NearestSeeds(*all, question, applicable, kMostPoolSeeds);
  advice.priors = search::LearnPriors(*all, question);
  advice.examples = search::NearestExamples(*all, question, kMostExamples);
  return advice;
}

std::vector<search::NearKernel> Pool::KernelsLike(const search::PoolQuestion& question,
                                                  std::size_t most) {
  const auto all = All();
  if (!all) return {};  // Advise() has said why
  return search::NearestKernels(*all, question, most);
}

}  // namespace cupilot::service
