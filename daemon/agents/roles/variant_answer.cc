#include "agents/roles/variant_answer.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "agents/roles/answer.h"
#include "agents/roles/prompt.h"
#include "agents/roles/strategy_answer.h"
#include "records/expression.h"
#include "records/launch_names.h"
#include "source/syntax/lexer.h"

namespace cupilot::agents {

const char* const kVariantForm =
    R"form({"source": "__global__ void entry_name(const float* in, float* out, int n) {\n  ...\n}\n",
 "launches": [
   {"entry": "entry_name",
    "grid": ["ceil_div(n, 4 * THREADS)", "1", "1"],
    "block": ["THREADS", "1", "1"],
    "shared_bytes": "0",
    "arguments": ["in", "out", "n"]}],
 "includes": [],
 "workspace": [{"name": "partial", "bytes": "4 * n", "zeroed": false}],
 "guard": "n % 4 == 0 && aligned(in, 16)",
 "tunables": [{"name": "THREADS", "values": [64, 128, 256], "default": 128}],
 "require": ["THREADS <= 1024"],
 "steps": [{"technique": "vectorized_access", "rationale": "what the code does"}]})form";

namespace {
using records::Json;
using source::Token;
using source::TokenKind;

constexpr std::size_t kMostIdentifier = 64;
constexpr std::size_t kMostInclude = 64;
constexpr std::size_t kMostShownVariant = 96 * 1024;

Json TextSchema(std::size_t most, std::size_t least = 0) {
  Json schema = {{"type", "string"}, {"maxLength", most}};
  if (least > 0) schema["minLength"] = least;
  return schema;
}

// Models write plain numbers where expressions stand.
Json ExpressionSchema() {
  return {{"anyOf", {TextSchema(kMostExpression), {{"type", "integer"}}}}};
}

Json ObjectSchema(Json properties, Json required) {
  Json schema = {
      {"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

Json ListSchema(Json items, std::size_t most) {
  return {{"type", "array"}, {"maxItems", most}, {"items", std::move(items)}};
}

Json LaunchSchema() {
  const Json value = ObjectSchema(
      {{"type",
        {{"type", "string"},
         {"enum",
          {"bool", "char", "short", "unsigned short", "int", "unsigned", "unsigned int", "long",
           "unsigned long", "long long", "unsigned long long", "size_t", "int32_t", "uint32_t",
           "int64_t", "uint64_t", "float", "double"}}}},
       {"value", ExpressionSchema()}},
      {"type", "value"});
  const Json repeat =
      ObjectSchema({{"count", ExpressionSchema()}, {"index", TextSchema(kMostIdentifier, 1)}},
                   {"count", "index"});
  return ObjectSchema(
      {{"entry", TextSchema(kMostIdentifier)},
       {"grid", ListSchema(ExpressionSchema(), 3)},
       {"block", ListSchema(ExpressionSchema(), 3)},
       {"shared_bytes", ExpressionSchema()},
       {"arguments", ListSchema({{"anyOf", {TextSchema(kMostIdentifier, 1), value}}}, 64)},
       {"when", ExpressionSchema()},
       {"repeat", repeat},
       {"fill", TextSchema(kMostIdentifier)},
       {"byte", {{"type", "integer"}, {"minimum", 0}, {"maximum", 255}}},
       {"bytes", ExpressionSchema()}},
      Json::array());
}

std::string ExpressionText(const Json& json) {
  return json.is_string() ? json.get<std::string>() : json.dump();
}

// An empty text says as much as a key that is left out.
void PutExpression(const Json& from, const char* key, Json& to) {
  const auto it = from.find(key);
  if (it == from.end()) return;
  if (std::string text = ExpressionText(*it); !text.empty()) to[key] = std::move(text);
}

void PutThree(const Json& from, const char* key, Json& to) {
  const auto it = from.find(key);
  if (it == from.end() || it->empty()) return;
  Json three = Json::array();
  for (const Json& one : *it) three.push_back(ExpressionText(one));
  while (three.size() < 3) three.push_back("1");
  to[key] = std::move(three);
}

Json LaunchDocument(const Json& said) {
  Json launch = Json::object();
  PutExpression(said, "when", launch);
  if (!said.value("fill", std::string()).empty()) {
    launch["fill"] = said["fill"];
    launch["byte"] = said.value("byte", 0);
    PutExpression(said, "bytes", launch);
    return launch;
  }
  launch["entry"] = said.value("entry", std::string());
  PutThree(said, "grid", launch);
  PutThree(said, "block", launch);
  PutExpression(said, "shared_bytes", launch);
  if (const auto repeat = said.find("repeat"); repeat != said.end()) {
    launch["repeat"] = {{"count", ExpressionText((*repeat)["count"])},
                        {"index", (*repeat)["index"]}};
  }
  if (const auto arguments = said.find("arguments"); arguments != said.end()) {
    launch["arguments"] = Json::array();
    for (Json argument : *arguments) {
      if (argument.is_object()) argument["value"] = ExpressionText(argument["value"]);
      launch["arguments"].push_back(std::move(argument));
    }
  }
  return launch;
}

// What the model said as a document of records/variant.h, whose reader checks the rest.
Json VariantDocument(const Json& said, const records::Kernel& kernel) {
  Json document = {{"schema", records::Variant::kSchema},
                   {"kernel", kernel.name},
                   {"source", said["source"]},
                   {"launches", Json::array()}};
  for (const Json& launch : said["launches"]) {
    document["launches"].push_back(LaunchDocument(launch));
  }
  if (said.contains("includes")) document["includes"] = said["includes"];
  PutExpression(said, "guard", document);
  if (const auto workspace = said.find("workspace"); workspace != said.end()) {
    document["workspace"] = Json::array();
    for (Json one : *workspace) {
      one["bytes"] = ExpressionText(one["bytes"]);
      document["workspace"].push_back(std::move(one));
    }
  }
  if (const auto tunables = said.find("tunables"); tunables != said.end()) {
    for (const Json& tunable : *tunables) {
      const auto& name = tunable["name"].get_ref<const std::string&>();
      document["tunables"][name] = tunable["values"];
      document["values"][name] = tunable["default"];
    }
  }
  if (const auto require = said.find("require"); require != said.end()) {
    document["require"] = Json::array();
    for (const Json& one : *require) document["require"].push_back(ExpressionText(one));
  }
  if (!kernel.template_arguments.empty()) {
    document["template_arguments"] = kernel.template_arguments;
  }
  return document;
}

bool IsHostCall(std::string_view word) {
  // cudaMalloc, cudaMemcpyAsync, ...; types such as cudaTextureObject_t are no calls.
  return word.size() > 4 && word.starts_with("cuda") && word[4] >= 'A' && word[4] <= 'Z' &&
         !word.ends_with("_t");
}

std::string LineOf(std::string_view source, std::uint32_t offset) {
  const auto line = std::count(source.begin(), source.begin() + offset, '\n') + 1;
  return "source, line " + std::to_string(line) + ": ";
}

// What is plainly no device code, for a repair at once. The whitelist looks at all of it.
std::string WhyNotDeviceCode(std::string_view source) {
  constexpr std::array<std::string_view, 5> kHostWordsSeen = {"__host__", "asm", "__asm__",
                                                              "namespace", "throw"};
  const std::vector<Token> tokens = source::Lex(source);
  bool global = false;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view word = Spelling(source, tokens[i]);
    const bool call = i + 1 < tokens.size() && Spelling(source, tokens[i + 1]).starts_with('(');
    const auto wrong = [&](const std::string& what) {
      return LineOf(source, tokens[i].begin) + what;
    };
    if (tokens[i].kind == TokenKind::kDirective) {
      if (word.find("unroll") != std::string_view::npos) continue;
      return wrong("a preprocessor directive ('" + std::string(word.substr(0, 40)) +
                   "'); headers belong into 'includes', constants into 'tunables' or constexpr");
    }
    if (word == "<<<") return wrong("a launch; launches are what 'launches' says");
    if (tokens[i].kind != TokenKind::kIdentifier) continue;
    if (word == "main" && call) return wrong("host code ('main'); only device code is wanted");
    if (call && IsHostCall(word)) {
      return wrong("a call of the host's API ('" + std::string(word) + "')");
    }
    if (std::find(kHostWordsSeen.begin(), kHostWordsSeen.end(), word) != kHostWordsSeen.end()) {
      return wrong("'" + std::string(word) + "' is not allowed");
    }
    global = global || word == "__global__";
  }
  return global ? "" : "source: there is no __global__ function in it; it has to be CUDA C++";
}

std::set<std::string_view> WordsOf(std::string_view text) {
  std::set<std::string_view> words;
  for (const Token& token : source::Lex(text)) {
    if (token.kind == TokenKind::kIdentifier) words.insert(Spelling(text, token));
  }
  return words;
}

// Whether names that a variant uses exist: of entries, arguments, and in expressions.
class Names {
 public:
  Names(const records::Variant& variant, const records::Kernel& kernel)
      : variant_(variant), kernel_(kernel) {
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      if (!kernel.parameters[i].name.empty()) parameters_.insert(kernel.parameters[i].name);
      parameters_.insert("$" + std::to_string(i));
    }
    for (const records::Workspace& one : variant.workspace) workspaces_.insert(one.name);
  }

  std::string Check() {
    const std::set<std::string_view> words = WordsOf(variant_.source);
    for (const auto& [name, values] : variant_.tunables) CheckTunable(name, values);
    for (const records::Workspace& one : variant_.workspace) {
      const std::string path = "workspace '" + one.name + "'";
      if (parameters_.contains(one.name)) Wrong(path, "is called like a parameter");
      CheckExpression(one.bytes, path + ".bytes");
    }
    for (std::size_t i = 0; i < variant_.launches.size(); ++i) {
      const records::Launch& launch = variant_.launches[i];
      const std::string path = "launches[" + std::to_string(i) + "]";
      if (launch.fill.empty() && !words.contains(launch.entry)) {
        Wrong(path + ".entry", "the source defines no '" + launch.entry + "'");
      }
      CheckLaunch(launch, path);
    }
    CheckExpression(variant_.guard, "guard");
    for (std::size_t i = 0; i < variant_.require.size(); ++i) {
      CheckExpression(variant_.require[i], "require[" + std::to_string(i) + "]");
    }
    return std::move(wrong_);
  }

 private:
  void Wrong(const std::string& path, const std::string& what) {
    if (wrong_.empty()) wrong_ = path + ": " + what;
  }

  void CheckTunable(const std::string& name, const std::vector<Json>& values) {
    const std::string path = "tunables '" + name + "'";
    const Json& value = variant_.values.at(name);
    if (std::find(values.begin(), values.end(), value) == values.end()) {
      Wrong(path, "the default " + value.dump() + " is not among its values");
    }
    const auto same = [&](const records::Tunable& one) { return one.name == name; };
    if (std::any_of(kernel_.tunables.begin(), kernel_.tunables.end(), same) ||
        WordsOf(kernel_.closure_source).contains(name)) {
      Wrong(path, "the user's text has this name already; take another one");
    }
  }

  void CheckLaunch(const records::Launch& launch, const std::string& path) {
    if (launch.repeat) index_ = launch.repeat->second;
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const Json& argument = launch.arguments[i];
      const std::string where = path + ".arguments[" + std::to_string(i) + "]";
      if (argument.is_object()) {
        CheckExpression(argument["value"].get<std::string>(), where + ".value");
      } else if (const auto& name = argument.get_ref<const std::string&>();
                 !parameters_.contains(name) && !workspaces_.contains(name)) {
        Wrong(where, "'" + name +
                         "' is neither a parameter of the original nor a workspace; computed "
                         "scalars are {\"type\", \"value\"}");
      }
    }
    for (const std::string& one : launch.grid) CheckExpression(one, path + ".grid");
    for (const std::string& one : launch.block) CheckExpression(one, path + ".block");
    CheckExpression(launch.shared_bytes, path + ".shared_bytes");
    CheckExpression(launch.when, path + ".when");
    CheckExpression(launch.bytes, path + ".bytes");
    if (launch.repeat) CheckExpression(launch.repeat->first, path + ".repeat.count");
    index_.clear();
  }

  void CheckExpression(const std::string& text, const std::string& path) {
    if (text.empty()) return;
    const auto parsed = records::Expression::Parse(text);
    if (!parsed) return Wrong(path, "'" + text + "', " + parsed.error().message);
    // Names of template parameters are not known here.
    if (!kernel_.template_arguments.empty()) return;
    for (const std::string& name : parsed->Names()) {
      if (!Exists(name)) Wrong(path, "'" + text + "': there is no '" + name + "'");
    }
  }

  bool Exists(const std::string& name) const {
    return parameters_.contains(name.substr(0, name.find_first_of(".["))) ||
           variant_.values.contains(name) || name == index_ || records::IsLaunchName(name);
  }

  const records::Variant& variant_;
  const records::Kernel& kernel_;
  std::set<std::string> parameters_, workspaces_;
  std::string index_;
  std::string wrong_;
};

}  // namespace

const Json& VariantSchema() {
  static const auto& schema = *new Json(ObjectSchema(
      {{"source", TextSchema(kMostSource, 1)},
       {"launches", ListSchema(LaunchSchema(), kMostLaunches)},
       {"includes", ListSchema(TextSchema(kMostInclude, 1), kMostIncludes)},
       {"workspace", ListSchema(ObjectSchema({{"name", TextSchema(kMostIdentifier, 1)},
                                              {"bytes", ExpressionSchema()},
                                              {"zeroed", {{"type", "boolean"}}}},
                                             {"name", "bytes"}),
                                kMostWorkspaces)},
       {"guard", ExpressionSchema()},
       {"tunables",
        ListSchema(ObjectSchema({{"name", TextSchema(kMostIdentifier, 1)},
                                 {"values", ListSchema({{"type", "integer"}}, kMostTunableValues)},
                                 {"default", {{"type", "integer"}}}},
                                {"name", "values", "default"}),
                   kMostTunables)},
       {"require", ListSchema(ExpressionSchema(), kMostRequire)},
       {"steps", StepsSchema()}},
      {"source", "launches"}));
  return schema;
}

Answer<WrittenVariant> ReadVariant(const std::string& text, const records::Kernel& kernel) {
  const Answer<Json> said = FindDocument(text, VariantSchema());
  if (!said) return tl::unexpected(said.error());
  if ((*said)["launches"].empty()) return Complain("launches: is empty");
  auto variant = records::ParseVariant(VariantDocument(*said, kernel));
  if (!variant) return Complain(variant.error().message);
  if (std::string why = WhyNotDeviceCode(variant->source); !why.empty()) {
    return Complain(std::move(why));
  }
  if (std::string why = Names(*variant, kernel).Check(); !why.empty()) {
    return Complain(std::move(why));
  }
  WrittenVariant written;
  if (const auto steps = said->find("steps"); steps != said->end()) {
    written.steps = ReadWords(*steps);
  }
  written.variant = std::move(*variant);
  return written;
}

std::string VariantText(const records::Variant& variant) {
  Json plan = {{"launches", Json::array()}};
  const Json whole = records::ToJson(variant);
  for (const char* key : {"includes", "launches", "workspace", "guard", "require"}) {
    if (whole.contains(key)) plan[key] = whole[key];
  }
  if (variant.launches.empty()) plan["launches"].push_back({{"entry", variant.entry}});
  for (const auto& [name, value] : variant.values) {
    const auto values = variant.tunables.find(name);
    plan["tunables"].push_back(
        {{"name", name},
         {"values", values != variant.tunables.end() ? Json(values->second) : Json::array({value})},
         {"default", value}});
  }
  return AsData("variant_plan", records::PrettyJson(plan), kMostShownVariant) + "\n" +
         AsData("variant_source", variant.source, kMostShownVariant);
}

}  // namespace cupilot::agents
