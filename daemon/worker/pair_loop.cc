#include "worker/pair_loop.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace cupilot::worker {

using records::Json;
using std::chrono::steady_clock;

namespace {
constexpr double kLeastUs = 1e-3;     // a clock's step is no zero
constexpr double kHopeless = 3;       // times as long as what is of interest
constexpr std::size_t kFewPairs = 2;  // of what they are sure about
constexpr double kAgree = 1.01;       // of two launches that take a millisecond or longer

bool Agree(double a, double b) { return std::max(a, b) <= kAgree * std::min(a, b); }
}  // namespace

PairSettings PairSettingsOf(const Json& request) {
  return {request["seconds"].get<double>(), request["probe_limit"].get<double>(),
          request["most_pairs"].get<std::size_t>(), request.value("probe", false),
          request.value("promising", 0.0)};
}

base::Result<PairsTaken> TakePairs(
    const PairSettings& settings,
    const std::function<base::Result<double>(int side, std::size_t pair)>& sample,
    const std::function<bool()>& disturbed, const std::pair<double, double>* first) {
  PairsTaken taken;
  if (first != nullptr) taken.pairs.push_back(*first);
  const auto begin = steady_clock::now();
  bool before = disturbed && disturbed();
  for (std::size_t i = 0; taken.pairs.size() < settings.most_pairs; ++i) {
    double times[2];
    for (std::size_t turn = 0; turn < 2; ++turn) {
      const std::size_t side = (i + turn) % 2;
      TRY_ASSIGN(times[side], sample(static_cast<int>(side), i));
    }
    const bool after = disturbed && disturbed();
    const bool drop = std::exchange(before, after) || after;
    if (i == 0 && first == nullptr) continue;
    if (drop && taken.dropped < settings.most_pairs) {
      ++taken.dropped;
      continue;
    }
    taken.pairs.emplace_back(std::max(times[0], kLeastUs), std::max(times[1], kLeastUs));
    taken.stopped_early = taken.pairs.size() == std::min(kProbePairs, settings.most_pairs) &&
                          LosesProbe(taken.pairs, settings.probe_limit);
    const double spent = std::chrono::duration<double>(steady_clock::now() - begin).count();
    if (taken.stopped_early || EnoughPairs(taken.pairs, spent, settings.seconds)) break;
  }
  return taken;
}

bool IsFar(const PairSettings& settings, const std::pair<double, double>& pair, double times) {
  return settings.promising > 0 && pair.second > times * settings.promising * pair.first;
}

base::Result<PairsTaken> GoOnWithProbe(
    PairSettings settings, const std::pair<double, double>& first,
    const std::function<base::Result<double>(int side, std::size_t pair)>& sample,
    const std::function<bool()>& disturbed) {
  if (IsFar(settings, first, kHopeless)) {
    PairsTaken taken;
    taken.pairs = {first};
    taken.stopped_early = LosesProbe(taken.pairs, settings.probe_limit);
    return taken;
  }
  const std::size_t most =
      std::exchange(settings.most_pairs, std::min(kFewPairs, settings.most_pairs));
  TRY_ASSIGN(PairsTaken taken, TakePairs(settings, sample, disturbed, &first));
  if (taken.pairs.size() < kFewPairs) return taken;
  const std::pair<double, double> second = taken.pairs.back();
  const bool sure = IsFar(settings, first)
                        ? IsFar(settings, second)
                        : Agree(first.second, second.second) && Agree(first.first, second.first);
  if (sure) return taken;
  settings.most_pairs = most;
  return TakePairs(settings, sample, disturbed, &second);
}

Json ToJson(const PairsTaken& taken) {
  Json json = {
      {"pairs", Json::array()}, {"stopped_early", taken.stopped_early}, {"dropped", taken.dropped}};
  for (const auto& [original, candidate] : taken.pairs) {
    json["pairs"].push_back({original, candidate});
  }
  return json;
}

PairsTaken PairsFrom(const Json& reply) {
  PairsTaken taken;
  taken.stopped_early = reply.value("stopped_early", false);
  taken.dropped = reply.value("dropped", std::size_t{0});
  for (const Json& pair : reply["pairs"]) {
    taken.pairs.emplace_back(std::max(pair[0].get<double>(), kLeastUs),
                             std::max(pair[1].get<double>(), kLeastUs));
  }
  return taken;
}

}  // namespace cupilot::worker
