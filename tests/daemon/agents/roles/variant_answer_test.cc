// What a model may say of a variant. Answers are made of the gate's own collection of candidates,
// or are malformed ones.
#include "agents/roles/variant_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>

#include "agents/roles/novelty.h"
#include "tests/daemon/agents/roles/examples.h"

namespace cupilot::agents {
namespace {

using records::Json;
using testing::HasSubstr;

Json Said() {
  return Json::parse(R"j({
    "source": "__global__ void quick(const float* in, float* sums, int count, int width) {}",
    "launches": [{"entry": "quick", "grid": ["ceil_div(count, LANES)"], "block": ["LANES", 1, "1"]}],
    "tunables": [{"name": "LANES", "values": [32, 64], "default": 64}],
    "require": ["LANES <= 1024"], "guard": "", "includes": ["cuda_fp16.h"],
    "workspace": [{"name": "part", "bytes": "4 * count", "zeroed": true}],
    "steps": [{"technique": "Warp shuffles", "rationale": "does it"}]})j");
}

std::string ComplaintOf(const Json& said) {
  const auto read = ReadVariant(said.dump(), ExampleKernel());
  return read ? "" : read.error().message;
}

TEST(ReadVariant, TakesWhatAModelMaySay) {
  const auto read = ReadVariant(Said().dump(), ExampleKernel());
  ASSERT_TRUE(read) << read.error().message;
  const records::Variant& variant = read->variant;
  EXPECT_EQ(variant.kernel, "rows::row_sum");
  EXPECT_EQ(variant.id, records::VariantId(variant));
  EXPECT_EQ(variant.launches[0].grid,
            (std::vector<std::string>{"ceil_div(count, LANES)", "1", "1"}));
  EXPECT_EQ(variant.launches[0].block, (std::vector<std::string>{"LANES", "1", "1"}));
  EXPECT_EQ(variant.values.at("LANES"), 64);
  EXPECT_EQ(variant.tunables.at("LANES").size(), 2u);
  EXPECT_TRUE(variant.workspace[0].zeroed);
  EXPECT_FALSE(variant.strategy);
  EXPECT_TRUE(variant.parents.empty());
  EXPECT_EQ(read->steps[0].technique, "warp_shuffles");
}

TEST(ReadVariant, TheFormThatPromptsShowIsUnderstood) {
  records::Kernel kernel = ExampleKernel();
  kernel.parameters = {PointerParameter("in", "const float *"), PointerParameter("out", "float *"),
                       IntegerParameter("n")};
  const auto read = ReadVariant(kVariantForm, kernel);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->variant.launches[0].entry, "entry_name");
}

TEST(ReadVariant, ParametersArguments) {
  Json said = Said();
  said["launches"][0]["arguments"] = Json::parse(
      R"(["in", "$1", "part", {"type": "int", "value": "count / 2"}, {"type": "int", "value": 3}])");
  EXPECT_EQ(ComplaintOf(said), "");
  said["launches"][0]["arguments"][0] = "nobody";
  EXPECT_THAT(ComplaintOf(said), HasSubstr("launches[0].arguments[0]: 'nobody' is neither"));
  said["launches"][0]["arguments"][0] = {{"type", "std::string"}, {"value", "1"}};
  EXPECT_THAT(ComplaintOf(said), HasSubstr("launches[0].arguments[0].type: must be one of"));
}

TEST(ReadVariant, NothingThatIsOurs) {
  for (const char* key : {"kernel", "id", "strategy", "parents", "values", "entry", "speedup",
                          "template_arguments", "tensor_maps", "schema"}) {
    Json said = Said();
    said[key] = "x";
    EXPECT_EQ(ComplaintOf(said), std::string(key) + ": there is no such key");
  }
}

TEST(ReadVariant, Limits) {
  const auto with = [](const char* key, Json value) {
    Json said = Said();
    said[key] = std::move(value);
    return ComplaintOf(said);
  };
  const auto many = [](std::size_t count, const Json& one) {
    Json list = Json::array();
    for (std::size_t i = 0; i <= count; ++i) list.push_back(one);
    return list;
  };
  EXPECT_THAT(with("source", std::string(kMostSource + 1, 'x')),
              HasSubstr("source: is longer than 65536 bytes"));
  EXPECT_THAT(with("launches", many(kMostLaunches, Said()["launches"][0])),
              HasSubstr("launches: has 17 items, and at most 16"));
  EXPECT_THAT(with("workspace", many(kMostWorkspaces, Said()["workspace"][0])),
              HasSubstr("workspace: has 9 items"));
  EXPECT_THAT(with("tunables", many(kMostTunables, Said()["tunables"][0])),
              HasSubstr("tunables: has 13 items"));
  EXPECT_THAT(with("require", many(kMostRequire, "1")), HasSubstr("require: has 25 items"));
  EXPECT_THAT(with("includes", many(kMostIncludes, "cmath")), HasSubstr("includes: has 17 items"));
  EXPECT_THAT(with("guard", std::string(kMostExpression + 1, '1')),
              HasSubstr("guard: is longer than 1024 bytes"));
  Json said = Said();
  said["tunables"][0]["values"] = many(kMostTunableValues, 1);
  EXPECT_THAT(ComplaintOf(said), HasSubstr("tunables[0].values: has 17 items"));
  EXPECT_THAT(with("launches", Json::array()), HasSubstr("launches: is empty"));
  EXPECT_THAT(with("source", std::string("__global__ void quick() {\0}", 27)), HasSubstr("NUL"));
}

TEST(ReadVariant, HostCodeIsSaidAtOnce) {
  const auto with = [](const std::string& source) {
    Json said = Said();
    said["source"] = source + "\n" + said["source"].get<std::string>();
    return ComplaintOf(said);
  };
  EXPECT_THAT(with("#include <cub/cub.cuh>"), HasSubstr("line 1: a preprocessor directive"));
  EXPECT_THAT(with("\n#define N 3"), HasSubstr("line 2: a preprocessor directive"));
  EXPECT_THAT(with("int main() { return 0; }"), HasSubstr("host code ('main')"));
  EXPECT_THAT(with("void run() { quick<<<1, 2>>>(); }"), HasSubstr("a launch"));
  EXPECT_THAT(with("void run(void* p) { cudaMalloc(&p, 4); }"), HasSubstr("'cudaMalloc'"));
  EXPECT_THAT(with("__host__ __device__ int f();"), HasSubstr("'__host__' is not allowed"));
  EXPECT_THAT(with("namespace cg = cooperative_groups;"), HasSubstr("'namespace' is not allowed"));
  // In comments they are words.
  EXPECT_EQ(with("// #include <x>, quick<<<1, 2>>>, main() and namespace"), "");
  EXPECT_EQ(with("__device__ int f(cudaTextureObject_t t) {\n#pragma unroll 4\n  for (;;) {}\n}"),
            "");
}

TEST(ReadVariant, AnotherLanguageThanCuda) {
  Json said = Said();
  said["source"] = "@triton.jit\ndef quick(x, y):\n    return x + y\n";
  EXPECT_THAT(ComplaintOf(said), HasSubstr("it has to be CUDA C++"));
}

TEST(ReadVariant, NamesThatDoNotExist) {
  const auto with = [](const char* pointer, Json value) {
    Json said = Said();
    said[Json::json_pointer(pointer)] = std::move(value);
    return ComplaintOf(said);
  };
  EXPECT_THAT(with("/launches/0/entry", "other"),
              HasSubstr("launches[0].entry: the source defines no 'other'"));
  EXPECT_THAT(with("/launches/0/grid/0", "ceil_div(rows, 32)"),
              HasSubstr("launches[0].grid: 'ceil_div(rows, 32)': there is no 'rows'"));
  EXPECT_THAT(with("/launches/0/grid/0", "ceil_div(count"), HasSubstr("launches[0].grid[0]"));
  EXPECT_THAT(with("/guard", "height % 4 == 0"), HasSubstr("there is no 'height'"));
  EXPECT_THAT(with("/tunables/0/default", 48), HasSubstr("the default 48 is not among its values"));
  EXPECT_THAT(with("/tunables/0/name", "row_sum"), HasSubstr("has this name already"));
  EXPECT_THAT(with("/workspace/0/name", "in"), HasSubstr("called like a parameter"));
  EXPECT_THAT(with("/launches/0", {{"fill", "nowhere"}, {"bytes", 4}}),
              HasSubstr("launches[0].fill: no workspace 'nowhere'"));
  EXPECT_EQ(with("/guard", "aligned(in, 16) && $2 > 0 && block_x == 64 && sm_count > 1"), "");
  Json repeated = Said();
  repeated["launches"][0]["repeat"] = {{"count", "log2_ceil(count)"}, {"index", "i"}};
  repeated["launches"][0]["when"] = "i >= 0";
  EXPECT_EQ(ComplaintOf(repeated), "");
}

// Parameters of a gate's kernel, from its text.
records::Kernel GateKernel(const std::string& name, const std::string& qualified) {
  std::ifstream file(std::string(CUPILOT_TEST_SOURCE_DIR) + "/tests/data/gate/kernels/" + name +
                     ".cu");
  std::stringstream text;
  text << file.rdbuf();
  records::Kernel kernel;
  kernel.name = qualified;
  std::smatch match;
  const std::string source = text.str();
  const std::regex entry("__global__[^(]*\\s" + name + "\\(([^)]*)\\)");
  EXPECT_TRUE(std::regex_search(source, match, entry)) << name;
  std::stringstream list(match[1].str());
  for (std::string one; std::getline(list, one, ',');) {
    const std::size_t end = one.find_last_not_of(" \n") + 1;
    const std::size_t begin = one.find_last_of(" *&\n", end - 1) + 1;
    records::Parameter parameter;
    parameter.name = one.substr(begin, end - begin);
    kernel.parameters.push_back(parameter);
  }
  return kernel;
}

// The candidate as a model would say it.
Json AsSaid(const records::Variant& variant) {
  const Json whole = records::ToJson(variant);
  Json said = Json::object();
  for (const char* key : {"source", "includes", "launches", "workspace", "guard", "require"}) {
    if (whole.contains(key)) said[key] = whole[key];
  }
  if (variant.launches.empty()) said["launches"] = {{{"entry", variant.entry}}};
  for (const auto& [name, values] : variant.tunables) {
    said["tunables"].push_back(
        {{"name", name}, {"values", values}, {"default", variant.values.at(name)}});
  }
  return said;
}

TEST(ReadVariant, TakesWhatTheGateAccepts) {
  int good = 0;
  std::map<std::string, std::string> sources;  // by key
  for (const auto& entry : std::filesystem::directory_iterator(
           std::string(CUPILOT_TEST_SOURCE_DIR) + "/tests/data/gate/candidates")) {
    std::ifstream file(entry.path());
    const Json candidate = Json::parse(file);
    const auto variant = records::ParseVariant(candidate["variant"]);
    if (!variant) continue;  // no such document is what it is refused for
    // Different texts are different ideas, the bad ones too, which often differ by a word.
    const auto [same, fresh] = sources.emplace(NoveltyKey(*variant), variant->source);
    // A spliced comment is one.
    const bool spliced = variant->source.find("\\\n") != std::string::npos;
    EXPECT_TRUE(fresh || spliced || same->second.find("\\\n") != std::string::npos ||
                same->second == variant->source)
        << entry.path();
    if (candidate["expect"] != "accepted") continue;
    const records::Kernel kernel = GateKernel(candidate["kernel"], variant->kernel);
    const auto read = ReadVariant(AsSaid(*variant).dump(), kernel);
    ASSERT_TRUE(read) << entry.path() << ": " << read.error().message;
    ++good;
    EXPECT_EQ(read->variant.source, variant->source);
    EXPECT_EQ(read->variant.values, variant->values);
    EXPECT_EQ(records::LaunchesOf(read->variant), records::LaunchesOf(*variant)) << entry.path();
  }
  EXPECT_GT(good, 75);
}

TEST(VariantText, ShowsPlanAndSourceAsData) {
  const std::string text = VariantText(ExampleVariant());
  EXPECT_THAT(text, HasSubstr("\"default\": 32"));
  EXPECT_THAT(text, HasSubstr("\"ceil_div(count, THREADS)\""));
  EXPECT_THAT(text, HasSubstr("  const int row = blockIdx.x * THREADS + threadIdx.x;\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("\"kernel\"")));
}

}  // namespace
}  // namespace cupilot::agents
