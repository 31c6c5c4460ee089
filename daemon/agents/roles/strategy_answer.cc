#include "agents/roles/strategy_answer.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "agents/roles/plain_text.h"
#include "agents/roles/variant_answer.h"

namespace cupilot::agents {
namespace {

using records::Json;
using records::StrategyStep;

constexpr double kLeastGain = 1, kMostGain = 4;
constexpr std::size_t kMostTechniqueName = 48;

const TechniqueRow* RowOf(std::span<const TechniqueRow> techniques, const std::string& name) {
  for (const TechniqueRow& row : techniques) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

// "Double buffering" -> "double_buffering".
std::string SnakeCase(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && std::isalnum(byte) != 0) {
      name += static_cast<char>(std::tolower(byte));
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  if (name.size() > kMostTechniqueName) name.resize(kMostTechniqueName);
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name.empty() ? "unnamed" : name;
}

std::string OtherName(std::string_view text) {
  constexpr std::string_view kOther = "other:";
  if (text.starts_with(kOther)) text.remove_prefix(kOther.size());
  return std::string(kOther) + SnakeCase(text);
}

bool HasChoice(std::string_view choices, std::string_view word) {
  while (!choices.empty()) {
    const std::size_t end = choices.find('|');
    if (choices.substr(0, end) == word) return true;
    if (end == std::string_view::npos) return false;
    choices.remove_prefix(end + 1);
  }
  return false;
}

std::string RangeOf(const TechniqueParameterRow& row) {
  if (row.expression) return "a launch expression";
  if (!row.choices.empty()) return row.choices;
  return std::to_string(row.low) + " to " + std::to_string(row.high);
}

bool IsInRange(const TechniqueParameterRow& row, const Json& value) {
  if (row.expression) return value.is_string();
  if (!row.choices.empty()) {
    return value.is_string() && HasChoice(row.choices, value.get_ref<const std::string&>());
  }
  if (!value.is_number_integer()) return false;
  const auto number = value.get<std::int64_t>();
  return number >= row.low && number <= row.high;
}

Answer<Json> ReadParameters(const Json& step, const TechniqueRow* row, const std::string& path) {
  Json parameters = Json::object();
  const auto given = step.find("parameters");
  if (given == step.end()) return parameters;
  for (std::size_t i = 0; i < given->size(); ++i) {
    const Json& parameter = (*given)[i];
    const auto& name = parameter["name"].get_ref<const std::string&>();
    const Json& value = parameter["value"];
    if (row != nullptr) {
      const auto known = std::find_if(row->parameters.begin(), row->parameters.end(),
                                      [&](const auto& one) { return one.name == name; });
      const std::string where = path + ".parameters[" + std::to_string(i) + "]";
      if (known == row->parameters.end()) {
        return Complain(where + ".name: " + row->name + " has no parameter '" + name + "'");
      }
      if (!IsInRange(*known, value)) {
        return Complain(where + ".value: of " + name + ", expected " + RangeOf(*known));
      }
    }
    parameters[name] = value;
  }
  return parameters;
}

StrategyStep WithoutParameters(const Json& json) {
  StrategyStep step;
  step.rationale = OneLine(json.value("rationale", std::string()));
  const double gain = json.value("expected_gain", kLeastGain);
  step.expected_gain = std::isfinite(gain) ? std::clamp(gain, kLeastGain, kMostGain) : kLeastGain;
  return step;
}

}  // namespace

std::string OneLine(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return text;
}

std::string ShortReason(const std::string& said, std::size_t most) {
  const std::string text = WithRoundedNumbers(WithoutFolders(said));
  if (text.size() <= most) return OneLine(text);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return OneLine(text.substr(0, end)) + " ...";
}

const Json& StepsSchema() {
  static const auto& schema = *new Json{
      {"type", "array"},
      {"maxItems", kMostSteps},
      {"items",
       {{"type", "object"},
        {"additionalProperties", false},
        {"required", {"technique", "rationale"}},
        {"properties",
         {{"technique", {{"type", "string"}, {"minLength", 1}, {"maxLength", 64}}},
          {"parameters",
           {{"type", "array"},
            {"maxItems", 12},
            {"items",
             {{"type", "object"},
              {"additionalProperties", false},
              {"required", {"name", "value"}},
              {"properties",
               {{"name", {{"type", "string"}, {"minLength", 1}, {"maxLength", 48}}},
                {"value",
                 {{"anyOf",
                   {{{"type", "integer"}}, {{"type", "string"}, {"maxLength", 256}}}}}}}}}}}},
          {"rationale", {{"type", "string"}, {"maxLength", 1200}}},
          {"expected_gain", {{"type", "number"}}}}}}}};
  return schema;
}

Answer<std::vector<StrategyStep>> ReadSteps(const Json& steps,
                                            std::span<const TechniqueRow> techniques,
                                            const std::string& path) {
  std::vector<StrategyStep> read;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    StrategyStep step = WithoutParameters(steps[i]);
    const auto& name = steps[i]["technique"].get_ref<const std::string&>();
    const TechniqueRow* row = RowOf(techniques, name);
    step.technique = row != nullptr ? name : OtherName(name);
    Answer<Json> parameters = ReadParameters(steps[i], row, path + "[" + std::to_string(i) + "]");
    if (!parameters) return tl::unexpected(parameters.error());
    step.parameters = std::move(*parameters);
    read.push_back(std::move(step));
  }
  return read;
}

std::vector<StrategyStep> ReadWords(const Json& steps) {
  std::vector<StrategyStep> read;
  for (const Json& json : steps) {
    StrategyStep step = WithoutParameters(json);
    const auto& name = json["technique"].get_ref<const std::string&>();
    step.technique = name.starts_with("other:") ? OtherName(name) : SnakeCase(name);
    if (Answer<Json> parameters = ReadParameters(json, nullptr, {})) {
      step.parameters = std::move(*parameters);
    }
    read.push_back(std::move(step));
  }
  return read;
}

std::string FactorText(double factor) { return Rounded(factor); }

std::string StrategyText(const records::Strategy& strategy) {
  std::string text = OneLine(strategy.title);
  if (!strategy.bottleneck.empty()) text += " (answers " + OneLine(strategy.bottleneck) + ")";
  text += "\n";
  for (std::size_t i = 0; i < strategy.steps.size(); ++i) {
    const StrategyStep& step = strategy.steps[i];
    text += "  " + std::to_string(i + 1) + ". " + OneLine(step.technique);
    std::string parameters;
    for (const auto& [name, value] : step.parameters.items()) {
      parameters += (parameters.empty() ? "" : ", ") + OneLine(name) + " = " +
                    (value.is_string() ? OneLine(value.get<std::string>()) : value.dump());
    }
    if (!parameters.empty()) text += " (" + parameters + ")";
    if (!step.rationale.empty()) text += ": " + OneLine(step.rationale);
    text += "\n";
  }
  return text;
}

std::string TechniquesText(std::span<const TechniqueRow> techniques) {
  std::string text;
  for (const TechniqueRow& row : techniques) {
    text += "- `" + row.name + "` (answers " + row.bottlenecks + "): " + row.what;
    if (row.prior > 0) text += " On kernels like this it gained " + FactorText(row.prior) + ".";
    std::string parameters;
    for (const TechniqueParameterRow& parameter : row.parameters) {
      parameters += (parameters.empty() ? "" : "; ") + parameter.name + " (" + parameter.what +
                    ": " + RangeOf(parameter) + ")";
    }
    if (!parameters.empty()) text += " Parameters: " + parameters + ".";
    text += "\n";
  }
  return text;
}

}  // namespace cupilot::agents
