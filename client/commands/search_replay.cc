#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "search/launch_facts.h"
#include "search/score.h"
#include "search/tuner_files.h"

namespace cupilot::client {
namespace {

using records::Json;
using search::Arena;
using search::StrategyScore;

constexpr std::size_t kShownMoments = 10;
constexpr std::size_t kWrittenMoments = 100;
// Of fewer repeats a bootstrap says more than they do.
constexpr std::int64_t kFewestForLevels = 10;

double SteadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string Decimals(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

// Nothing is certain.
std::string LevelText(double level) {
  return level > 0.9995 ? "more than 99.9 %" : Decimals(100 * level, 1) + " %";
}

base::Result<std::vector<search::StrategyRow>> StrategiesOf(const std::string& names) {
  std::vector<search::StrategyRow> rows;
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    std::string name = names.substr(begin, end - begin);
    begin = end + 1;
    name.erase(0, name.find_first_not_of(' '));
    name.erase(name.find_last_not_of(' ') + 1);
    TRY_ASSIGN(const auto row, search::FindStrategy(name));
    const bool again = std::any_of(rows.begin(), rows.end(),
                                   [&](const auto& known) { return known.name == row.name; });
    if (again) return base::Fail(base::InvalidArgument("'" + name + "' is named twice"));
    rows.push_back(row);
  }
  return rows;
}

base::Result<search::MeasuredSpace> ReadSpace(const std::string& file, Output& output) {
  const std::string path = base::AbsolutePath(file, CurrentFolder());
  const auto text = base::ReadFile(path);
  if (!text) return base::Fail(base::InvalidArgument(path + ": " + text.error().message));
  auto imported = search::ImportResults(*text, nullptr);
  if (!imported) return base::Fail(imported.error().In(path));
  for (const std::string& note : imported->notes) output.Warning(path + ": " + note);
  const search::MeasuredSpace& measured = imported->measured;
  if (measured.complete()) return std::move(imported->measured);
  output.Warning(path + ": " + std::to_string(measured.rows().size()) + " of " +
                 std::to_string(measured.space().size()) +
                 " points were measured; the others are left out, so that scores are not those of "
                 "the whole space");
  return search::MeasuredPart(measured);
}

base::Result<std::vector<search::MeasuredSpace>> ReadSpaces(const std::vector<std::string>& files,
                                                            Output& output) {
  std::vector<search::MeasuredSpace> spaces;
  std::set<std::string> known;
  for (const std::string& file : files) {
    if (!known.insert(base::AbsolutePath(file, CurrentFolder())).second) {
      return base::Fail(base::InvalidArgument(file + " is named twice"));
    }
    TRY_ASSIGN(auto space, ReadSpace(file, output));
    spaces.push_back(std::move(space));
  }
  return spaces;
}

// The mean over spaces of the curves, at this share of the budget.
double CurveAt(const StrategyScore& score, std::size_t step, std::size_t steps) {
  double sum = 0;
  for (const std::vector<double>& curve : score.curves) {
    sum += curve[step * (curve.size() - 1) / steps];
  }
  return sum / static_cast<double>(score.curves.size());
}

double MicrosecondsAStep(const StrategyScore& score) {
  const auto steps = static_cast<double>(score.evaluations + score.repeated + score.unknown);
  return score.search_seconds / std::max(steps, 1.0) * 1e6;
}

Json SpaceJson(const std::string& file, const Arena& arena) {
  const search::MeasuredSpace& measured = *arena.measured;
  return {{"file", file},
          {"name", measured.name()},
          {"device", measured.device()},
          {"points", measured.space().size()},
          {"rows", measured.rows().size()},
          {"optimum_us", arena.baseline.optimum()},
          {"median_us", arena.baseline.median()},
          {"champions", arena.champions.size()},
          {"budget_evaluations", arena.baseline.budget()},
          {"budget_seconds", arena.baseline.budget_seconds()}};
}

Json StrategyJson(const StrategyScore& score, std::uint64_t seed, bool timed) {
  const search::Interval interval = search::IntervalOf(score.scores, seed);
  Json by_space = Json::array();
  for (const auto& scores : score.scores) by_space.push_back(search::MeanOf({scores}));
  Json curve = Json::array();
  for (std::size_t i = 0; i <= kWrittenMoments; ++i) {
    curve.push_back(CurveAt(score, i, kWrittenMoments));
  }
  Json json = {{"name", score.name},
               {"score", search::MeanOf(score.scores)},
               {"interval", {interval.low, interval.high}},
               {"scores", std::move(by_space)},
               {"curve", std::move(curve)},
               {"evaluations", score.evaluations},
               {"repeated", score.repeated},
               {"unknown", score.unknown}};
  if (timed) {
    json["step_us"] = MicrosecondsAStep(score);
    json["longest_step_us"] = score.longest_step * 1e6;
  }
  return json;
}

void PrintCurve(const std::vector<StrategyScore>& scores, Output& output) {
  std::vector<std::vector<std::string>> rows = {{"budget"}};
  for (const StrategyScore& score : scores) rows[0].push_back(score.name);
  for (std::size_t i = 0; i <= kShownMoments; ++i) {
    rows.push_back({std::to_string(i * 100 / kShownMoments) + " %"});
    for (const StrategyScore& score : scores) {
      rows.back().push_back(Decimals(CurveAt(score, i, kShownMoments), 3));
    }
  }
  output.Table(rows);
}

void PrintScores(const std::vector<StrategyScore>& scores, std::uint64_t seed, bool timed,
                 Output& output) {
  std::vector<std::vector<std::string>> rows = {
      {"strategy", "score", "95 %", "evaluations", "not known", timed ? "us/step" : ""}};
  for (const StrategyScore& score : scores) {
    const search::Interval interval = search::IntervalOf(score.scores, seed);
    rows.push_back({score.name, Decimals(search::MeanOf(score.scores), 3),
                    "[" + Decimals(interval.low, 3) + ", " + Decimals(interval.high, 3) + "]",
                    std::to_string(score.evaluations), std::to_string(score.unknown),
                    timed ? Decimals(MicrosecondsAStep(score), 1) : ""});
  }
  output.Table(rows);
}

}  // namespace

int RunSearchReplay(const Arguments& arguments, Output& output) {
  const ReplayArguments& wanted = arguments.replay;
  const auto strategies = StrategiesOf(wanted.strategies);
  if (!strategies) return output.Fail(strategies.error().In("--strategy"));
  const auto read = ReadSpaces(wanted.files, output);
  if (!read) return output.Fail(read.error());
  const std::vector<search::MeasuredSpace>& spaces = *read;
  const auto elsewhere = ReadSpaces(wanted.champions, output);
  if (!elsewhere) return output.Fail(elsewhere.error().In("--champions"));
  std::vector<Arena> arenas;
  std::vector<std::unique_ptr<search::LaunchFacts>> facts;
  Json files = Json::array();
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    auto baseline = search::Baseline::Make(spaces[i], {});
    if (!baseline) return output.Fail(baseline.error().In(wanted.files[i]));
    facts.push_back(search::LaunchFacts::Make(spaces[i]));
    arenas.push_back({&spaces[i], std::move(*baseline), {}, facts.back().get()});
    for (const search::MeasuredSpace& other : *elsewhere) {
      const auto more = search::ChampionsFor(spaces[i].space(), other, search::kChampions);
      auto& champions = arenas.back().champions;
      champions.insert(champions.end(), more.begin(), more.end());
    }
    if (!elsewhere->empty() && arenas.back().champions.empty()) {
      output.Warning(wanted.files[i] + ": no file of --champions has all of its parameters");
    }
    files.push_back(SpaceJson(wanted.files[i], arenas.back()));
    const search::Baseline& of = arenas.back().baseline;
    output.Line(wanted.files[i] + ": " + std::to_string(spaces[i].rows().size()) + " of " +
                std::to_string(spaces[i].space().size()) + " points, best " +
                Microseconds(of.optimum()) + ", median " + Microseconds(of.median()) + ", budget " +
                std::to_string(of.budget()) + " evaluations or " + Duration(of.budget_seconds()));
  }
  const bool timed = !wanted.free_search;
  const search::ReplayClock clock = timed ? search::ReplayClock(&SteadySeconds) : nullptr;
  std::vector<StrategyScore> scores;
  Json strategy_list = Json::array(), levels = Json::array();
  for (const search::StrategyRow& row : *strategies) {
    output.Progress("replaying " + std::string(row.name));
    scores.push_back(search::ScoreOf(row, arenas, static_cast<std::uint64_t>(wanted.repeats),
                                     arguments.seed, clock));
    strategy_list.push_back(StrategyJson(scores.back(), arguments.seed, timed));
  }
  output.EndProgress();
  PrintCurve(scores, output);
  PrintScores(scores, arguments.seed, timed, output);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    for (std::size_t j = i + 1; j < scores.size(); ++j) {
      const double level = search::LevelOf(scores[i].scores, scores[j].scores, arguments.seed);
      const bool first = level >= 0.5;
      const std::string& above = scores[first ? i : j].name;
      const std::string& below = scores[first ? j : i].name;
      levels.push_back({{"above", above}, {"below", below}, {"level", std::max(level, 1 - level)}});
      if (wanted.repeats < kFewestForLevels) continue;
      output.Line(above + " is above " + below + " at the level of " +
                  LevelText(std::max(level, 1 - level)));
    }
  }
  if (wanted.repeats < kFewestForLevels && scores.size() > 1) {
    output.Line("repeats are too few to say how sure one is above another: give --repeats " +
                std::to_string(kFewestForLevels) + " or more");
  }
  output.Line("0 is random search, 1 the best point of the space; the mean over the budget");
  output.Document({{"schema", "cupilot.replay/1"},
                   {"repeats", wanted.repeats},
                   {"seed", arguments.seed},
                   {"spaces", std::move(files)},
                   {"strategies", std::move(strategy_list)},
                   {"levels", std::move(levels)}});
  return kDone;
}

}  // namespace cupilot::client
