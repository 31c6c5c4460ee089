#include "records/variant.h"

#include <set>

#include "records/expression.h"
#include "records/read_parts.h"
#include "records/reader.h"
#include "records/source_text.h"

namespace cupilot::records {
namespace {

constexpr std::size_t kNamespaceDigits = 16;

// An optional expression under a key.
void ReadExpressionOf(ObjectReader& object, const char* key, std::string& out) {
  const Json* value = object.Find(key);
  if (value != nullptr) ReadExpression(*value, object.PathOf(key), out, object.reading());
}

void ReadThreeOf(ObjectReader& object, const char* key, std::vector<std::string>& out) {
  const Json* value = object.Find(key);
  if (value != nullptr) ReadThree(*value, object.PathOf(key), out, object.reading());
}

// A name, or {"type", "value"} with an expression.
void CheckArgument(const Json& json, const std::string& path, Reading& reading) {
  if (json.is_string()) {
    if (json.get_ref<const std::string&>().empty()) reading.Fail(path, "is empty");
    return;
  }
  if (!json.is_object()) {
    return reading.Fail(path, Expected("a name or {\"type\", \"value\"}", json));
  }
  ObjectReader object(json, path, reading);
  std::string type;
  object.Required("type", type);
  std::string value;
  ReadExpressionOf(object, "value", value);
  if (value.empty()) object.Fail("value", "missing");
  object.Finish();
}

void ReadRepeat(ObjectReader& object, Launch& out) {
  const Json* value = object.Find("repeat");
  if (value == nullptr) return;
  std::pair<std::string, std::string> repeat;
  ObjectReader inner(*value, object.PathOf("repeat"), object.reading());
  ReadExpressionOf(inner, "count", repeat.first);
  inner.Required("index", repeat.second);
  if (repeat.first.empty()) inner.Fail("count", "missing");
  inner.Finish();
  out.repeat = std::move(repeat);
}

void ReadFill(ObjectReader& object, Launch& out) {
  object.Required("fill", out.fill).Optional("byte", out.byte);
  ReadExpressionOf(object, "bytes", out.bytes);
  ReadExpressionOf(object, "when", out.when);
  if (object.strict() && out.bytes.empty()) object.Fail("bytes", "missing");
  if (out.byte < 0 || out.byte > 255) object.Fail("byte", "must be 0 to 255");
  object.Finish();
}

void CheckScalar(const Json& json, const std::string& path, Reading& reading) {
  if (!json.is_number() && !json.is_string() && !json.is_boolean()) {
    reading.Fail(path, Expected("a number, string or boolean", json));
  }
}

// A macro's name, since values of tunables become #define lines.
bool IsIdentifier(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  for (const char c : name) {
    const bool part =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!part) return false;
  }
  return true;
}

void CheckTunables(const Variant& variant, ObjectReader& object) {
  const auto at = [&object](const char* key, const std::string& name) {
    return Join(object.PathOf(key), name);
  };
  for (const auto& [name, values] : variant.tunables) {
    if (!IsIdentifier(name)) object.reading().Fail(at("tunables", name), "not an identifier");
    for (std::size_t i = 0; i < values.size(); ++i) {
      CheckScalar(values[i], Join(at("tunables", name), i), object.reading());
    }
  }
  for (const auto& [name, value] : variant.values) {
    if (!IsIdentifier(name)) object.reading().Fail(at("values", name), "not an identifier");
    CheckScalar(value, at("values", name), object.reading());
  }
  for (std::size_t i = 0; i < variant.require.size(); ++i) {
    const auto parsed = Expression::Parse(variant.require[i]);
    if (!parsed) {
      object.reading().Fail(Join(object.PathOf("require"), i), parsed.error().message);
    }
  }
}

void CheckVariant(const Variant& variant, ObjectReader& object) {
  if (variant.kernel.empty()) object.Fail("kernel", "is empty");
  if (variant.launches.empty() && variant.entry.empty()) {
    object.Fail("launches", "missing; a variant has launches, or an entry");
  }
  if (!variant.launches.empty() && !variant.entry.empty()) {
    object.Fail("entry", "only a variant without launches has an entry");
  }
  std::set<std::string> workspaces;
  for (std::size_t i = 0; i < variant.workspace.size(); ++i) {
    if (workspaces.insert(variant.workspace[i].name).second) continue;
    object.reading().Fail(Join(Join(object.PathOf("workspace"), i), "name"),
                          "two workspaces are called '" + variant.workspace[i].name + "'");
  }
  for (std::size_t i = 0; i < variant.launches.size(); ++i) {
    const std::string& fill = variant.launches[i].fill;
    if (fill.empty() || workspaces.contains(fill)) continue;
    object.reading().Fail(Join(Join(object.PathOf("launches"), i), "fill"),
                          "no workspace '" + fill + "'");
  }
  CheckTunables(variant, object);
}

// Of the document as it was written: a reader may have hashed that.
std::string DocumentId(Json json) {
  for (const char* key : {"id", "strategy", "parents"}) json.erase(key);
  return HashJson(json);
}

}  // namespace

void Read(const Json& json, const std::string& path, Launch& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  if (object.Has("fill")) return ReadFill(object, out);
  object.Required("entry", out.entry);
  ReadThreeOf(object, "grid", out.grid);
  ReadThreeOf(object, "block", out.block);
  ReadExpressionOf(object, "shared_bytes", out.shared_bytes);
  object.Optional("arguments", out.arguments);
  ReadExpressionOf(object, "when", out.when);
  ReadRepeat(object, out);
  object.Optional("cooperative", out.cooperative);
  ReadThreeOf(object, "cluster", out.cluster);
  object.Optional("overlap_previous", out.overlap_previous);
  object.Finish();
  if (!object.strict()) return;
  if (object.ok() && out.entry.empty()) object.Fail("entry", "is empty");
  for (std::size_t i = 0; i < out.arguments.size(); ++i) {
    CheckArgument(out.arguments[i], Join(object.PathOf("arguments"), i), reading);
  }
}

Json ToJson(const Launch& launch) {
  Json json = Json::object();
  Put(json, "when", launch.when);
  if (!launch.fill.empty()) {
    json["fill"] = launch.fill;
    json["byte"] = launch.byte;
    json["bytes"] = launch.bytes;
    return json;
  }
  json["entry"] = launch.entry;
  Put(json, "grid", launch.grid);
  Put(json, "block", launch.block);
  Put(json, "shared_bytes", launch.shared_bytes);
  if (!launch.arguments.empty()) json["arguments"] = launch.arguments;
  if (launch.repeat) {
    json["repeat"] = {{"count", launch.repeat->first}, {"index", launch.repeat->second}};
  }
  PutIf(json, "cooperative", launch.cooperative);
  Put(json, "cluster", launch.cluster);
  PutIf(json, "overlap_previous", launch.overlap_previous);
  return json;
}

void Read(const Json& json, const std::string& path, Workspace& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("name", out.name);
  ReadExpressionOf(object, "bytes", out.bytes);
  object.Optional("zeroed", out.zeroed);
  object.Finish();
  if (object.strict() && out.bytes.empty()) object.Fail("bytes", "missing");
}

Json ToJson(const Workspace& workspace) {
  return {{"name", workspace.name}, {"bytes", workspace.bytes}, {"zeroed", workspace.zeroed}};
}

void Read(const Json& json, const std::string& path, StrategyStep& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("technique", out.technique)
      .Optional("parameters", out.parameters)
      .Optional("rationale", out.rationale)
      .Optional("expected_gain", out.expected_gain);
  object.Finish();
  if (!out.parameters.is_object()) {
    object.Fail("parameters", Expected("an object", out.parameters));
  }
}

Json ToJson(const StrategyStep& step) {
  Json json = {{"technique", step.technique},
               {"parameters", step.parameters},
               {"expected_gain", NumberJson(step.expected_gain)}};
  Put(json, "rationale", step.rationale);
  return json;
}

void Read(const Json& json, const std::string& path, Strategy& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  // Inside a variant the schema may be left out.
  if (path.empty() || object.Has("schema")) object.Schema(Strategy::kSchema);
  object.Required("title", out.title)
      .Optional("bottleneck", out.bottleneck)
      .Required("steps", out.steps);
  object.Finish();
  if (!object.strict() || out.bottleneck.empty()) return;
  constexpr std::array<std::pair<std::string_view, bool>, 8> kBottlenecks = {{{"dram", true},
                                                                              {"l2", true},
                                                                              {"shared", true},
                                                                              {"fp32", true},
                                                                              {"tensor", true},
                                                                              {"latency", true},
                                                                              {"occupancy", true},
                                                                              {"launch", true}}};
  bool known = false;
  object.OptionalWord("bottleneck", kBottlenecks, known);
}

std::string BottleneckOf(std::string_view ceiling) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kCeilings = {
      {{"dram", "dram"},
       {"l2", "l2"},
       {"l1", "l2"},
       {"load_store", "l2"},
       {"shared", "shared"},
       {"fp32", "fp32"},
       {"fp64", "fp32"},
       {"integer", "fp32"},
       {"special", "fp32"},
       {"issue", "fp32"},
       {"tensor", "tensor"},
       {"latency", "latency"},
       {"launch", "launch"}}};
  for (const auto& [name, bottleneck] : kCeilings) {
    if (name == ceiling) return std::string(bottleneck);
  }
  return {};
}

base::Result<Strategy> ParseStrategy(const Json& json) {
  return ReadDocument<Strategy>(json, Strictness::kStrict);
}

Json ToJson(const Strategy& strategy) {
  Json json = {{"schema", Strategy::kSchema},
               {"title", strategy.title},
               {"steps", ArrayJson(strategy.steps)}};
  Put(json, "bottleneck", strategy.bottleneck);
  return json;
}

void Read(const Json& json, const std::string& path, Variant& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Schema(Variant::kSchema);
  object.Required("kernel", out.kernel)
      .Optional("id", out.id)
      .Optional("includes", out.includes)
      .Required("source", out.source)
      .Optional("entry", out.entry)
      .Optional("launches", out.launches)
      .Optional("workspace", out.workspace);
  ReadExpressionOf(object, "guard", out.guard);
  object.Optional("tunables", out.tunables)
      .Optional("require", out.require)
      .Optional("values", out.values)
      .Optional("template_arguments", out.template_arguments)
      .Optional("tensor_maps", out.tensor_maps)
      .Optional("constants", out.constants)
      .Optional("strategy", out.strategy)
      .Optional("parents", out.parents);
  object.Finish();
  if (!object.ok()) return;
  if (object.strict()) {
    CheckVariant(out, object);
    // What cannot be resolved is kept as it is, for the gate's whitelist to refuse.
    if (auto source = ResolveText(out.source)) out.source = std::move(*source);
  }
  // In a lenient reading an empty variant is one that is not there (a declined rewrite).
  if (!object.strict()) return;
  const std::string id = VariantId(out);
  if (!out.id.empty() && out.id != id && out.id != DocumentId(json)) {
    object.Fail("id", "wrong: the document's id is " + id);
  }
  out.id = id;
}

std::string VariantId(const Variant& variant) { return DocumentId(ToJson(variant)); }

std::string VariantNamespace(const std::string& id) {
  return "cupilot_" + id.substr(0, kNamespaceDigits);
}

base::Result<Variant> ParseVariant(const Json& json) {
  return ReadDocument<Variant>(json, Strictness::kStrict);
}

Json ToJson(const Variant& variant) {
  Json json = {
      {"schema", Variant::kSchema}, {"kernel", variant.kernel}, {"source", variant.source}};
  Put(json, "id", variant.id);
  Put(json, "includes", variant.includes);
  Put(json, "entry", variant.entry);
  if (!variant.launches.empty()) json["launches"] = ArrayJson(variant.launches);
  if (!variant.workspace.empty()) json["workspace"] = ArrayJson(variant.workspace);
  Put(json, "guard", variant.guard);
  if (!variant.tunables.empty()) json["tunables"] = variant.tunables;
  Put(json, "require", variant.require);
  if (!variant.values.empty()) json["values"] = variant.values;
  Put(json, "template_arguments", variant.template_arguments);
  if (!variant.tensor_maps.empty()) json["tensor_maps"] = variant.tensor_maps;
  if (!variant.constants.empty()) json["constants"] = variant.constants;
  if (variant.strategy) json["strategy"] = ToJson(*variant.strategy);
  Put(json, "parents", variant.parents);
  return json;
}

std::vector<Launch> LaunchesOf(const Variant& variant) {
  if (!variant.launches.empty()) return variant.launches;
  Launch launch;
  launch.entry = variant.entry;
  return {launch};
}

}  // namespace cupilot::records
