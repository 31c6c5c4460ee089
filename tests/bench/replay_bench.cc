// replay_bench FILE... [--repeats N] [--only NAME,...] [--ablations]: all strategies, ours and
// those of the literature, on measured spaces (files that `cupilot import` wrote): scores with
// intervals, how sure each is above each other, and what a step of each takes (by processor time;
// as many strategies at once as there are processors). With --ablations also the portfolio with
// parts left out, and with what is left out of it.
//
// --elsewhere FILE (any number, with each of these): spaces measured on another device, of which
// strategies are told the 50 best points where they fit.
//
// replay_bench FILE... --in-flight N [--repeats N] [--only NAME,...]: how many evaluations each
// takes to a point within 5 % of the best one, where N points are asked for before the first's
// result is there.
//
// replay_bench FILE... --builders N [--looks X] [--in-flight N] [--repeats N] [--only NAME,...]:
// how many seconds each takes to such a point on a GPU beside so many builders, by simulated time,
// where a look takes X times as long as measuring took that the rows tell; how many points are
// under way is the daemon's rule, or N.
//
// replay_bench --made-up SPACE.json... [--champions N] [--seeds N] [--first-seed N] ...: the same
// on made-up times for the points of spaces (cupilot.space/1), of each kind with so many seeds.
// With --champions strategies know the best points of another device of the same family.
//
// replay_bench --regret FILE... [--repeats N]: what is lost by trusting the cost model (see
// tests/support/model_regret.h): medians over repeats, in %, by what it sees: values alone,
// launches, too, and what the compiler said.
//
// replay_bench --steps FILE: what a step takes after 10,000 evaluations, on a measured space with
// more points than that, with its launch and made-up times.
//
// replay_bench --solve SPACE.json...: what solving a space takes, and drawing a point of it.
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "search/launch_facts.h"
#include "search/portfolio/portfolio.h"
#include "search/score.h"
#include "search/tuner_files.h"
#include "tests/support/made_up/landscapes.h"
#include "tests/support/model_regret.h"
#include "tests/support/results_until_good.h"
#include "tests/support/rivals/rival_strategies.h"
#include "tests/support/simulated_pace.h"

namespace cupilot::search {
namespace {

// Of this thread alone: other programs do not count.
double ProcessorSeconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Options {
  std::vector<std::string> files, elsewhere;
  std::uint64_t repeats = 100;
  std::string only;  // names with commas around them; empty: all
  bool ablations = false;
  bool made_up = false;
  bool regret = false;
  std::uint64_t seeds = 1, first_seed = 1;
  std::size_t champions = 0;
  std::size_t in_flight = 0;  // 0: scores
  int builders = 0;           // 0: no simulated time
  double looks = 0.4;
};

template <bool PortfolioParts::* part>
std::unique_ptr<Strategy> MakeOther(const StrategyInputs& inputs) {
  PortfolioParts parts;
  parts.*part = !(parts.*part);
  return std::make_unique<Portfolio>(inputs, parts);
}

constexpr StrategyRow kAblations[] = {
    {"no_transfer", "", &MakeOther<&PortfolioParts::transfer>},
    {"no_bayesian", "", &MakeOther<&PortfolioParts::bayesian>},
    {"no_cost_model", "", &MakeOther<&PortfolioParts::cost_model>},
    {"no_evolution", "", &MakeOther<&PortfolioParts::evolution>},
    {"with_descent", "", &MakeOther<&PortfolioParts::descent>},
    {"no_bandit", "", &MakeOther<&PortfolioParts::bandit>},
    {"no_feasibility", "", &MakeOther<&PortfolioParts::feasibility>},
    {"no_build_costs", "", &MakeOther<&PortfolioParts::build_costs>},
    {"no_build_reports", "", &MakeOther<&PortfolioParts::build_reports>},
};

std::vector<StrategyRow> StrategiesOf(const Options& options) {
  std::vector<StrategyRow> rows(Strategies().begin(), Strategies().end());
  rows.insert(rows.end(), RivalStrategies().begin(), RivalStrategies().end());
  if (options.ablations) {
    rows.insert(rows.end(), std::begin(kAblations), std::end(kAblations));
  }
  if (options.only.empty()) return rows;
  std::erase_if(rows, [&](const StrategyRow& row) {
    return options.only.find("," + std::string(row.name) + ",") == std::string::npos;
  });
  return rows;
}

int Fail(const std::string& what) {
  std::fprintf(stderr, "replay_bench: %s\n", what.c_str());
  return 2;
}

// A space to compare on, and the champions that strategies are told.
struct Ground {
  MeasuredSpace measured;
  std::vector<Point> champions;
};

// Of a space that was measured in part, that part.
base::Result<MeasuredSpace> WholeOf(MeasuredSpace measured) {
  if (measured.complete()) return measured;
  std::printf("%s: %zu of %llu points were measured; the others are left out\n",
              measured.name().c_str(), measured.rows().size(),
              static_cast<unsigned long long>(measured.space().size()));
  return MeasuredPart(measured);
}

base::Result<> AddChampions(const Options& options, std::vector<Ground>& grounds) {
  for (const std::string& file : options.elsewhere) {
    TRY_ASSIGN(const std::string text, base::ReadFile(file));
    TRY_ASSIGN(const auto imported, ImportResults(text, nullptr));
    for (Ground& ground : grounds) {
      const auto more = ChampionsFor(ground.measured.space(), imported.measured, kChampions);
      ground.champions.insert(ground.champions.end(), more.begin(), more.end());
    }
  }
  return {};
}

base::Result<std::vector<Ground>> GroundsOf(const Options& options) {
  std::vector<Ground> grounds;
  for (const std::string& file : options.files) {
    TRY_ASSIGN(const std::string text, base::ReadFile(file));
    if (!options.made_up) {
      TRY_ASSIGN(auto imported, ImportResults(text, nullptr));
      TRY_ASSIGN(auto whole, WholeOf(std::move(imported.measured)));
      grounds.push_back({std::move(whole), {}});
      continue;
    }
    TRY_ASSIGN(const records::Json json, records::ParseJson(text));
    TRY_ASSIGN(const SpaceFile space, ParseSpaceFile(json));
    for (const LandscapeKind kind : kLandscapeKinds) {
      for (std::uint64_t i = 0; i < options.seeds; ++i) {
        const std::uint64_t seed = options.first_seed + i;
        TRY_ASSIGN(auto measured, MakeLandscape(space, kind, seed, 0));
        grounds.push_back({std::move(measured), {}});
        if (options.champions == 0) continue;
        TRY_ASSIGN(const auto elsewhere, MakeLandscape(space, kind, seed, 1));
        grounds.back().champions = ChampionsFor(elsewhere.space(), elsewhere, options.champions);
      }
    }
  }
  TRY(AddChampions(options, grounds));
  return grounds;
}

// The quarters of what `of` gives, over repeats.
int Quarters(const Options& options, const std::string& title, int digits,
             const std::function<double(const MeasuredSpace&, Strategy&)>& of) {
  const auto grounds = GroundsOf(options);
  if (!grounds) return Fail(grounds.error().message);
  std::printf("%s: quarter, median, three quarters\n", title.c_str());
  for (const StrategyRow& row : StrategiesOf(options)) {
    for (const Ground& ground : *grounds) {
      const auto facts = LaunchFacts::Make(ground.measured);
      std::vector<double> found;
      for (std::uint64_t seed = 1; seed <= options.repeats; ++seed) {
        const auto strategy =
            row.make_from({ground.measured.space(), seed, ground.champions, facts.get()});
        found.push_back(of(ground.measured, *strategy));
      }
      std::sort(found.begin(), found.end());
      std::printf("%-20s %-20s", row.name.data(), ground.measured.name().c_str());
      for (const std::size_t quarter : {1, 2, 3}) {
        std::printf(" %7.*f", digits, found[found.size() * quarter / 4]);
      }
      std::printf("\n");
      std::fflush(stdout);
    }
  }
  return 0;
}

int Reach(const Options& options) {
  return Quarters(
      options, "evaluations to within 5 %, " + std::to_string(options.in_flight) + " in flight", 0,
      [&](const MeasuredSpace& measured, Strategy& strategy) {
        return static_cast<double>(ResultsUntilGood(measured, strategy, options.in_flight));
      });
}

int ReachInTime(const Options& options) {
  PaceSettings settings{.builders = options.builders, .looks = options.looks};
  if (options.in_flight > 0) {
    const int many = static_cast<int>(options.in_flight);
    settings.in_flight = {many, many, many};
  }
  return Quarters(options,
                  "seconds to within 5 %, " + std::to_string(options.builders) + " builders", 2,
                  [&](const MeasuredSpace& measured, Strategy& strategy) {
                    return SimulatedPace(measured, strategy, settings).GoodAfter();
                  });
}

int Compare(const Options& options) {
  const auto grounds = GroundsOf(options);
  if (!grounds) return Fail(grounds.error().message);
  std::vector<Arena> arenas;
  std::vector<std::unique_ptr<LaunchFacts>> facts;
  for (const Ground& ground : *grounds) {
    const MeasuredSpace& measured = ground.measured;
    auto baseline = Baseline::Make(measured, {});
    if (!baseline) return Fail(measured.name() + ": " + baseline.error().message);
    std::printf("%s: %zu rows, best %.4g us, median %.4g us, budget %llu evaluations of %.3g s\n",
                measured.name().c_str(), measured.rows().size(), baseline->optimum(),
                baseline->median(), static_cast<unsigned long long>(baseline->budget()),
                baseline->seconds_each());
    facts.push_back(LaunchFacts::Make(measured));
    arenas.push_back({&measured, std::move(*baseline), ground.champions, facts.back().get()});
  }
  const std::vector<StrategyRow> rows = StrategiesOf(options);
  std::vector<StrategyScore> scores(rows.size());
  std::printf("\n%-20s %7s  %-16s %10s %8s %8s\n", "strategy", "score", "95 %", "evaluated",
              "us/step", "longest");
  {
    std::atomic<std::size_t> next = 0;
    std::mutex printing;
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
      threads.emplace_back([&] {
        for (std::size_t row = next++; row < rows.size(); row = next++) {
          StrategyScore& score = scores[row];
          score = ScoreOf(rows[row], arenas, options.repeats, 1, &ProcessorSeconds);
          const Interval interval = IntervalOf(score.scores, 1);
          const double steps =
              static_cast<double>(score.evaluations + score.repeated + score.unknown);
          const std::lock_guard lock(printing);
          std::printf("%-20s %7.3f  [%6.3f, %6.3f] %10llu %8.1f %8.0f\n", score.name.c_str(),
                      MeanOf(score.scores), interval.low, interval.high,
                      static_cast<unsigned long long>(score.evaluations),
                      score.search_seconds / std::max(steps, 1.0) * 1e6, score.longest_step * 1e6);
          std::fflush(stdout);
        }
      });
    }
  }
  const auto by_space = [&](const std::string& title, const auto& of) {
    std::printf("\n%s\n%-20s", title.c_str(), "");
    for (const StrategyScore& column : scores) std::printf(" %12.12s", column.name.c_str());
    for (std::size_t i = 0; i < arenas.size(); ++i) {
      std::printf("\n%-20.20s", arenas[i].measured->name().c_str());
      for (const StrategyScore& column : scores) std::printf(" %12.3f", of(column.scores[i]));
    }
    std::printf("\n");
  };
  by_space("by space", [](const std::vector<double>& repeats) { return MeanOf({repeats}); });
  const auto part_below = [](std::size_t part) {
    return [part](std::vector<double> repeats) {
      std::sort(repeats.begin(), repeats.end());
      return repeats[repeats.size() / part];
    };
  };
  by_space("by space, the median repeat", part_below(2));
  by_space("by space, a tenth of the repeats is below", part_below(10));
  constexpr std::size_t kShown = 10;  // moments of a curve
  for (std::size_t i = 0; i < arenas.size(); ++i) {
    const std::vector<double>& moments = arenas[i].baseline.moments();
    const auto shown = [&](std::size_t k) { return k * (moments.size() - 1) / (kShown - 1); };
    std::printf("\ncurve of %s, after s\n%-20s", arenas[i].measured->name().c_str(), "");
    for (std::size_t k = 0; k < kShown; ++k) std::printf(" %7.4g", moments[shown(k)]);
    for (const StrategyScore& row : scores) {
      std::printf("\n%-20s", row.name.c_str());
      for (std::size_t k = 0; k < kShown; ++k) std::printf(" %7.3f", row.curves[i][shown(k)]);
    }
    std::printf("\n");
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

int Regret(const Options& options) {
  const auto grounds = GroundsOf(options);
  if (!grounds) return Fail(grounds.error().message);
  const auto median = [](std::vector<double>& numbers) {
    std::sort(numbers.begin(), numbers.end());
    return 100 * numbers[numbers.size() / 2];
  };
  std::printf("%-20s %6s", "regret in %", "known");
  for (const char* sees : {"values", "launches", "compiler"}) {
    std::printf("  %9s: first, of ten", sees);
  }
  for (const Ground& ground : *grounds) {
    const auto facts = LaunchFacts::Make(ground.measured);
    for (const std::size_t known : {20, 50, 100, 200}) {
      std::printf("\n%-20s %6zu", ground.measured.name().c_str(), known);
      for (const auto& [of, reports] : {std::pair<const PointFacts*, bool>{nullptr, false},
                                        {facts.get(), false},
                                        {facts.get(), true}}) {
        std::vector<double> first, of_ten;
        for (std::uint64_t seed = 1; seed <= options.repeats; ++seed) {
          const ModelRegret regret = RegretOf(ground.measured, of, reports, known, seed);
          first.push_back(regret.first);
          of_ten.push_back(regret.of_ten);
        }
        std::printf("  %17.1f, %6.1f", median(first), median(of_ten));
      }
      std::fflush(stdout);
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
  const auto measured = ParseMeasured(*text);
  if (!measured) return Fail(measured.error().message);
  const Space* space = &measured->space();
  const auto facts = LaunchFacts::Make(*measured);
  std::printf("%s: %llu valid points\n", file.c_str(),
              static_cast<unsigned long long>(space->size()));
  for (const StrategyRow& row : StrategiesOf({})) {
    const auto strategy = row.make_from({*space, 1, {}, facts.get()});
    std::vector<double> taken;
    int done = 0;
    for (; done < kEvaluations + kSteps; ++done) {
      const double before = ProcessorSeconds();
      const auto point = strategy->Next();
      const double between = ProcessorSeconds();
      if (!point) break;
      const double time = MadeUpTime(*space, *point);
      const double again = ProcessorSeconds();
      const auto registers = static_cast<std::int64_t>(20 * time);
      strategy->ReportBuild(*point, {registers, 1024, time, registers / 2});
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

int SolveAll(const std::vector<std::string>& files) {
  constexpr int kDraws = 100'000;
  for (const std::string& file : files) {
    const auto text = base::ReadFile(file);
    if (!text) return Fail(text.error().message);
    const auto json = records::ParseJson(*text);
    if (!json) return Fail(json.error().message);
    const auto of_file = ParseSpaceFile(*json);
    if (!of_file) return Fail(of_file.error().message);
    const double before = ProcessorSeconds();
    const auto space = SpaceOf(*of_file);
    const double between = ProcessorSeconds();
    if (!space) return Fail(space.error().message);
    std::mt19937_64 random(1);
    std::uint64_t sum = 0;  // so that drawing is not left out
    for (int i = 0; i < kDraws; ++i) sum += space->Draw(random).front();
    const double after = ProcessorSeconds();
    std::printf(
        "%s: %llu valid points of %.3g solved in %.1f ms, a point drawn in %.2f us (%llu)\n",
        file.c_str(), static_cast<unsigned long long>(space->size()), space->cartesian_size(),
        (between - before) * 1e3, (after - between) / kDraws * 1e6,
        static_cast<unsigned long long>(sum % 10));
  }
  return 0;
}

}  // namespace
}  // namespace cupilot::search

int main(int count, char** words) {
  cupilot::search::Options options;
  const auto number = [](const char* word) {
    return std::max(1ULL, std::strtoull(word, nullptr, 10));
  };
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const bool more = i + 1 < count;
    if (word == "--steps" && more) return cupilot::search::Steps(words[i + 1]);
    if (word == "--solve") {
      return cupilot::search::SolveAll({words + i + 1, words + count});
    }
    if (word == "--repeats" && more) {
      options.repeats = number(words[++i]);
    } else if (word == "--only" && more) {
      options.only = "," + std::string(words[++i]) + ",";
    } else if (word == "--seeds" && more) {
      options.seeds = number(words[++i]);
    } else if (word == "--first-seed" && more) {
      options.first_seed = number(words[++i]);
    } else if (word == "--champions" && more) {
      options.champions = number(words[++i]);
    } else if (word == "--in-flight" && more) {
      options.in_flight = number(words[++i]);
    } else if (word == "--builders" && more) {
      options.builders = static_cast<int>(number(words[++i]));
    } else if (word == "--looks" && more) {
      options.looks = std::max(0.0, std::strtod(words[++i], nullptr));
    } else if (word == "--elsewhere" && more) {
      options.elsewhere.emplace_back(words[++i]);
    } else if (word == "--made-up") {
      options.made_up = true;
    } else if (word == "--regret") {
      options.regret = true;
    } else if (word == "--ablations") {
      options.ablations = true;
    } else {
      options.files.push_back(word);
    }
  }
  if (options.files.empty()) {
    std::fprintf(stderr,
                 "usage: replay_bench FILE... [--repeats N] [--only NAME,...] [--ablations] "
                 "[--elsewhere FILE]... [--builders N [--looks X]] [--in-flight N] | "
                 "--made-up SPACE.json... [--champions N] [--seeds N] [--first-seed N] ... | "
                 "--regret FILE... | --steps FILE | --solve SPACE.json...\n");
    return 2;
  }
  if (options.regret) return cupilot::search::Regret(options);
  if (options.builders > 0) return cupilot::search::ReachInTime(options);
  return options.in_flight > 0 ? cupilot::search::Reach(options)
                               : cupilot::search::Compare(options);
}
