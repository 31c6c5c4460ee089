#include "agents/roles/strategist.h"

#include <algorithm>
#include <set>
#include <utility>

#include "agents/roles/answer.h"
#include "agents/roles/prompt.h"
#include "agents/roles/request.h"
#include "agents/roles/strategy_answer.h"
#include "agents/roles/variant_answer.h"

namespace cupilot::agents {
namespace {

using records::Json;

constexpr std::int64_t kStrategistTokens = 12000;
constexpr std::size_t kMostShownLists = 24 * 1024;
constexpr std::size_t kMostParentsShown = 8, kMostFailedShown = 16, kMostExamplesShown = 6;
constexpr std::size_t kMostWhy = 300;    // bytes, of a reason
constexpr std::size_t kMostAbout = 600;  // of what an example was seen on

constexpr const char* kStrategiesForm = R"({"strategies": [
  {"title": "a short name for the whole",
   "parents": ["P1"],
   "bottleneck": "latency",
   "steps": [
     {"technique": "unrolling",
      "parameters": [{"name": "factor", "value": 4}],
      "rationale": "what the step changes in this kernel, and which cost that removes",
      "expected_gain": 1.3}]}]})";

const Json& StrategiesSchema() {
  static const auto& schema = *new Json{
      {"type", "object"},
      {"additionalProperties", false},
      {"required", {"strategies"}},
      {"properties",
       {{"strategies",
         {{"type", "array"},
          {"minItems", 1},
          {"maxItems", kMostStrategies},
          {"items",
           {{"type", "object"},
            {"additionalProperties", false},
            {"required", {"title", "bottleneck", "steps"}},
            {"properties",
             {{"title", {{"type", "string"}, {"minLength", 1}, {"maxLength", 200}}},
              {"parents",
               {{"type", "array"},
                {"maxItems", 4},
                {"items", {{"type", "string"}, {"maxLength", 16}}}}},
              {"bottleneck",
               {{"type", "string"},
                {"enum",
                 {"dram", "l2", "shared", "fp32", "tensor", "latency", "occupancy", "launch"}}}},
              {"steps", StepsSchema()}}}}}}}}}};
  return schema;
}

std::string Label(std::size_t parent) { return "P" + std::to_string(parent + 1); }

std::string ParentsText(const StrategistInputs& inputs) {
  std::string text;
  for (std::size_t i = 0; i < std::min(inputs.parents.size(), kMostParentsShown); ++i) {
    const MeasuredStrategy& parent = inputs.parents[i];
    text += Label(i) + ": " + StrategyText(parent.strategy) + "  Result: ";
    text += parent.reason.empty() ? "accepted"
                                  : "not accepted (" + ShortReason(parent.reason, 200) + ")";
    if (parent.speedup)
      text += ", " + FactorText(*parent.speedup) + " times as fast as the original";
    if (!parent.bound.empty()) text += "; what holds it back now: " + OneLine(parent.bound);
    text += "\n";
  }
  return text;
}

std::string FailedText(const StrategistInputs& inputs) {
  std::string text;
  for (std::size_t i = 0; i < std::min(inputs.failed.size(), kMostFailedShown); ++i) {
    const FailedIdea& idea = inputs.failed[i];
    text += OneLine(idea.technique) + ": " + ShortReason(idea.why, kMostWhy) + "\n";
  }
  return text;
}

std::string ExamplesText(const StrategistInputs& inputs) {
  std::string text;
  for (std::size_t i = 0; i < std::min(inputs.examples.size(), kMostExamplesShown); ++i) {
    const StrategyExample& example = inputs.examples[i];
    text += StrategyText(example.strategy) + "  Where: " + ShortReason(example.about, kMostAbout) +
            "\n  Result: ";
    if (!example.why.empty()) {
      text += "failed, " + ShortReason(example.why, kMostWhy);
    } else {
      text += example.gain > 0 ? FactorText(example.gain) + " times as fast"
                               : "said to help, without a figure";
    }
    text += "\n";
  }
  return text;
}

std::string IfSaid(const char* name, const std::string& text) {
  return text.empty() ? text : AsData(name, text, kMostShownLists);
}

// The places of its parents, or a label that is none.
Answer<std::vector<std::size_t>> ReadParents(const Json& labels, const StrategistInputs& inputs,
                                             const std::string& path) {
  std::vector<std::size_t> parents;
  const std::size_t shown = std::min(inputs.parents.size(), kMostParentsShown);
  for (const Json& label : labels) {
    std::size_t at = 0;
    while (at < shown && label != Label(at)) ++at;
    if (at == shown) {
      return Complain(path + ": there is no strategy '" + label.get<std::string>() + "'");
    }
    if (std::find(parents.begin(), parents.end(), at) == parents.end()) parents.push_back(at);
  }
  return parents;
}

// What makes two strategies the same for the search.
Json Essence(const records::Strategy& strategy) {
  Json essence = Json::array();
  for (const records::StrategyStep& step : strategy.steps) {
    essence.push_back({step.technique, step.parameters});
  }
  return essence;
}

std::string WhyNotOneStep(const ProposedStrategy& proposed, const StrategistInputs& inputs,
                          const std::string& path) {
  const auto& steps = proposed.strategy.steps;
  if (proposed.parents.empty()) {
    if (steps.size() <= static_cast<std::size_t>(inputs.most_first)) return {};
    return path + ".steps: a strategy without parents has at most " +
           std::to_string(inputs.most_first) + " steps";
  }
  std::set<std::string> known, fresh;
  for (const std::size_t parent : proposed.parents) {
    const records::Strategy& strategy = inputs.parents[parent].strategy;
    for (const records::StrategyStep& step : strategy.steps) known.insert(step.technique);
    if (Essence(strategy) == Essence(proposed.strategy)) {
      return path + ": is the same as " + Label(parent);
    }
  }
  for (const records::StrategyStep& step : steps) {
    if (!known.contains(step.technique)) fresh.insert(step.technique);
  }
  if (fresh.size() <= static_cast<std::size_t>(inputs.most_new)) return {};
  return path + ".steps: brings " + std::to_string(fresh.size()) +
         " techniques that none of its parents has, and at most " +
         std::to_string(inputs.most_new) + " is allowed";
}

Answer<ProposedStrategy> ReadOne(const Json& json, const StrategistInputs& inputs,
                                 const std::string& path) {
  ProposedStrategy proposed;
  proposed.strategy.title = OneLine(json["title"].get<std::string>());
  proposed.strategy.bottleneck = json["bottleneck"].get<std::string>();
  auto steps = ReadSteps(json["steps"], inputs.techniques, path + ".steps");
  if (!steps) return tl::unexpected(steps.error());
  proposed.strategy.steps = std::move(*steps);
  if (proposed.strategy.steps.empty()) return Complain(path + ".steps: is empty");
  auto parents = ReadParents(json.value("parents", Json::array()), inputs, path + ".parents");
  if (!parents) return tl::unexpected(parents.error());
  proposed.parents = std::move(*parents);
  if (std::string why = WhyNotOneStep(proposed, inputs, path); !why.empty()) {
    return Complain(std::move(why));
  }
  return proposed;
}

}  // namespace

Json StrategistData(const StrategistInputs& inputs) {
  Json data = BriefData(inputs.brief);
  data["techniques"] = TechniquesText(inputs.techniques);
  data["parents"] = IfSaid("strategies", ParentsText(inputs));
  data["failed"] = IfSaid("failed_ideas", FailedText(inputs));
  data["examples"] = IfSaid("examples", ExamplesText(inputs));
  data["count"] = std::to_string(std::clamp(inputs.count, 1, kMostStrategies));
  data["most_new"] = std::to_string(inputs.most_new);
  data["most_first"] = std::to_string(inputs.most_first);
  data["answer_form"] = kStrategiesForm;
  return data;
}

ModelRequest StrategistRequest(const StrategistInputs& inputs, const RoleSettings& settings) {
  return MakeRequest({"strategist.v1", kStrategistTokens, "cupilot_strategies_1",
                      StrategiesSchema(), inputs.brief.kernel.key},
                     StrategistData(inputs), settings);
}

Answer<std::vector<ProposedStrategy>> ReadStrategies(const std::string& text,
                                                     const StrategistInputs& inputs) {
  Answer<Json> document = FindDocument(text, StrategiesSchema());
  if (!document) return tl::unexpected(document.error());
  const Json& strategies = (*document)["strategies"];
  const auto most = static_cast<std::size_t>(std::clamp(inputs.count, 1, kMostStrategies));
  std::vector<ProposedStrategy> read;
  std::set<std::string> seen;
  std::string wrong;
  for (std::size_t i = 0; i < strategies.size() && read.size() < most; ++i) {
    auto one = ReadOne(strategies[i], inputs, "strategies[" + std::to_string(i) + "]");
    if (!one) {
      if (wrong.empty()) wrong = one.error().message;
    } else if (seen.insert(Essence(one->strategy).dump()).second) {
      read.push_back(std::move(*one));
    }
  }
  // Some that can be used are worth more than asking again for the others.
  if (read.empty()) return Complain(std::move(wrong));
  return read;
}

}  // namespace cupilot::agents
