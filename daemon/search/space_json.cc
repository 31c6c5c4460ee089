#include "search/space_json.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "records/reader.h"

namespace cupilot::search {
namespace {

using records::Json;

constexpr std::array<std::pair<std::string_view, ParameterKind>, 5> kParameterKinds = {{
    {"number", ParameterKind::kNumber},
    {"power", ParameterKind::kPower},
    {"boolean", ParameterKind::kBoolean},
    {"category", ParameterKind::kCategory},
    {"order", ParameterKind::kOrder},
}};
constexpr std::size_t kMostOrdered = 7;
constexpr std::size_t kMostOrders = 5040;  // those of seven

const char* NameOfKind(ParameterKind kind) {
  const auto found = std::find_if(kParameterKinds.begin(), kParameterKinds.end(),
                                  [kind](const auto& row) { return row.second == kind; });
  return found->first.data();
}

// All orders of the texts, each as often as `times` says, joined: "ijk", "ikj", ...
void AddOrders(const std::vector<std::string>& of, const std::vector<std::int64_t>& times,
               std::vector<std::string>& orders) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < of.size(); ++i) {
    places.insert(places.end(), static_cast<std::size_t>(times[i]), i);
  }
  do {
    if (orders.size() > kMostOrders) return;
    orders.emplace_back();
    for (const std::size_t place : places) orders.back() += of[place];
  } while (std::next_permutation(places.begin(), places.end()));
}

// `blocks`: how often a text may stand in an order; once, where nothing is said. Those in which
// none is twice come first.
std::vector<std::string> OrdersOf(const std::vector<std::string>& of,
                                  const std::map<std::string, std::int64_t>& blocks) {
  std::vector<std::string> orders;
  std::vector<std::int64_t> times(of.size(), 1);
  const auto most = [&](std::size_t i) {
    const auto found = blocks.find(of[i]);
    return found == blocks.end() ? 1 : found->second;
  };
  std::size_t next = 0;
  while (next < of.size()) {
    AddOrders(of, times, orders);
    // Counts up, as the digits of a number.
    for (next = 0; next < of.size() && times[next] == most(next); ++next) times[next] = 1;
    if (next < of.size()) ++times[next];
  }
  return orders;
}

void SetTexts(std::vector<std::string> texts, SpaceParameter& out) {
  out.texts = std::move(texts);
  out.values.resize(out.texts.size());
  std::iota(out.values.begin(), out.values.end(), std::int64_t{0});
}

// A number, or the place of a text.
void ReadStandard(const Json& json, const std::string& path, SpaceParameter& out,
                  records::Reading& reading) {
  if (json.is_number_integer()) {
    out.standard = json.get<std::int64_t>();
    return;
  }
  const auto found = json.is_string()
                         ? std::find(out.texts.begin(), out.texts.end(), json.get<std::string>())
                         : out.texts.end();
  if (found == out.texts.end()) return reading.Fail(path, "none of the values");
  out.standard = found - out.texts.begin();
}

}  // namespace

// NOLINTNEXTLINE(misc-use-internal-linkage): found by the reader through its argument
void Read(const Json& json, const std::string& path, SpaceParameter& out,
          records::Reading& reading) {
  records::ObjectReader object(json, path, reading);
  std::string kind = "number";
  std::vector<Json> values;
  std::vector<std::string> of;
  std::map<std::string, std::int64_t> blocks;
  Json standard;
  object.Required("name", out.name)
      .Optional("kind", kind)
      .Optional("values", values)
      .Optional("of", of)
      .Optional("blocks", blocks)
      .Optional("standard", standard)
      .Optional("when", out.when)
      .Finish();
  const auto known = std::find_if(kParameterKinds.begin(), kParameterKinds.end(),
                                  [&](const auto& row) { return row.first == kind; });
  if (known == kParameterKinds.end()) {
    return reading.Fail(
        records::Join(path, "kind"),
        "unknown kind '" + kind + "'; one of number, power, boolean, category, order");
  }
  out.kind = known->second;
  if (out.kind == ParameterKind::kOrder && values.empty()) {
    if (of.size() < 2 || of.size() > kMostOrdered) {
      return reading.Fail(records::Join(path, "of"),
                          "2 to " + std::to_string(kMostOrdered) + " names are ordered");
    }
    for (const auto& [name, most] : blocks) {
      if (most >= 1 && most <= static_cast<std::int64_t>(kMostOrdered) &&
          std::find(of.begin(), of.end(), name) != of.end()) {
        continue;
      }
      return reading.Fail(records::Join(records::Join(path, "blocks"), name),
                          "how often one of those in 'of' may stand in an order: 1 to " +
                              std::to_string(kMostOrdered));
    }
    SetTexts(OrdersOf(of, blocks), out);
    if (out.texts.size() > kMostOrders) {
      return reading.Fail(records::Join(path, "blocks"),
                          "more than " + std::to_string(kMostOrders) + " orders");
    }
  } else if (out.kind == ParameterKind::kBoolean && values.empty()) {
    out.values = {0, 1};
  } else if (!values.empty() && values.front().is_string()) {
    std::vector<std::string> texts;
    texts.reserve(values.size());
    for (const Json& value : values) {
      texts.push_back(value.is_string() ? value.get<std::string>() : value.dump());
    }
    if (out.kind != ParameterKind::kOrder) out.kind = ParameterKind::kCategory;
    SetTexts(std::move(texts), out);
  } else {
    for (std::size_t i = 0; i < values.size(); ++i) {
      out.values.emplace_back();
      records::Read(values[i], records::Join(records::Join(path, "values"), i), out.values.back(),
                    reading);
    }
  }
  out.standard = out.values.empty() ? 0 : out.values.front();
  if (!standard.is_null()) {
    ReadStandard(standard, records::Join(path, "standard"), out, reading);
  }
}

namespace {

void ReadLaunch(const Json& json, SpaceFile& out, records::Reading& reading) {
  records::ObjectReader object(json, "launch", reading);
  object.Required("grid", out.grid)
      .Required("block", out.block)
      .Optional("shared_bytes", out.shared_bytes)
      .Finish();
  for (const auto* const dimensions : {&out.grid, &out.block}) {
    if (!dimensions->empty() && dimensions->size() <= 3) continue;
    reading.Fail("launch", "grid and block have one to three expressions each");
  }
}

Json LaunchJson(const SpaceFile& file) {
  Json launch = {{"grid", file.grid}, {"block", file.block}};
  if (!file.shared_bytes.empty()) launch["shared_bytes"] = file.shared_bytes;
  return launch;
}

}  // namespace

base::Result<SpaceFile> ParseSpaceFile(const Json& json) {
  SpaceFile out;
  Json launch;
  std::map<std::string, std::int64_t> constants;
  records::Reading reading(records::Strictness::kStrict);
  records::ObjectReader object(json, "", reading);
  object.Schema(SpaceFile::kSchema)
      .Required("parameters", out.parameters)
      .Optional("require", out.require)
      .Optional("constants", constants)
      .Optional("launch", launch)
      .Finish();
  if (!launch.is_null()) ReadLaunch(launch, out, reading);
  if (!reading.ok()) return base::Fail(*reading.error());
  for (const auto& [name, value] : constants) out.constants.integers[name] = value;
  return out;
}

Json ToJson(const SpaceFile& file) {
  Json parameters = Json::array();
  for (const SpaceParameter& parameter : file.parameters) {
    Json row = {{"name", parameter.name}, {"kind", NameOfKind(parameter.kind)}};
    if (parameter.texts.empty()) {
      row["values"] = parameter.values;
      row["standard"] = parameter.standard;
    } else {
      row["values"] = parameter.texts;
      row["standard"] = parameter.texts[static_cast<std::size_t>(parameter.standard)];
    }
    if (!parameter.when.empty()) row["when"] = parameter.when;
    parameters.push_back(std::move(row));
  }
  Json constants = Json::object();
  for (const auto& [name, value] : file.constants.integers) constants[name] = value;
  Json json = {{"schema", SpaceFile::kSchema},
               {"constants", std::move(constants)},
               {"parameters", std::move(parameters)},
               {"require", file.require}};
  if (!file.block.empty()) json["launch"] = LaunchJson(file);
  return json;
}

}  // namespace cupilot::search
