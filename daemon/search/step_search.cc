#include "search/step_search.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "search/techniques.h"

namespace cupilot::search {
namespace {

using records::Json;

constexpr int kMostSkipped = 1000;  // steps that others asked for, in a row
// Of steps that were measured, before others are named: what is drawn from all values is mostly
// declined or slow, and what is next to winners is tried anyway. (From six on the process of
// Bayesian optimisation could be fitted; with eight the searches of tests/data/search, of 40
// evaluations, are as they were recorded. Nobody measured which is better.)
constexpr int kLeastMeasured = 8;
// Results in a row that bring nothing before a search is given up: for each parameter several.
constexpr int kPatience = 8, kPatienceAParameter = 4;

// The place of a word; nothing: it is none of them.
std::optional<std::int64_t> PlaceOf(const std::vector<std::string>& words, const Json& value) {
  if (!value.is_string()) return std::nullopt;
  const auto found = std::find(words.begin(), words.end(), value.get<std::string>());
  if (found == words.end()) return std::nullopt;
  return found - words.begin();
}

const TechniqueParameter* TechniqueParameterOf(const std::string& technique,
                                               const std::string& name) {
  const Technique* row = FindTechnique(technique);
  return row == nullptr ? nullptr : FindParameter(*row, name);
}

// A name of the space: techniques share names of parameters.
std::string NameOf(std::size_t step, std::string_view parameter) {
  return "s" + std::to_string(step) + "_" + std::string(parameter);
}

// An expression over a technique's parameters with the space's names in their places, and these.
std::pair<std::string, std::set<std::string>> Renamed(std::string_view text, std::size_t step) {
  std::string renamed;
  std::set<std::string> names;
  const auto in_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && in_name(text[end])) ++end;
    const std::string_view word = text.substr(at, std::max<std::size_t>(end - at, 1));
    if (end > at && std::isdigit(static_cast<unsigned char>(word[0])) == 0) {
      renamed += *names.insert(NameOf(step, word)).first;
    } else {
      renamed += word;
    }
    at += word.size();
  }
  return {std::move(renamed), std::move(names)};
}

// What doubling and halving lead to from `known`.
std::vector<std::int64_t> Chain(std::set<std::int64_t> known, const TechniqueParameter& parameter) {
  std::vector<std::int64_t> open(known.begin(), known.end());
  while (!open.empty()) {
    const std::int64_t number = open.back();
    open.pop_back();
    for (const std::int64_t next : TwiceAndHalf(parameter, number)) {
      if (known.insert(next).second) open.push_back(next);
    }
  }
  return {known.begin(), known.end()};
}

// Whether the parameter of this step had other values, and no such steps could be measured.
bool MovesInVain(const std::vector<StepSearch::Result>& known, std::size_t step,
                 const std::string& parameter, const Json& value) {
  bool moved = false;
  for (const StepSearch::Result& result : known) {
    if (result.steps[step].parameters.at(parameter) == value) continue;
    if (result.speedup) return false;
    moved = true;
  }
  return moved;
}

}  // namespace

std::string StepSearch::KeyOf(const Steps& steps) {
  std::string key;
  for (const records::StrategyStep& step : steps) {
    key += step.technique + "(";
    for (const auto& [name, value] : step.parameters.items()) {
      const TechniqueParameter* parameter = TechniqueParameterOf(step.technique, name);
      const bool searched = parameter != nullptr && !parameter->expression;
      key += name + (searched ? "," : "=" + value.dump() + ",");
    }
    key += ");";
  }
  return key;
}

StepSearch::StepSearch(Steps won, double speedup, const std::vector<Opinion>& opinions,
                       const std::vector<Result>& known, std::uint64_t seed,
                       const std::string& strategy)
    : won_(std::move(won)),
      speedup_(speedup),
      numbers_(SpaceFrom(opinions, known), seed, strategy),
      patience_(kPatience + kPatienceAParameter * static_cast<int>(places_.size())) {
  for (const Result& result : known) Know(result, false);
  before_ = numbers_.without_gain();
}

// Those before it began do not count, and neither do they once something was gained.
int StepSearch::WithoutGain() const { return numbers_.without_gain() - before_; }

NumberSpace StepSearch::SpaceFrom(const std::vector<Opinion>& opinions,
                                  const std::vector<Result>& known) {
  NumberSpace space;
  for (std::size_t s = 0; s < won_.size(); ++s) {
    const std::string& technique = won_[s].technique;
    for (const auto& [name, value] : won_[s].parameters.items()) {
      const TechniqueParameter* parameter = TechniqueParameterOf(technique, name);
      if (parameter == nullptr || parameter->expression) continue;
      if (MovesInVain(known, s, name, value)) continue;
      Place place{s, name, WordsOf(*parameter)};
      records::Tunable tunable;
      tunable.name = NameOf(s, name);
      if (!place.words.empty()) {
        const auto word = PlaceOf(place.words, value);
        if (!word) continue;
        tunable.default_value = *word;
        for (std::size_t i = 0; i < place.words.size(); ++i) {
          tunable.values.push_back(static_cast<std::int64_t>(i));
        }
      } else {
        if (!value.is_number_integer()) continue;
        tunable.default_value = value.get<std::int64_t>();
        std::set<std::int64_t> begun = {tunable.default_value};
        for (const Opinion& opinion : opinions) {
          if (opinion.technique != technique) continue;
          for (const Json& parameters : opinion.parameters) {
            const auto found = parameters.find(name);
            if (found != parameters.end() && found->is_number_integer())
              begun.insert(found->get<std::int64_t>());
          }
        }
        tunable.values = Chain(std::move(begun), *parameter);
      }
      names_.push_back(tunable.name);
      places_.push_back(std::move(place));
      space.tunables.push_back(std::move(tunable));
    }
    const Technique* row = FindTechnique(technique);
    if (row == nullptr) continue;
    for (const std::string_view text : row->require) {
      auto [renamed, names] = Renamed(text, s);
      const bool said = std::all_of(names.begin(), names.end(), [this](const std::string& name) {
        return std::find(names_.begin(), names_.end(), name) != names_.end();
      });
      if (said) space.require.push_back(std::move(renamed));
    }
  }
  return space;
}

std::optional<Values> StepSearch::ValuesOf(const Steps& steps) const {
  Values values;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    const Json& value = steps[place.step].parameters.at(place.parameter);
    if (place.words.empty()) {
      if (!value.is_number_integer()) return std::nullopt;
      values.emplace_back(names_[i], value.get<std::int64_t>());
      continue;
    }
    const auto word = PlaceOf(place.words, value);
    if (!word) return std::nullopt;
    values.emplace_back(names_[i], *word);
  }
  // In what is not searched they must be as those that won.
  const Steps same = StepsOf(values);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (same[i].parameters != steps[i].parameters) return std::nullopt;
  }
  return values;
}

Steps StepSearch::StepsOf(const Values& values) const {
  Steps steps = won_;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    Json& value = steps[place.step].parameters[place.parameter];
    if (place.words.empty()) {
      value = values[i].second;
    } else {
      value = place.words[static_cast<std::size_t>(values[i].second)];
    }
  }
  return steps;
}

void StepSearch::Know(const Result& result, bool again) {
  const std::optional<Values> values = ValuesOf(result.steps);
  if (!values) return;
  std::optional<double> speedup = result.speedup;
  if (speedup) *speedup /= speedup_;
  if (again) return numbers_.Correct(*values, speedup);
  measured_ += speedup ? 1 : 0;
  numbers_.Know(*values, speedup, result.built, result.failure);
  before_ = std::min(before_, numbers_.without_gain());
}

bool StepSearch::HasNext(const std::function<bool(const Steps&)>& is_tried) {
  if (ahead_ && !is_tried(*ahead_)) return true;
  ahead_.reset();
  if (measured_ < kLeastMeasured || WithoutGain() >= patience_) return false;
  for (int skipped = 0; skipped < kMostSkipped; ++skipped) {
    const std::optional<Values> values = numbers_.Next();
    if (!values) return false;
    ahead_ = StepsOf(*values);
    // Somebody else asked for these; the result is told when it is there.
    if (!is_tried(*ahead_)) return true;
    ahead_.reset();
  }
  return false;
}

std::optional<Steps> StepSearch::Next(const std::function<bool(const Steps&)>& is_tried) {
  if (!HasNext(is_tried)) return std::nullopt;
  return std::exchange(ahead_, std::nullopt);
}

}  // namespace cupilot::search
