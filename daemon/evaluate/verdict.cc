#include "evaluate/verdict.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace cupilot::evaluate {
namespace {

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

// The better entry of a case: one of cold and warm must win, the other may only not lose.
base::Result<const records::CaseResult*> BestOf(const std::vector<records::CaseResult>& cases,
                                                const std::string& name) {
  const records::CaseResult* best = nullptr;
  for (const records::CaseResult& result : cases) {
    if (result.name != name) continue;
    TRY(CheckNumbers(result));
    if (best == nullptr || result.speedup > best->speedup) best = &result;
  }
  if (best == nullptr) return base::Fail(base::Internal("case '" + name + "' was not measured"));
  return best;
}

struct Change {
  double low = 0;  // 95 %, as a factor
  double speedup = 0;
  double gain_us = 0;
};

// The one rule: against the original, and against the incumbent.
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

Verdict Reject(std::string reason, std::string detail, std::optional<Combined> combined = {}) {
  Verdict verdict;
  verdict.reason = std::move(reason);
  verdict.detail = std::move(detail);
  verdict.combined = combined;
  return verdict;
}

}  // namespace

base::Result<Combined> Combine(const std::vector<records::CaseResult>& cases,
                               const records::Workload& workload) {
  double weights = 0;
  double after = 0;     // sum(w / s): the time that remains
  double launches = 0;  // sum(w / o): weight is calls times mean time
  double below = 0;     // squared log widths, scaled by w / s
  double above = 0;
  for (const records::Case& one : workload.cases) {
    TRY_ASSIGN(const records::CaseResult* result, BestOf(cases, one.name));
    const double remains = one.weight / result->speedup;
    const double low_width = std::log(result->speedup / result->interval[0]);
    const double high_width = std::log(result->interval[1] / result->speedup);
    weights += one.weight;
    after += remains;
    launches += one.weight / result->original_us;
    below += remains * remains * low_width * low_width;
    above += remains * remains * high_width * high_width;
  }
  if (!Positive(weights) || !Positive(after) || !Positive(launches)) {
    return base::Fail(base::Internal("the workload's weights have no positive sum"));
  }
  // d log S / d log s_i is the share of case i in the time that remains.
  Combined combined;
  combined.speedup = weights / after;
  combined.interval = {combined.speedup * std::exp(-std::sqrt(below) / after),
                       combined.speedup * std::exp(std::sqrt(above) / after)};
  combined.gain_us = (weights - after) / launches;
  combined.original_us = weights / launches;
  return combined;
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
  TRY_ASSIGN(Combined combined, Combine(measured.cases, workload));
  for (const records::CaseResult& result : measured.cases) {
    if (result.speedup < kWorstCase) {
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

bool BeatsIncumbent(const records::Evaluation& candidate, const records::Evaluation& incumbent,
                    const records::Workload& workload) {
  if (!candidate.accepted) return false;
  const bool comparable = incumbent.accepted && candidate.kernel_key == incumbent.kernel_key &&
                          candidate.target == incumbent.target &&
                          candidate.workload == incumbent.workload &&
                          candidate.device == incumbent.device;
  if (!comparable) return true;
  if (candidate.variant == incumbent.variant) return false;
  const base::Result<Combined> ours = Combine(candidate.cases, workload);
  const base::Result<Combined> theirs = Combine(incumbent.cases, workload);
  if (!ours || !theirs) return false;
  const double ratio = ours->speedup / theirs->speedup;
  const double down = std::log(ours->speedup / ours->interval[0]);
  const double up = std::log(theirs->interval[1] / theirs->speedup);
  Change change;
  change.speedup = ratio;
  change.low = ratio * std::exp(-std::sqrt(down * down + up * up));
  change.gain_us = ours->original_us * (1 / theirs->speedup - 1 / ours->speedup);
  return WhyNotFaster(change).empty();
}

}  // namespace cupilot::evaluate
