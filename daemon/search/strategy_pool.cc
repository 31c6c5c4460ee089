#include "search/strategy_pool.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "search/kernel_search.h"
#include "search/techniques.h"

namespace cupilot::search {
namespace {

using records::FeatureAt;
using records::Json;
using records::PoolEntry;
using records::PoolOrigin;

constexpr double kOfOtherBottleneck = 0.5;
constexpr double kOfOtherMachine = 0.5;
constexpr double kMostEvidence = 2.8;  // of one entry, as a logarithm: sixteenfold, either way
constexpr double kSurelyAlike = 1e-9;
constexpr double kOtherBottleneckIsFarther = 0.1;  // in distance
constexpr double kOtherDeviceIsFarther = 0.2;
constexpr double kUnknownDistance = 0.5;  // of an entry without features
constexpr std::size_t kLongestName = 40;
constexpr const char* kOther = "other:";
constexpr const char* kNotFaster = "not_faster";  // right, and measured

bool IsOfKernel(const PoolEntry& entry, const PoolQuestion& question) {
  return !entry.kernel_key.empty() && entry.kernel_key == question.kernel_key;
}

bool HasBottleneck(const PoolEntry& entry, const PoolQuestion& question) {
  return !question.bottleneck.empty() && entry.bottleneck == question.bottleneck;
}

double WeightOf(const PoolEntry& entry, const PoolQuestion& question) {
  if (entry.origin == PoolOrigin::kShipped || IsOfKernel(entry, question)) return 0;
  if (entry.device.kind != question.device) return 0;
  const double weight = HasBottleneck(entry, question) ? 1 : kOfOtherBottleneck;
  return entry.origin == PoolOrigin::kImported ? weight * kOfOtherMachine : weight;
}

// The techniques of a strategy, in a fixed order.
std::set<std::string> TechniquesOf(const records::Strategy& strategy) {
  std::set<std::string> techniques;
  for (const records::StrategyStep& step : strategy.steps) techniques.insert(step.technique);
  return techniques;
}

// The smaller, the more the entry has to say; nothing where it is nothing for this kernel.
std::optional<double> FarnessOf(const PoolEntry& entry, const PoolQuestion& question) {
  if (IsOfKernel(entry, question)) return std::nullopt;
  double farness = entry.features && question.features
                       ? records::Distance(*entry.features, *question.features)
                       : kUnknownDistance;
  if (!HasBottleneck(entry, question)) farness += kOtherBottleneckIsFarther;
  if (entry.device.kind != question.device) farness += kOtherDeviceIsFarther;
  return farness;
}

// The logarithm of what an entry gained; one entry alone, wherever it is from, says no more than
// so much.
double LogGainOf(const PoolEntry& entry) {
  return std::clamp(std::log(entry.gain->factor), -kMostEvidence, kMostEvidence);
}

struct Ranked {
  const PoolEntry* entry = nullptr;
  double farness = 0;
};

// The nearest first; of equally near ones those that gained more, then by id.
std::vector<Ranked> Rank(const std::vector<PoolEntry>& entries, const PoolQuestion& question) {
  std::vector<Ranked> ranked;
  for (const PoolEntry& entry : entries) {
    const auto farness = FarnessOf(entry, question);
    if (farness) ranked.push_back({&entry, *farness});
  }
  const auto gain = [](const PoolEntry& entry) { return entry.gain ? entry.gain->factor : 0; };
  std::sort(ranked.begin(), ranked.end(), [&](const Ranked& a, const Ranked& b) {
    if (std::abs(a.farness - b.farness) > kSurelyAlike) return a.farness < b.farness;
    const double x = gain(*a.entry), y = gain(*b.entry);
    return x != y ? x > y : a.entry->id < b.entry->id;
  });
  return ranked;
}

bool HasWordIn(std::string_view choices, const std::string& word) {
  for (std::size_t at = 0; at <= choices.size();) {
    const std::size_t end = std::min(choices.find('|', at), choices.size());
    if (choices.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

bool IsPlainName(const std::string& name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == ' ';
  };
  return name.size() <= kLongestName && std::all_of(name.begin(), name.end(), fits);
}

// Whether a value says nothing but a choice of the technique's.
bool IsPlainValue(const Technique* row, const std::string& key, const Json& value) {
  if (row == nullptr) return IsPlainName(key) && (value.is_number() || value.is_boolean());
  for (const TechniqueParameter& parameter : row->parameters) {
    if (parameter.name != key || parameter.expression) continue;
    if (!parameter.choices.empty()) {
      return value.is_string() && HasWordIn(parameter.choices, value.get<std::string>());
    }
    return value.is_number_integer();
  }
  return false;
}

records::StrategyStep Plain(const records::StrategyStep& step) {
  records::StrategyStep plain;
  plain.technique = step.technique;
  plain.expected_gain = step.expected_gain;
  const Technique* row = FindTechnique(step.technique);
  if (row == nullptr) {
    const bool named = step.technique.starts_with(kOther) &&
                       IsPlainName(step.technique.substr(std::string_view(kOther).size()));
    if (!named) plain.technique = std::string(kOther) + "unnamed";
  }
  for (const auto& [key, value] : step.parameters.items()) {
    if (IsPlainValue(row, key, value)) plain.parameters[key] = value;
  }
  return plain;
}

// Two significant digits, as people write them: "1.7", "12", "0.034".
std::string TwoDigits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", value);
  std::snprintf(text, sizeof text, "%.12g", std::strtod(text, nullptr));
  return text;
}

}  // namespace

std::string TechniqueKey(const std::string& technique, const Json& parameters) {
  const std::string form = records::TextAt(parameters, "form");
  return form.empty() ? technique : technique + " " + form;
}

TechniquePriors LearnPriors(const std::vector<PoolEntry>& entries, const PoolQuestion& question) {
  TechniquePriors priors;
  for (const PoolEntry& entry : entries) {
    const double whole = WeightOf(entry, question);
    if (whole <= 0 || entry.strategy.steps.empty()) continue;
    const double steps = static_cast<double>(entry.strategy.steps.size());
    const double weight = whole / steps;
    for (const records::StrategyStep& step : entry.strategy.steps) {
      TechniquePrior& prior = priors[TechniqueKey(step.technique, step.parameters)];
      prior.tried += weight;
      if (entry.gain && (entry.reason.empty() || entry.reason == kNotFaster)) {
        prior.weight += weight;
        prior.log_gain += weight * LogGainOf(entry) / steps;
      } else {
        prior.failed += weight;
      }
    }
  }
  for (auto& [key, prior] : priors) {
    if (prior.weight > 0) prior.log_gain /= prior.weight;
  }
  return priors;
}

double LearnedGain(double prior, const TechniquePrior* learned) {
  if (learned == nullptr || learned->tried <= 0) return prior;
  double gain = prior;
  if (learned->weight > 0) {
    gain = std::exp((kPriorWeight * std::log(prior) + learned->weight * learned->log_gain) /
                    (kPriorWeight + learned->weight));
  }
  const double right = 1 - learned->failed / (kPriorWeight + learned->tried);
  return 1 + (gain - 1) * right;
}

bool IsMechanical(const records::Strategy& strategy) {
  return !strategy.steps.empty() &&
         std::all_of(strategy.steps.begin(), strategy.steps.end(), [](const auto& step) {
           const Technique* row = FindTechnique(step.technique);
           return row != nullptr && row->mechanical && CheckStep(step).has_value();
         });
}

std::vector<records::Strategy> NearestSeeds(const std::vector<PoolEntry>& entries,
                                            const PoolQuestion& question,
                                            const std::vector<std::string>& applicable,
                                            std::size_t most) {
  std::vector<records::Strategy> seeds;
  if (!question.features) return seeds;
  std::set<std::set<std::string>> known;
  for (const Ranked& one : Rank(entries, question)) {
    if (seeds.size() >= most) break;
    const PoolEntry& entry = *one.entry;
    const bool near = entry.features && entry.device.kind == question.device &&
                      records::Distance(*entry.features, *question.features) <= kFarthest;
    if (!near || entry.origin == PoolOrigin::kShipped || !Gained(entry) ||
        !IsMechanical(entry.strategy)) {
      continue;
    }
    const std::set<std::string> techniques = TechniquesOf(entry.strategy);
    const bool applies = std::all_of(techniques.begin(), techniques.end(), [&](const auto& name) {
      return std::find(applicable.begin(), applicable.end(), name) != applicable.end();
    });
    if (!applies || !known.insert(techniques).second) continue;
    records::Strategy seed = Anonymous(entry).strategy;
    // What it gained there is what is expected of it here, shrunken as any other news.
    const double expected = std::exp(LogGainOf(entry) / (1 + 1 / kPriorWeight));
    for (records::StrategyStep& step : seed.steps) step.expected_gain = 1;
    seed.steps.front().expected_gain = expected;
    seeds.push_back(std::move(seed));
  }
  return seeds;
}

std::vector<NearKernel> NearestKernels(const std::vector<PoolEntry>& entries,
                                       const PoolQuestion& question, std::size_t most) {
  std::map<std::string, double> distances;  // by key
  for (const PoolEntry& entry : entries) {
    const bool here = entry.origin == PoolOrigin::kHere && !entry.kernel_key.empty() &&
                      entry.device.kind == question.device;
    if (!here || !entry.features || !question.features || IsOfKernel(entry, question)) continue;
    const double distance = records::Distance(*entry.features, *question.features);
    if (distance > kFarthest) continue;
    const auto known = distances.try_emplace(entry.kernel_key, distance).first;
    known->second = std::min(known->second, distance);
  }
  std::vector<NearKernel> near;
  near.reserve(distances.size());
  for (const auto& [key, distance] : distances) near.push_back({key, distance});
  std::stable_sort(near.begin(), near.end(), [](const NearKernel& a, const NearKernel& b) {
    return a.distance < b.distance;
  });
  if (near.size() > most) near.resize(most);
  return near;
}

std::vector<PoolEntry> NearestExamples(const std::vector<PoolEntry>& entries,
                                       const PoolQuestion& question, std::size_t most) {
  std::vector<PoolEntry> wins, failures;
  std::set<std::set<std::string>> won, failed;
  for (const Ranked& one : Rank(entries, question)) {
    const bool gained = Gained(*one.entry);
    std::vector<PoolEntry>& list = gained ? wins : failures;
    if (list.size() >= most) continue;
    const bool is_new = (gained ? won : failed).insert(TechniquesOf(one.entry->strategy)).second;
    if (is_new) list.push_back(Anonymous(*one.entry));
  }
  failures.resize(std::min(failures.size(), most / 3));
  wins.resize(std::min(wins.size(), most - failures.size()));
  std::move(failures.begin(), failures.end(), std::back_inserter(wins));
  return wins;
}

PoolEntry Anonymous(PoolEntry entry, bool names) {
  if (entry.origin == PoolOrigin::kShipped) return entry;
  if (!names) entry.kernel.clear();
  entry.kernel_key.clear();
  entry.note.clear();
  entry.source.reset();
  for (records::StrategyStep& step : entry.strategy.steps) step = Plain(step);
  entry.strategy.title = TitleOf(entry.strategy.steps);
  return entry;
}

std::string FeatureWords(const records::KernelFeatures& features) {
  const auto at = [&](std::size_t i) { return features.values[i]; };
  constexpr double kMuch = 0.3, kSome = 0.05, kMegabyte = 1 << 20;
  std::string words;
  const auto say = [&words](bool holds, const std::string& what) {
    if (holds) words += (words.empty() ? "" : ", ") + what;
  };
  const auto count = [&](std::size_t i) { return TwoDigits(std::floor(at(i))); };
  say(at(FeatureAt("float_share")) > kMuch, "float arithmetic");
  say(at(FeatureAt("special_share")) > kSome, "special functions");
  say(at(FeatureAt("atomic_share")) > 0, "atomic updates");
  say(at(FeatureAt("coalesced_share")) > kMuch, "coalesced access");
  say(at(FeatureAt("strided_share")) > kMuch, "strided access");
  say(at(FeatureAt("indirect_share")) > kSome, "indirect access");
  say(at(FeatureAt("stencil_offsets")) > 1, count(FeatureAt("stencil_offsets")) + " neighbours");
  say(at(FeatureAt("reuse_share")) > kMuch, "data that threads share");
  say(at(FeatureAt("loop_depth")) == 1, "a loop");
  say(at(FeatureAt("loop_depth")) > 1, count(FeatureAt("loop_depth")) + " nested loops");
  say(at(FeatureAt("reductions")) > 0, "a reduction in a loop");
  say(at(FeatureAt("shared_share")) > 0, "shared memory");
  say(at(FeatureAt("barriers")) > 0, "barriers");
  say(at(FeatureAt("warp_exchanges")) > 0, "warp exchanges");
  say(at(FeatureAt("half_share")) > 0, "half precision");
  say(at(FeatureAt("double_share")) > 0, "double precision");
  say(at(FeatureAt("code_tensor")) > 0, "tensor cores");
  say(at(FeatureAt("block_dimensions")) > 1, count(FeatureAt("block_dimensions")) + "D blocks");
  const double megabytes = at(FeatureAt("case_bytes")) / kMegabyte;
  say(megabytes > 0, (megabytes < 1 ? "less than 1" : TwoDigits(megabytes)) + " MB of data");
  return words;
}

std::string AboutText(const PoolEntry& entry) {
  std::string text = entry.features ? FeatureWords(*entry.features) : "";
  const auto add = [&text](const std::string& what) {
    if (!what.empty()) text += (text.empty() ? "" : "; ") + what;
  };
  add(entry.bottleneck.empty() ? "" : "bound by " + entry.bottleneck);
  add(entry.device.kind + (entry.device.arch.empty() ? "" : " " + entry.device.arch));
  if (entry.tried > 1) add("tried " + std::to_string(entry.tried) + " times");
  if (entry.origin != PoolOrigin::kShipped) return text;
  if (!entry.note.empty()) text += ". " + entry.note;
  if (entry.source) {
    text += " (" + entry.source->authors + ", " + entry.source->title + ", " +
            std::to_string(entry.source->year) + ")";
  }
  return text;
}

}  // namespace cupilot::search
