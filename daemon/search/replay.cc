#include "search/replay.h"

#include <algorithm>
#include <unordered_set>

namespace cupilot::search {
namespace {

constexpr int kMostInVain = 10000;

}  // namespace

ReplayCost::ReplayCost(const MeasuredSpace& measured) {
  double builds = 0, all = 0;
  std::size_t built = 0;
  for (const MeasuredRow& row : measured.rows()) {
    all += row.seconds();
    builds += row.compile_seconds;
    if (row.compile_seconds > 0) ++built;
  }
  known_ = all > 0;
  if (built > 0) mean_build_ = builds / static_cast<double>(built);
  if (!known_) return;
  double sum = 0;
  for (const MeasuredRow& row : measured.rows()) sum += Of(row);
  mean_ = sum / static_cast<double>(measured.rows().size());
}

double ReplayCost::Of(const MeasuredRow& row) const {
  if (!known_) return 1;
  const bool is_unsaid = row.microseconds && row.compile_seconds == 0;
  return row.seconds() + (is_unsaid ? mean_build_ : 0);
}

ReplayRun Replay(const MeasuredSpace& measured, Strategy& strategy, double budget_seconds,
                 const ReplayClock& clock) {
  ReplayRun run;
  const ReplayCost cost(measured);
  std::unordered_set<const MeasuredRow*> seen;
  // What a call of the strategy takes; counted where there is a clock.
  const auto timed = [&](const auto& call) {
    const double before = clock ? clock() : 0.0;
    call();
    const double taken = clock ? std::max(0.0, clock() - before) : 0.0;
    run.seconds += taken;
    run.search_seconds += taken;
    return taken;
  };
  for (int in_vain = 0; in_vain < kMostInVain;) {
    std::optional<Point> point;
    double step = timed([&] { point = strategy.Next(); });
    if (!point) {
      run.exhausted = true;
      break;
    }
    const MeasuredRow* row = measured.Find(*point);
    const bool is_new = row != nullptr && seen.insert(row).second;
    if (is_new) run.seconds += cost.Of(*row);
    if (run.seconds > budget_seconds) break;
    const std::optional<double> result = row == nullptr ? std::nullopt : row->microseconds;
    in_vain = is_new ? 0 : in_vain + 1;
    if (row == nullptr) {
      ++run.unknown;
    } else if (!is_new) {
      ++run.repeated;
    } else {
      ++run.evaluations;
      if (!result) ++run.failed;
    }
    const bool first = run.improvements.empty();
    if (is_new && result && (first || *result < run.improvements.back().microseconds)) {
      run.improvements.push_back({run.seconds, *result});
    }
    step += timed([&] {
      if (row == nullptr) {
        strategy.ReportFailure(*point, Failure::kUnknown);
      } else {
        if (is_new) strategy.ReportBuild(*point, row->report());
        strategy.Report(*point, result);
      }
    });
    run.longest_step = std::max(run.longest_step, step);
  }
  return run;
}

}  // namespace cupilot::search
