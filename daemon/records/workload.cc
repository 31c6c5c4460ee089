#include "records/workload.h"

#include <array>
#include <set>

#include "records/expression.h"
#include "records/read_parts.h"
#include "records/reader.h"

namespace cupilot::records {
namespace {

constexpr std::array<std::pair<std::string_view, Access>, 3> kAccess = {{
    {"in", Access::kIn},
    {"out", Access::kOut},
    {"inout", Access::kInOut},
}};

constexpr std::array<std::string_view, 12> kFills = {
    "normal",  "uniform", "integers", "constant", "iota", "permutation",
    "offsets", "indices", "sorted",   "bits",     "file", "pointers"};

bool IsBase64(std::string_view text) {
  if (text.size() % 4 != 0) return false;
  while (text.ends_with('=')) {
    text.remove_suffix(1);
  }
  for (const char c : text) {
    const bool digit = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                       c == '+' || c == '/';
    if (!digit) return false;
  }
  return true;
}

// A number, or an expression: bounds of fills may be fractions, which expressions cannot be.
void ReadBound(const Json& json, const std::string& path, Size& out, Reading& reading) {
  if (!json.is_string() && !json.is_number()) {
    return reading.Fail(path, Expected("a number or an expression", json));
  }
  NumberText(json, out);
  const bool number = !json.is_string() || NumberTextJson(out).is_number();
  if (number || out == "nan" || out == "inf" || out == "-inf" || !reading.strict()) return;
  const auto parsed = Expression::Parse(out);
  if (!parsed) reading.Fail(path, parsed.error().message);
}

void ReadBoundOf(ObjectReader& object, const char* key, bool required, Size& out) {
  const Json* value = object.Find(key);
  if (value != nullptr) {
    ReadBound(*value, object.PathOf(key), out, object.reading());
  } else if (required && object.strict()) {
    object.Fail(key, "missing");
  }
}

void ReadSizeOf(ObjectReader& object, const char* key, bool required, Size& out) {
  const Json* value = object.Find(key);
  if (value != nullptr) {
    ReadSize(*value, object.PathOf(key), out, object.reading());
  } else if (required && object.strict()) {
    object.Fail(key, "missing");
  }
}

// The keys that say what an argument is; exactly one of them must be there.
void CheckForm(ObjectReader& object, const Argument& argument) {
  std::string forms;
  int count = 0;
  for (const char* key : {"count", "buffer", "bytes", "value"}) {
    if (!object.Has(key)) continue;
    forms += (count++ > 0 ? " and " : "") + std::string(key);
  }
  if (count == 0)
    return object.Fail("value", "missing; an argument has count, buffer, bytes or value");
  if (count > 1) return object.Fail("value", "an argument cannot have " + forms + " together");
  const bool memory = object.Has("count") || object.Has("buffer");
  if (argument.access && !memory) {
    return object.Fail("access", "only arguments with count or buffer have an access");
  }
  if (argument.fill && !object.Has("count")) {
    return object.Fail("fill", "only an argument with count has a fill of its own");
  }
  if (object.Has("offset") && !object.Has("buffer")) {
    return object.Fail("offset", "only an argument with buffer has an offset");
  }
  if (object.Has("pointers") && !object.Has("bytes")) {
    return object.Fail("pointers", "only an argument with bytes has pointers");
  }
  if (object.Has("order") && !memory) {
    return object.Fail("order", "only arguments with count or buffer have an order");
  }
  if (object.Has("bytes") && !IsBase64(argument.bytes)) {
    return object.Fail("bytes", "not base64");
  }
}

void ReadScalar(ObjectReader& object, Argument& out) {
  const Json* value = object.Find("value");
  if (value == nullptr) return;
  if (value->is_null()) {
    out.null = true;
    return;
  }
  if (!NumberText(*value, out.value) || out.value.empty()) {
    return object.Fail("value", Expected("a number or null", *value));
  }
  const Json number = NumberTextJson(out.value);
  const bool large =
      number.is_string() && out.value.find_first_not_of("-0123456789") == std::string::npos;
  const bool special = out.value == "nan" || out.value == "inf" || out.value == "-inf";
  if (value->is_string() && object.strict() && !large && !special && !number.is_number()) {
    object.Fail("value", "expected a number, null or one of \"nan\", \"inf\", \"-inf\"");
  }
}

void CheckBufferName(const Case& owner, const std::string& name, const std::string& path,
                     Reading& reading) {
  std::string known;
  for (const Buffer& buffer : owner.buffers) {
    if (buffer.name == name) return;
    known += (known.empty() ? "" : ", ") + buffer.name;
  }
  reading.Fail(path, "no buffer '" + name + "' in this case" +
                         (known.empty() ? "" : "; there are " + known));
}

void CheckPointers(const Case& owner, const std::vector<PointerInBytes>& pointers,
                   const std::string& path, Reading& reading) {
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    const std::string at = Join(Join(path, "pointers"), i);
    CheckBufferName(owner, pointers[i].buffer, Join(at, "buffer"), reading);
    for (const auto& [key, place] :
         {std::pair{"at", pointers[i].at}, std::pair{"offset", pointers[i].offset}}) {
      if (place < 0) reading.Fail(Join(at, key), "cannot be negative");
    }
  }
}

// What a fill of pointers leads to has one of its own.
void ReadPointersFill(ObjectReader& object, Fill& out) {
  ReadSizeOf(object, "bytes", true, out.bytes);
  std::optional<Fill> inner;
  object.Optional("fill", inner);
  if (!inner || !object.ok()) return;
  const std::string at = Join(object.PathOf("fill"), "kind");
  if (inner->kind == "pointers" && object.strict()) {
    object.reading().Fail(at, "pointers are followed one level; a buffer's pointers can lead on");
  } else if (inner->kind == "file" && object.strict()) {
    object.reading().Fail(at, "a file cannot fill slices; use buffers, and their pointers");
  }
  out.inner.push_back(std::move(*inner));
}

// Of what is no argument with a count.
void RefusePointersFill(ObjectReader& object, const std::optional<Fill>& fill,
                        const std::string& instead) {
  if (!fill || fill->kind != "pointers" || !object.strict()) return;
  object.reading().Fail(Join(object.PathOf("fill"), "kind"),
                        "only an argument with count can be filled with pointers; " + instead);
}

void CheckNames(const Case& value, const std::string& path, Reading& reading) {
  std::set<std::string> buffers;
  for (std::size_t i = 0; i < value.buffers.size(); ++i) {
    if (!buffers.insert(value.buffers[i].name).second) {
      reading.Fail(Join(Join(Join(path, "buffers"), i), "name"),
                   "two buffers are called '" + value.buffers[i].name + "'");
    }
    CheckPointers(value, value.buffers[i].pointers, Join(Join(path, "buffers"), i), reading);
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < value.arguments.size(); ++i) {
    const Argument& argument = value.arguments[i];
    const std::string at = Join(Join(path, "arguments"), i);
    if (!argument.name.empty() && !names.insert(argument.name).second) {
      reading.Fail(Join(at, "name"), "two arguments are called '" + argument.name + "'");
    }
    if (!argument.buffer.empty()) {
      CheckBufferName(value, argument.buffer, Join(at, "buffer"), reading);
    }
    CheckPointers(value, argument.pointers, at, reading);
  }
}

Json SizesJson(const std::vector<Size>& sizes) {
  Json array = Json::array();
  for (const Size& size : sizes) array.push_back(NumberTextJson(size));
  return array;
}

}  // namespace

void Read(const Json& json, const std::string& path, PointerInBytes& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("at", out.at).Required("buffer", out.buffer).Optional("offset", out.offset);
  object.Finish();
}

Json ToJson(const PointerInBytes& value) {
  return {{"at", value.at}, {"buffer", value.buffer}, {"offset", value.offset}};
}

void Read(const Json& json, const std::string& path, LaunchAttributes& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("max_dynamic_shared_bytes", out.max_dynamic_shared_bytes)
      .Optional("cooperative", out.cooperative)
      .Optional("cluster", out.cluster);
  if (!out.cluster.empty() && out.cluster.size() != 3) {
    object.Fail("cluster", "expected three integers");
  }
  object.Finish();
}

Json ToJson(const LaunchAttributes& value) {
  Json json = Json::object();
  if (value.max_dynamic_shared_bytes) {
    json["max_dynamic_shared_bytes"] = *value.max_dynamic_shared_bytes;
  }
  if (value.cooperative) json["cooperative"] = *value.cooperative;
  if (!value.cluster.empty()) json["cluster"] = value.cluster;
  return json;
}

Json ToJson(const Fill& fill) {
  Json json = {{"kind", fill.kind}};
  const auto put = [&json](const char* key, const Size& text) {
    if (!text.empty()) json[key] = NumberTextJson(text);
  };
  if (fill.kind == "normal") {
    json["mean"] = NumberJson(fill.mean);
    json["stddev"] = NumberJson(fill.stddev);
  }
  if (fill.zeros != 0) json["zeros"] = NumberJson(fill.zeros);
  put("low", fill.low);
  put("high", fill.high);
  put("value", fill.value);
  put("total", fill.total);
  Put(json, "path", fill.path);
  put("bytes", fill.bytes);
  if (!fill.inner.empty()) json["fill"] = ToJson(fill.inner.front());
  return json;
}

Json ToJson(const Argument& value) {
  Json json = {{"name", value.name}, {"type", value.type}};
  if (value.access) json["access"] = WordOf(kAccess, *value.access);
  if (value.fill) json["fill"] = ToJson(*value.fill);
  if (value.order_free) json["order"] = "free";
  if (!value.count.empty()) {
    json["count"] = NumberTextJson(value.count);
  } else if (!value.buffer.empty()) {
    json["buffer"] = value.buffer;
    if (!value.offset.empty()) json["offset"] = NumberTextJson(value.offset);
  } else if (!value.bytes.empty()) {
    json["bytes"] = value.bytes;
    if (!value.pointers.empty()) json["pointers"] = ArrayJson(value.pointers);
  } else if (value.null) {
    json["value"] = nullptr;
  } else if (!value.value.empty()) {  // a lenient reader takes an argument that says nothing
    json["value"] = NumberTextJson(value.value);
  }
  return json;
}

Json ToJson(const Buffer& value) {
  Json json = {{"name", value.name}, {"bytes", NumberTextJson(value.bytes)}};
  if (value.fill) json["fill"] = ToJson(*value.fill);
  if (!value.pointers.empty()) json["pointers"] = ArrayJson(value.pointers);
  return json;
}

Json ToJson(const Global& value) {
  Json json = {{"symbol", value.symbol},
               {"space", value.space},
               {"count", NumberTextJson(value.count)},
               {"access", WordOf(kAccess, value.access)}};
  Put(json, "type", value.type);
  if (value.fill) json["fill"] = ToJson(*value.fill);
  return json;
}

void ReadExpression(const Json& json, const std::string& path, std::string& out, Reading& reading) {
  if (!json.is_string() && !json.is_number_integer()) {
    return reading.Fail(path, Expected("an expression or an integer", json));
  }
  NumberText(json, out);
  if (!reading.strict()) return;
  const auto parsed = Expression::Parse(out);
  if (!parsed) reading.Fail(path, parsed.error().message);
}

void ReadSize(const Json& json, const std::string& path, Size& out, Reading& reading) {
  ReadExpression(json, path, out, reading);
  if (reading.strict() && json.is_number() && out.starts_with('-')) {
    reading.Fail(path, "a size cannot be negative");
  }
}

void ReadThree(const Json& json, const std::string& path, std::vector<std::string>& out,
               Reading& reading) {
  if (!json.is_array()) return reading.Fail(path, Expected("an array of three", json));
  if (reading.strict() && json.size() != 3) {
    return reading.Fail(path, "expected three sizes, found " + std::to_string(json.size()));
  }
  out.assign(json.size(), {});
  for (std::size_t i = 0; i < json.size(); ++i) ReadSize(json[i], Join(path, i), out[i], reading);
}

void Read(const Json& json, const std::string& path, Fill& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("kind", out.kind);
  if (!object.ok()) return;
  bool known = false;
  std::string all;
  for (const std::string_view kind : kFills) {
    known = known || kind == out.kind;
    all += (all.empty() ? "" : ", ") + std::string(kind);
  }
  if (!known && object.strict()) {
    return object.Fail("kind", "unknown fill '" + out.kind + "'; one of " + all);
  }
  if (out.kind == "normal") {
    object.Optional("mean", out.mean).Optional("stddev", out.stddev);
    if (out.stddev < 0) object.Fail("stddev", "cannot be negative");
  }
  if (out.kind == "uniform" || out.kind == "integers" || out.kind == "indices") {
    ReadBoundOf(object, "low", true, out.low);
    ReadBoundOf(object, "high", true, out.high);
  }
  if (out.kind == "sorted") {
    ReadBoundOf(object, "low", false, out.low);
    ReadBoundOf(object, "high", false, out.high);
  }
  if (out.kind == "normal" || out.kind == "uniform" || out.kind == "integers") {
    object.Optional("zeros", out.zeros);
    if (!(out.zeros >= 0 && out.zeros <= 1)) object.Fail("zeros", "is a share: 0 to 1");
  }
  if (out.kind == "constant") ReadBoundOf(object, "value", true, out.value);
  if (out.kind == "offsets") ReadSizeOf(object, "total", true, out.total);
  if (out.kind == "file") object.Required("path", out.path);
  if (out.kind == "pointers") ReadPointersFill(object, out);
  object.Finish();
}

void Read(const Json& json, const std::string& path, Argument& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("name", out.name).Required("type", out.type);
  Access access = Access::kIn;
  if (object.Has("access")) {
    object.OptionalWord("access", kAccess, access);
    out.access = access;
  }
  object.Optional("fill", out.fill);
  std::string order;
  object.Optional("order", order);
  if (!order.empty() && order != "free" && order != "fixed") {
    object.Fail("order", "unknown value '" + order + "'; one of free, fixed");
  }
  out.order_free = order == "free";
  ReadSizeOf(object, "count", false, out.count);
  object.Optional("buffer", out.buffer);
  ReadSizeOf(object, "offset", false, out.offset);
  object.Optional("bytes", out.bytes).Optional("pointers", out.pointers);
  ReadScalar(object, out);
  object.Finish();
  if (object.strict() && object.ok()) CheckForm(object, out);
}

void Read(const Json& json, const std::string& path, Buffer& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("name", out.name);
  ReadSizeOf(object, "bytes", true, out.bytes);
  object.Optional("fill", out.fill).Optional("pointers", out.pointers);
  RefusePointersFill(object, out.fill, "a buffer has pointers of its own");
  object.Finish();
}

void Read(const Json& json, const std::string& path, Global& out, Reading& reading) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kSpaces = {
      {{"constant", "constant"}, {"device", "device"}}};
  ObjectReader object(json, path, reading);
  object.Required("symbol", out.symbol);
  std::string_view space;
  object.OptionalWord("space", kSpaces, space);
  if (space.empty() && object.strict()) object.Fail("space", "missing; constant or device");
  out.space = std::string(space);
  object.Optional("type", out.type);
  ReadSizeOf(object, "count", true, out.count);
  object.Optional("fill", out.fill);
  object.OptionalWord("access", kAccess, out.access);
  RefusePointersFill(object, out.fill, "pass them to the kernel");
  object.Finish();
}

void Read(const Json& json, const std::string& path, Case& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("name", out.name).Optional("weight", out.weight);
  if (object.strict() && !(out.weight > 0)) object.Fail("weight", "must be positive");
  for (const auto& [key, sizes] : {std::pair{"grid", &out.grid}, std::pair{"block", &out.block}}) {
    const Json* value = object.Find(key);
    if (value != nullptr) {
      ReadThree(*value, object.PathOf(key), *sizes, reading);
    } else if (object.strict()) {
      object.Fail(key, "missing");
    }
  }
  ReadSizeOf(object, "shared_bytes", false, out.shared_bytes);
  object.Optional("template_arguments", out.template_arguments)
      .Required("arguments", out.arguments)
      .Optional("buffers", out.buffers)
      .Optional("globals", out.globals)
      .Optional("attributes", out.attributes);
  object.Finish();
  if (object.strict() && object.ok()) CheckNames(out, path, reading);
}

void Read(const Json& json, const std::string& path, Tolerance& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("relative", out.relative)
      .Optional("absolute", out.absolute)
      .Optional("bitwise", out.bitwise);
  object.Finish();
  if (!object.strict()) return;
  if (out.relative && !(*out.relative >= 0)) object.Fail("relative", "cannot be negative");
  if (out.absolute && !(*out.absolute >= 0)) object.Fail("absolute", "cannot be negative");
  if (out.bitwise && (out.relative || out.absolute)) {
    object.Fail("bitwise", "cannot be combined with relative or absolute");
  }
}

void Read(const Json& json, const std::string& path, Workload& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Schema(Workload::kSchema);
  object.Required("kernel", out.kernel)
      .Required("cases", out.cases)
      .Optional("tolerance", out.tolerance);
  object.Finish();
  if (!object.strict() || !object.ok()) return;
  if (out.kernel.empty()) object.Fail("kernel", "is empty");
  if (out.cases.empty()) object.Fail("cases", "is empty; a workload has at least one case");
  std::set<std::string> names;
  for (std::size_t i = 0; i < out.cases.size(); ++i) {
    if (names.insert(out.cases[i].name).second) continue;
    reading.Fail(Join(Join(Join(path, "cases"), i), "name"),
                 "two cases are called '" + out.cases[i].name + "'");
  }
}

Json ToJson(const Case& value) {
  Json json = {{"name", value.name},
               {"weight", NumberJson(value.weight)},
               {"grid", SizesJson(value.grid)},
               {"block", SizesJson(value.block)},
               {"shared_bytes", NumberTextJson(value.shared_bytes)},
               {"template_arguments", value.template_arguments},
               {"arguments", ArrayJson(value.arguments)}};
  if (!value.buffers.empty()) json["buffers"] = ArrayJson(value.buffers);
  if (!value.globals.empty()) json["globals"] = ArrayJson(value.globals);
  if (value.attributes) json["attributes"] = ToJson(*value.attributes);
  return json;
}

Json ToJson(const Tolerance& value) {
  Json json = Json::object();
  if (value.relative) json["relative"] = NumberJson(*value.relative);
  if (value.absolute) json["absolute"] = NumberJson(*value.absolute);
  PutIf(json, "bitwise", value.bitwise);
  return json;
}

base::Result<Workload> ParseWorkload(const Json& json) {
  return ReadDocument<Workload>(json, Strictness::kStrict);
}

Json ToJson(const Workload& workload) {
  Json json = {{"schema", Workload::kSchema},
               {"kernel", workload.kernel},
               {"cases", ArrayJson(workload.cases)}};
  if (workload.tolerance) json["tolerance"] = ToJson(*workload.tolerance);
  return json;
}

}  // namespace cupilot::records
