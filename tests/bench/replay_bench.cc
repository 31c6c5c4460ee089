// replay_bench FILE... [--repeats N]: all strategies, ours and those of the literature, on measured
// spaces (files that `cupilot import` wrote): scores with intervals, how sure each is above random
// search and above each other, and what a step of each takes.
// replay_bench --steps SPACE.json: what a step takes after 10,000 evaluations, on a space
// (cupilot.space/1) with made-up times.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/file.h"
#include "search/score.h"
#include "search/tuner_files.h"
#include "tests/support/rivals/rival_strategies.h"

namespace cupilot::search {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Of this thread alone: other programs do not count.
double ProcessorSeconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::vector<StrategyRow> AllStrategies() {
  std::vector<StrategyRow> rows(Strategies().begin(), Strategies().end());
  rows.insert(rows.end(), RivalStrategies().begin(), RivalStrategies().end());
  return rows;
}

int Fail(const std::string& what) {
  std::fprintf(stderr, "replay_bench: %s\n", what.c_str());
  return 2;
}

int Compare(const std::vector<std::string>& files, std::uint64_t repeats) {
  std::vector<MeasuredSpace> spaces;
  for (const std::string& file : files) {
    const auto text = base::ReadFile(file);
    if (!text) return Fail(text.error().message);
    auto imported = ImportResults(*text, nullptr);
    if (!imported) return Fail(file + ": " + imported.error().message);
    spaces.push_back(std::move(imported->measured));
  }
  std::vector<Arena> arenas;
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    auto baseline = Baseline::Make(spaces[i], {});
    if (!baseline) return Fail(files[i] + ": " + baseline.error().message);
    std::printf("%s: %zu rows, best %.4g us, median %.4g us, budget %llu evaluations of %.3g s\n",
                files[i].c_str(), spaces[i].rows().size(), baseline->optimum(), baseline->median(),
                static_cast<unsigned long long>(baseline->budget()), baseline->seconds_each());
    arenas.push_back({&spaces[i], std::move(*baseline)});
  }
  std::vector<StrategyScore> scores;
  std::printf("\n%-20s %7s  %-16s %10s %8s %8s\n", "strategy", "score", "95 %", "evaluated",
              "us/step", "longest");
  for (const StrategyRow& row : AllStrategies()) {
    scores.push_back(ScoreOf(row, arenas, repeats, 1, &Now));
    const StrategyScore& score = scores.back();
    const Interval interval = IntervalOf(score.scores, 1);
    const double steps = static_cast<double>(score.evaluations + score.repeated + score.unknown);
    std::printf("%-20s %7.3f  [%6.3f, %6.3f] %10llu %8.1f %8.0f\n", score.name.c_str(),
                MeanOf(score.scores), interval.low, interval.high,
                static_cast<unsigned long long>(score.evaluations),
                score.search_seconds / std::max(steps, 1.0) * 1e6, score.longest_step * 1e6);
  }
  std::printf("\nhow sure the row is above the column, in %%\n%-20s", "");
  for (const StrategyScore& column : scores) std::printf(" %12.12s", column.name.c_str());
  for (const StrategyScore& row : scores) {
    std::printf("\n%-20s", row.name.c_str());
    for (const StrategyScore& column : scores) {
      std::printf(" %12.1f", &row == &column ? 50.0 : 100 * LevelOf(row.scores, column.scores, 1));
    }
  }
  std::printf("\n");
  return 0;
}

// A smooth function of the places, with a valley: 1 to 2.
double MadeUpTime(const Space& space, const Point& point) {
  double time = 1;
  for (std::size_t i = 0; i < point.size(); ++i) {
    const double size = static_cast<double>(space.parameters()[i].values.size());
    time *= 1 + 0.2 * std::pow((point[i] + 0.5) / size - 0.37, 2);
  }
  return time;
}

int Steps(const std::string& file) {
  constexpr int kEvaluations = 10000, kSteps = 200;
  const auto text = base::ReadFile(file);
  if (!text) return Fail(text.error().message);
  const auto json = records::ParseJson(*text);
  if (!json) return Fail(json.error().message);
  const auto description = ReadSpaceDescription(*json);
  if (!description) return Fail(description.error().message);
  const auto space = SpaceOf(description->space);
  if (!space) return Fail(space.error().message);
  std::printf("%s: %llu valid points\n", file.c_str(),
              static_cast<unsigned long long>(space->size()));
  for (const StrategyRow& row : AllStrategies()) {
    const auto strategy = row.make(*space, 1);
    std::vector<double> taken;
    int done = 0;
    for (; done < kEvaluations + kSteps; ++done) {
      const double before = ProcessorSeconds();
      const auto point = strategy->Next();
      const double between = ProcessorSeconds();
      if (!point) break;
      const double time = MadeUpTime(*space, *point);
      const double again = ProcessorSeconds();
      strategy->Report(*point, time);
      if (done >= kEvaluations) taken.push_back((between - before) + (ProcessorSeconds() - again));
    }
    if (taken.empty()) {
      std::printf("%-20s had no more points after %d\n", row.name.data(), done);
      continue;
    }
    std::sort(taken.begin(), taken.end());
    std::printf("%-20s after %d: median %.1f us, longest %.1f us\n", row.name.data(), kEvaluations,
                taken[taken.size() / 2] * 1e6, taken.back() * 1e6);
  }
  return 0;
}

}  // namespace
}  // namespace cupilot::search

int main(int count, char** words) {
  std::vector<std::string> files;
  std::uint64_t repeats = 100;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--steps" && i + 1 < count) return cupilot::search::Steps(words[i + 1]);
    if (word == "--repeats" && i + 1 < count) {
      repeats = std::max(1ULL, std::strtoull(words[++i], nullptr, 10));
    } else {
      files.push_back(word);
    }
  }
  if (files.empty()) {
    std::fprintf(stderr, "usage: replay_bench FILE... [--repeats N] | --steps SPACE.json\n");
    return 2;
  }
  return cupilot::search::Compare(files, repeats);
}
