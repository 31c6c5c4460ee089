#include "evaluate/verdict.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace cupilot::evaluate {
namespace {

constexpr const char* kAgainst = "against";

bool Positive(double value) { return std::isfinite(value) && value > 0; }

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

base::Result<> CheckNumbers(const records::CaseResult& result) {
  const bool fine = Positive(result.original_us) && Positive(result.variant_us) &&
                    Positive(result.speedup) && Positive(result.interval[0]) &&
                    Positive(result.interval[1]) && result.interval[0] <= result.speedup &&
                    result.speedup <= result.interval[1];
  if (fine) return {};
  return base::Fail(
      base::Internal("the measurement of case '" + result.name + "' has impossible numbers"));
}

Verdict Reject(std::string reason, std::string detail, std::optional<Combined> combined = {}) {
  Verdict verdict;
  verdict.reason = std::move(reason);
  verdict.detail = std::move(detail);
  verdict.combined = combined;
  return verdict;
}

// Launches that the case's weight stands for: it is calls times mean time.
double LaunchesOf(const records::Case& one, const records::CaseResult& result) {
  return one.weight / result.original_us;
}

}  // namespace

std::string FormatSpeedup(double speedup) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2fx", speedup);
  return text;
}

base::Result<const records::CaseResult*> BestOf(const std::vector<records::CaseResult>& cases,
                                                const std::string& name) {
  const records::CaseResult* best = nullptr;
  for (const records::CaseResult& result : cases) {
    if (result.name != name) continue;
    if (!result.admitted) return &result;
    TRY(CheckNumbers(result));
    if (best == nullptr || result.speedup > best->speedup) best = &result;
  }
  if (best == nullptr) return base::Fail(base::Internal("case '" + name + "' was not measured"));
  return best;
}

std::string WhyNotFaster(const Change& change) {
  if (change.low < kMinimumGain) {
    return "the speedup of " + Number(change.speedup) + " has a lower end of " +
           Number(change.low) + ", and " + Number(kMinimumGain) + " is demanded";
  }
  if (change.gain_us < kMinimumGainUs) {
    return "the gain of " + Number(change.gain_us * 1000) + " ns is below 200 ns";
  }
  return {};
}

void NoteDuel(const std::string& variant, const Combined& combined,
              records::Evaluation& evaluation) {
  evaluation.metrics[kAgainst] = {{"variant", variant},
                                  {"speedup", combined.speedup},
                                  {"interval", combined.interval},
                                  {"gain_us", combined.gain_us}};
}

// The candidate's own note.
static std::optional<Change> NotedDuel(const records::Evaluation& candidate,
                                       const records::Evaluation& incumbent, bool reversed) {
  const auto note = candidate.metrics.find(kAgainst);
  if (note == candidate.metrics.end() || !note->is_object()) return std::nullopt;
  if (records::TextAt(*note, "variant") != incumbent.variant) return std::nullopt;
  const auto number = [](const records::Json& json) {
    return json.is_number() ? json.get<double>() : 0.0;
  };
  const records::Json interval = note->value("interval", records::Json::array());
  const double speedup = number(note->value("speedup", records::Json()));
  const double end = interval.size() == 2 ? number(interval[reversed ? 1 : 0]) : 0;
  if (!Positive(speedup) || !Positive(end)) return std::nullopt;
  const double gain = number(note->value("gain_us", records::Json()));
  if (reversed) return Change{1 / end, 1 / speedup, -gain};
  return Change{end, speedup, gain};
}

std::optional<Change> Dueled(const records::Evaluation& candidate,
                             const records::Evaluation& incumbent) {
  const auto own = NotedDuel(candidate, incumbent, false);
  return own ? own : NotedDuel(incumbent, candidate, true);
}

base::Result<Combined> Combine(const std::vector<records::CaseResult>& cases,
                               const records::Workload& workload) {
  double weights = 0;
  double after = 0;     // sum(w / s): the time that remains
  double launches = 0;  // of the variant
  double below = 0;     // squared log widths, scaled by w / s
  double above = 0;
  for (const records::Case& one : workload.cases) {
    TRY_ASSIGN(const records::CaseResult* result, BestOf(cases, one.name));
    if (!result->admitted) {
      weights += one.weight;
      after += one.weight;
      continue;
    }
    const double remains = one.weight / result->speedup;
    const double low_width = std::log(result->speedup / result->interval[0]);
    const double high_width = std::log(result->interval[1] / result->speedup);
    weights += one.weight;
    after += remains;
    launches += LaunchesOf(one, *result);
    below += remains * remains * low_width * low_width;
    above += remains * remains * high_width * high_width;
  }
  if (!Positive(weights) || !Positive(after) || !Positive(launches)) {
    return base::Fail(base::Internal("the weights of what was measured have no positive sum"));
  }
  // d log S / d log s_i is the share of case i in the time that remains.
  Combined combined;
  combined.speedup = weights / after;
  combined.interval = {combined.speedup * std::exp(-std::sqrt(below) / after),
                       combined.speedup * std::exp(std::sqrt(above) / after)};
  combined.gain_us = (weights - after) / launches;
  return combined;
}

base::Result<Verdict> JudgeProbe(const protocol::MeasureReply& probed,
                                 const records::Workload& workload, double best) {
  if (probed.failed || probed.stopped_early) return JudgeOnce(probed, workload);
  TRY_ASSIGN(Combined combined, Combine(probed.cases, workload));
  if (combined.speedup * kProbeDoubt < best) {
    return Reject(
        "not_faster",
        "clearly slower than the " + Number(best) + " at least of what is there after one probe",
        combined);
  }
  Verdict verdict;
  verdict.accepted = true;
  verdict.combined = combined;
  return verdict;
}

base::Result<Verdict> JudgeOnce(const protocol::MeasureReply& measured,
                                const records::Workload& workload) {
  if (measured.failed) return Reject(measured.reason, measured.detail);
  if (measured.stopped_early) {
    // The probe's numbers are too few for an interval; they are not stated as one.
    return Reject("not_faster", measured.detail.empty()
                                    ? "clearly slower than the original after one probe"
                                    : measured.detail);
  }
  const bool any = std::any_of(measured.cases.begin(), measured.cases.end(),
                               [](const records::CaseResult& result) { return result.admitted; });
  if (!any && !measured.cases.empty()) {
    return Reject("invalid_launch", "the variant's guard holds for no case of the workload");
  }
  TRY_ASSIGN(Combined combined, Combine(measured.cases, workload));
  for (const records::CaseResult& result : measured.cases) {
    if (result.admitted && result.speedup < kWorstCase) {
      return Reject("not_faster",
                    "case '" + result.name + "' becomes slower: " + Number(result.speedup),
                    combined);
    }
  }
  const std::string why = WhyNotFaster({combined.interval[0], combined.speedup, combined.gain_us});
  if (!why.empty()) return Reject("not_faster", why, combined);
  Verdict verdict;
  verdict.accepted = true;
  verdict.combined = combined;
  return verdict;
}

base::Result<Verdict> JudgeBoth(const protocol::MeasureReply& first,
                                const protocol::MeasureReply& second,
                                const records::Workload& workload) {
  TRY_ASSIGN(Verdict one, JudgeOnce(first, workload));
  if (!one.accepted) return one;
  TRY_ASSIGN(Verdict two, JudgeOnce(second, workload));
  if (!two.accepted) {
    two.detail = "not confirmed in a second process: " + two.detail;
    return two;
  }
  return one.combined->interval[0] <= two.combined->interval[0] ? one : two;
}

base::Result<bool> SecondSaysLess(const protocol::MeasureReply& first,
                                  const protocol::MeasureReply& second,
                                  const records::Workload& workload) {
  TRY_ASSIGN(Verdict one, JudgeOnce(first, workload));
  TRY_ASSIGN(Verdict two, JudgeOnce(second, workload));
  if (!two.combined) return true;
  if (!one.combined) return false;
  return two.combined->interval[0] < one.combined->interval[0];
}

// Of all that one of the two runs.
static double LaunchesOfEither(const records::Evaluation& a, const records::Evaluation& b,
                               const records::Workload& workload) {
  double launches = 0;
  for (const records::Case& one : workload.cases) {
    for (const records::Evaluation* evaluation : {&a, &b}) {
      const auto result = BestOf(evaluation->cases, one.name);
      if (!result || !(*result)->admitted) continue;
      launches += LaunchesOf(one, **result);
      break;
    }
  }
  return launches;
}

bool AreComparable(const records::Evaluation& a, const records::Evaluation& b) {
  return a.accepted && b.accepted && a.kernel_key == b.kernel_key && a.target == b.target &&
         a.workload == b.workload && a.device == b.device;
}

bool BeatsIncumbent(const records::Evaluation& candidate, const records::Evaluation& incumbent,
                    const records::Workload& workload) {
  if (!candidate.accepted) return false;
  if (!AreComparable(candidate, incumbent)) return true;
  if (candidate.variant == incumbent.variant) return false;
  if (const auto dueled = Dueled(candidate, incumbent)) return WhyNotFaster(*dueled).empty();
  const base::Result<Combined> ours = Combine(candidate.cases, workload);
  const base::Result<Combined> theirs = Combine(incumbent.cases, workload);
  if (!ours || !theirs) return false;
  const double ratio = ours->speedup / theirs->speedup;
  const double down = std::log(ours->speedup / ours->interval[0]);
  const double up = std::log(theirs->interval[1] / theirs->speedup);
  Change change;
  change.speedup = ratio;
  change.low = ratio * std::exp(-std::sqrt(down * down + up * up));
  double weights = 0;
  for (const records::Case& one : workload.cases) weights += one.weight;
  change.gain_us = weights * (1 / theirs->speedup - 1 / ours->speedup) /
                   LaunchesOfEither(candidate, incumbent, workload);
  return WhyNotFaster(change).empty();
}

}  // namespace cupilot::evaluate
