#include "search/t1_space.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "search/measured.h"
#include "search/python_constraint.h"

namespace cupilot::search {
namespace {

using records::Json;

constexpr std::int64_t kLongestRange = 65535;

std::string Trimmed(std::string text) {
  const auto space = [](unsigned char c) { return std::isspace(c) != 0; };
  while (!text.empty() && space(text.back())) text.pop_back();
  text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), space));
  return text;
}

// What stands between, or nothing.
std::optional<std::string> Between(const std::string& text, std::string_view begin,
                                   std::string_view end) {
  if (text.size() < begin.size() + end.size() || !text.starts_with(begin) || !text.ends_with(end)) {
    return std::nullopt;
  }
  return Trimmed(text.substr(begin.size(), text.size() - begin.size() - end.size()));
}

// The parts between commas that are in no bracket and no text.
std::vector<std::string> Parts(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0) {
      depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
      if (c == ',' && depth == 0) {
        parts.emplace_back();
        continue;
      }
    }
    parts.back() += c;
  }
  for (std::string& part : parts) part = Trimmed(part);
  if (parts.back().empty()) parts.pop_back();
  return parts;
}

base::Result<std::vector<std::int64_t>> RangeOf(const std::string& arguments) {
  std::vector<std::int64_t> bounds;
  for (const std::string& part : Parts(arguments)) {
    TRY_ASSIGN(const std::int64_t bound, PythonConstant(part));
    bounds.push_back(bound);
  }
  if (bounds.size() == 1) bounds.insert(bounds.begin(), 0);
  if (bounds.size() == 2) bounds.push_back(1);
  if (bounds.size() != 3 || bounds[2] == 0) {
    return base::Fail(base::InvalidArgument("range(" + arguments + ") is not understood"));
  }
  std::vector<std::int64_t> values;
  for (std::int64_t value = bounds[0]; bounds[2] > 0 ? value < bounds[1] : value > bounds[1];) {
    values.push_back(value);
    if (__builtin_add_overflow(value, bounds[2], &value)) break;
    if (static_cast<std::int64_t>(values.size()) > kLongestRange) {
      return base::Fail(base::InvalidArgument("range(" + arguments + "): too many values"));
    }
  }
  return values;
}

bool IsOfName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The name, wherever it is a word, in brackets as the number.
std::string Substituted(const std::string& text, const std::string& name, std::int64_t number) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && IsOfName(text[end])) ++end;
    if (end == i) {
      out += text[i++];
      continue;
    }
    const std::string word = text.substr(i, end - i);
    out += word == name ? "(" + std::to_string(number) + ")" : word;
    i = end;
  }
  return out;
}

base::Result<Json> ElementOf(const std::string& text) {
  if (const auto inner = Between(text, "'", "'"); inner) return Json(*inner);
  if (const auto inner = Between(text, "\"", "\""); inner) return Json(*inner);
  if (text == "True" || text == "False") return Json(text == "True" ? 1 : 0);
  if (auto whole = PythonConstant(text)) return Json(*whole);
  Json number = Json::parse(text, nullptr, false);
  if (number.is_number()) return number;
  return base::Fail(base::InvalidArgument("'" + text + "' is no value that is understood"));
}

// "[1, 2, 4]", "range(1, 9)", "list(range(1, 9))", "[2**i for i in range(5)]", "['a', 'b']"
base::Result<std::vector<Json>> ListedValues(const Json& json) {
  if (json.is_array()) return json.get<std::vector<Json>>();
  if (!json.is_string()) return base::Fail(base::InvalidArgument("expected a list, as a text"));
  std::string text = Trimmed(json.get<std::string>());
  if (const auto inner = Between(text, "list(", ")")) text = *inner;
  std::vector<Json> values;
  if (const auto arguments = Between(text, "range(", ")")) {
    TRY_ASSIGN(const auto range, RangeOf(*arguments));
    for (const std::int64_t value : range) values.emplace_back(value);
    return values;
  }
  auto list = Between(text, "[", "]");
  if (!list) list = Between(text, "(", ")");
  if (!list) {
    return base::Fail(base::InvalidArgument("'" + text + "' is no list that is understood"));
  }
  const std::size_t each = list->find(" for "), in = list->find(" in ");
  if (each != std::string::npos && in != std::string::npos && in > each) {
    const std::string name = Trimmed(list->substr(each + 5, in - each - 5));
    const auto arguments = Between(Trimmed(list->substr(in + 4)), "range(", ")");
    if (!arguments) {
      return base::Fail(base::InvalidArgument("'" + text + "': only a range is understood here"));
    }
    TRY_ASSIGN(const auto range, RangeOf(*arguments));
    for (const std::int64_t value : range) {
      TRY_ASSIGN(const std::int64_t element,
                 PythonConstant(Substituted(list->substr(0, each), name, value)));
      values.emplace_back(element);
    }
    return values;
  }
  for (const std::string& part : Parts(*list)) {
    TRY_ASSIGN(Json value, ElementOf(part));
    values.push_back(std::move(value));
  }
  return values;
}

ParameterKind KindOf(const std::vector<std::int64_t>& values) {
  const bool flags = std::all_of(values.begin(), values.end(),
                                 [](std::int64_t value) { return value == 0 || value == 1; });
  if (flags && values.size() == 2) return ParameterKind::kBoolean;
  bool doubles = values.size() > 2 && values.front() > 0;
  for (std::size_t i = 1; doubles && i < values.size(); ++i) {
    doubles = values[i - 1] <= values[i] / 2 && values[i] == values[i - 1] * 2;
  }
  return doubles ? ParameterKind::kPower : ParameterKind::kNumber;
}

const Json& Member(const Json& json, const char* key) {
  static const Json kNull;
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() ? *found : kNull;
}

}  // namespace

base::Result<SpaceParameter> ParameterOf(const std::string& name, const std::vector<Json>& values,
                                         const Json& standard) {
  SpaceParameter parameter;
  parameter.name = name;
  const auto beyond = std::find_if(values.begin(), values.end(), [](const Json& value) {
    return value.is_number_integer() && !WholeNumberOf(value);
  });
  if (beyond != values.end()) {
    return base::Fail(base::InvalidArgument("parameter '" + name +
                                            "': " + records::CompactJson(*beyond) +
                                            " is no number of at most 64 bits"));
  }
  const bool whole = std::all_of(values.begin(), values.end(), [](const Json& value) {
    return WholeNumberOf(value).has_value();
  });
  for (const Json& value : values) {
    if (whole) {
      const std::int64_t number = *WholeNumberOf(value);
      auto& all = parameter.values;
      if (std::find(all.begin(), all.end(), number) == all.end()) all.push_back(number);
      continue;
    }
    std::string text = value.is_string() ? value.get<std::string>() : records::CompactJson(value);
    auto& all = parameter.texts;
    if (PlaceOf(parameter, value)) continue;
    parameter.values.push_back(static_cast<std::int64_t>(all.size()));
    all.push_back(std::move(text));
  }
  if (parameter.values.empty()) {
    return base::Fail(base::InvalidArgument("parameter '" + name + "': no values"));
  }
  parameter.standard = parameter.values.front();
  if (whole)
    std::sort(parameter.values.begin(), parameter.values.end());  // neighbours are adjacent
  parameter.kind = whole ? KindOf(parameter.values) : ParameterKind::kCategory;
  if (!standard.is_null()) {
    const auto place = PlaceOf(parameter, standard);
    if (!place) {
      return base::Fail(base::InvalidArgument("parameter '" + name + "': its default, " +
                                              records::CompactJson(standard) +
                                              ", is none of its values"));
    }
    parameter.standard = parameter.values[*place];
  }
  return parameter;
}

bool IsT1(const Json& json) {
  return Member(Member(json, "ConfigurationSpace"), "TuningParameters").is_array();
}

base::Result<SpaceDescription> ReadSpaceDescription(const Json& json) {
  SpaceDescription out;
  if (records::TextAt(json, "schema") == SpaceFile::kSchema) {
    TRY_ASSIGN(out.space, ParseSpaceFile(json));
    return out;
  }
  if (!IsT1(json)) {
    return base::Fail(base::InvalidArgument(
        "this describes no space: neither T1 (ConfigurationSpace) nor cupilot.space/1"));
  }
  const Json& space = Member(json, "ConfigurationSpace");
  for (const Json& row : Member(space, "TuningParameters")) {
    const std::string name = records::TextAt(row, "Name");
    if (name.empty()) return base::Fail(base::InvalidArgument("a parameter without a name"));
    auto values = ListedValues(Member(row, "Values"));
    if (!values) return base::Fail(values.error().In("parameter '" + name + "'"));
    TRY_ASSIGN(SpaceParameter parameter, ParameterOf(name, *values, Member(row, "Default")));
    out.space.parameters.push_back(std::move(parameter));
  }
  for (const Json& row : Member(space, "Conditions")) {
    const std::string text =
        row.is_string() ? row.get<std::string>() : records::TextAt(row, "Expression");
    auto require = FromPython(text, out.space.parameters);
    if (require) {
      out.space.require.push_back(std::move(*require));
    } else if (require.error().code == base::ErrorCode::kUnsupported) {
      out.untold.push_back("constraint '" + text + "': " + require.error().message);
    } else {
      return base::Fail(require.error().In("constraint '" + text + "'"));
    }
  }
  return out;
}

}  // namespace cupilot::search
