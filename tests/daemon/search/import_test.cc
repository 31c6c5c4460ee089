// Files of other autotuners: constraints in Python, T1, Kernel Tuner's cache, T4.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "records/expression.h"
#include "search/python_constraint.h"
#include "search/t1_space.h"
#include "search/tuner_files.h"
#include "tests/daemon/search/measured_spaces.h"

namespace cupilot::search {
namespace {

using records::Json;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::vector<SpaceParameter> Parameters() {
  std::vector<SpaceParameter> parameters = {NumberParameter("a", {1, 2, 3, 6, 8}),
                                            NumberParameter("b", {0, 1, 2, 4}),
                                            NumberParameter("c", {-3, 5})};
  SpaceParameter layout = NumberParameter("layout", {0, 1});
  layout.texts = {"NCHW", "NHWC"};
  parameters.push_back(layout);
  return parameters;
}

// What the translated constraint says there; nothing: it has no value.
std::optional<bool> Holds(const std::string& python, std::int64_t a, std::int64_t b,
                          std::int64_t c = 5, std::int64_t layout = 0) {
  const auto text = FromPython(python, Parameters());
  EXPECT_TRUE(text) << python << ": " << text.error().message;
  if (!text) return std::nullopt;
  records::Environment environment;
  environment.integers = {{"a", a}, {"b", b}, {"c", c}, {"layout", layout}};
  const auto value = records::EvaluateText(*text, environment);
  if (!value) return std::nullopt;
  return *value != 0;
}

TEST(Python, MeansWhatPythonMeans) {
  EXPECT_EQ(Holds("a*b <= 1024 and not a == 3 or b > 2", 3, 1), false);
  EXPECT_EQ(Holds("a*b <= 1024 and not a == 3 or b > 2", 3, 4), true);
  EXPECT_EQ(Holds("1 < a <= 3 < 8", 3, 0), true);
  EXPECT_EQ(Holds("1 < a <= 3 < 8", 6, 0), false);
  EXPECT_EQ(Holds("a in [1, 2] or a not in (1, 2, 3, 6)", 2, 0), true);
  EXPECT_EQ(Holds("a in [1, 2] or a not in (1, 2, 3, 6)", 6, 0), false);
  EXPECT_EQ(Holds("a // 2 == 1 && !(b != 2)", 3, 2), true);
  EXPECT_EQ(Holds("2**3 * a == 64", 8, 0), true);
  EXPECT_EQ(Holds("a**2 == 36", 6, 0), true);
  EXPECT_EQ(Holds("-a**2 == -36", 6, 0), true);
  EXPECT_EQ(Holds("(a if b > 1 else 8) == 8", 3, 1), true);
  EXPECT_EQ(Holds("min(a, b, 2) == 2 and max(a, 5) == 8 and abs(c) == 3", 8, 4, -3), true);
  EXPECT_EQ(Holds("p[\"a\"] == 8 or p['b'] == 1", 3, 1), true);
  EXPECT_EQ(Holds("(b == 1) == True", 3, 1), true);
  EXPECT_EQ(Holds("a < 1.5", 1, 0), true);
  EXPECT_EQ(Holds("a < 1.5", 2, 0), false);
  EXPECT_EQ(Holds("a <= 48.0 / 16", 3, 0), true);
  EXPECT_EQ(Holds("b", 3, 0), false);
  EXPECT_EQ(Holds("layout == 'NHWC' or layout in ['x']", 1, 1, 5, 1), true);
  EXPECT_EQ(Holds("layout != \"NHWC\"", 1, 1, 5, 1), false);
  EXPECT_EQ(Holds("a in {1, 2} and max([a, b]) == 4 # as wide as that", 2, 4), true);
  EXPECT_EQ(Holds("((a > 2) and (b > 1)) == 1", 3, 2), true);
  EXPECT_EQ(Holds("not (a and b)", 3, 0), true);
}

TEST(Python, ComparesFractionsHoweverTheyAreWritten) {
  SpaceParameter factor = NumberParameter("f", {0, 1, 2});
  factor.texts = {"0.5", "1.0", "x"};
  EXPECT_EQ(FromPython("f != 0.50", {factor}).value_or(""), "(f != 0)");
  EXPECT_EQ(FromPython("f == 1", {factor}).value_or(""), "(f == 1)");
  EXPECT_EQ(FromPython("f == 2", {factor}).value_or(""), "0");
  EXPECT_EQ(FromPython("f == 'x'", {factor}).value_or(""), "(f == 2)");
  const auto product = FromPython("f * 2 >= 1", {factor});
  ASSERT_FALSE(product);
  EXPECT_THAT(product.error().message, HasSubstr("'f' are texts or fractions"));
}

TEST(Python, DividesExactly) {
  EXPECT_EQ(Holds("a / 2 == 1.5", 3, 0), true);
  EXPECT_EQ(Holds("a / 2 == 1", 3, 0), false);
  EXPECT_EQ(Holds("8 % (a / b) == 0", 8, 4), true);   // 8 % 2
  EXPECT_EQ(Holds("8 % (a / b) == 0", 6, 4), false);  // 8 % 1.5 is 0.5
  EXPECT_EQ(Holds("8 % (a / b) == 0.5", 6, 4), true);
  EXPECT_EQ(Holds("a / b > 1", 3, 0), std::nullopt);  // Python has no value, either
  EXPECT_EQ(Holds("b == 0 or a / b > 1", 3, 0), true);
  EXPECT_EQ(Holds("b > 0 and a / b > 1", 3, 0), false);
  EXPECT_EQ(Holds("a / b * b == a", 3, 4), true);
  for (const char* python : {"not (a / b > 1)", "a / b not in [1, 2]",
                             "(1 if a / b > 2 else 8) == 8", "not (b > 0 or a / b > 1)"}) {
    EXPECT_EQ(Holds(python, 3, 0), std::nullopt) << python;
  }
  EXPECT_EQ(Holds("math.ceil(a / 2) + int(a / 2) + floor(a / 2) == 4", 3, 0), true);
  // Of negative numbers.
  EXPECT_EQ(Holds("c % 2 == 1", 1, 0, -3), true);
  EXPECT_EQ(Holds("c // 2 == -2", 1, 0, -3), true);
  EXPECT_EQ(Holds("(b - a) % 4 == 1", 3, 0), true);
}

TEST(Python, HasConstants) {
  EXPECT_EQ(PythonConstant("2**5 - 4 // 3").value_or(0), 31);
  EXPECT_EQ(PythonConstant("12*1024 / 2").value_or(0), 6144);
  EXPECT_FALSE(PythonConstant("1 / 2"));
  EXPECT_FALSE(PythonConstant("0.5"));
  EXPECT_FALSE(PythonConstant("1 / 0"));
  EXPECT_FALSE(PythonConstant("a"));
}

TEST(Python, WhatCannotBeSaidIsNamedWithItsColumn) {
  const auto why = [](const std::string& python) {
    const auto text = FromPython(python, Parameters());
    EXPECT_FALSE(text) << python;
    return text ? base::InvalidArgument("") : text.error();
  };
  for (const char* python :
       {"2**a < 8", "round(a) == 1", "a / (b - 1) > 2", "layout > 1", "layout + 1 == 2",
        "math.log2(a) > 1", "'x' == 'y'",
        // The value of the last operand that is looked at, in Python.
        "(a and 2) <= 1", "(a or b) > 3", "max(a, b or 2) > 2", "(3 if a else (a or b)) == 3",
        "(a and b) + 1 > 2",
        // Not understood, and Python.
        "a & 3 == 0", "a << 1 < 4", "~a < 0", "a b", "1e3 < a", "c is True or a < 4",
        "a < 99999999999999999999", "p[a] == 1", "any(x > 1 for x in (a, b))"}) {
    EXPECT_EQ(why(python).code, base::ErrorCode::kUnsupported) << python;
    EXPECT_THAT(why(python).message, HasSubstr("column ")) << python;
  }
  for (const char* python : {"a <", "(a", "unheard < 1", "a in 3", "", "a < 'x", "[1] < 2"}) {
    EXPECT_EQ(why(python).code, base::ErrorCode::kInvalidArgument) << python;
  }
  EXPECT_THAT(why("a < unheard").message, HasSubstr("column 5: there is no parameter 'unheard'"));
  EXPECT_FALSE(FromPython(std::string(5000, '('), Parameters()));
  EXPECT_FALSE(FromPython(std::string(5000, '-') + "a", Parameters()));
  std::string modulo = "c";
  for (int i = 0; i < 40; ++i) modulo += " % 7";
  EXPECT_EQ(why(modulo).code, base::ErrorCode::kUnsupported) << "each doubles the text";
  const auto hyphen = FromPython("p['block-x'] > 1", {NumberParameter("block-x", {1, 2})});
  ASSERT_FALSE(hyphen);
  EXPECT_EQ(hyphen.error().code, base::ErrorCode::kUnsupported);
}

TEST(Python, ChainsMayBeLong) {
  std::string chain = "a > 0";
  for (int i = 0; i < 300; ++i) chain += " and a != " + std::to_string(100 + i);
  EXPECT_EQ(Holds(chain, 3, 0), true);
}

Json T1Of(const std::string& parameters, const std::string& conditions) {
  return Json::parse(R"({"General": {}, "ConfigurationSpace": {"TuningParameters": [)" +
                     parameters + R"(], "Conditions": [)" + conditions +
                     R"(]}, "KernelSpecification": {}})");
}

const char* const kParameters = R"t1(
    {"Name": "block", "Type": "int", "Values": "[32, 64, 128]", "Default": 64},
    {"Name": "tile", "Type": "int", "Values": "list(range(1, 5))"},
    {"Name": "pad", "Type": "bool", "Values": "[False, True]"})t1";
const char* const kConditions = R"t1({"Parameters": ["block", "tile"],
    "Expression": "block * tile <= 256 and (pad == 0 or block % 64 != 0)"})t1";

TEST(T1, IsASpace) {
  const auto read = ReadSpaceDescription(T1Of(std::string(kParameters) + R"t1(,
      {"Name": "unroll", "Type": "int", "Values": "[2**i for i in range(4)]"},
      {"Name": "layout", "Type": "string", "Values": "['a, b', 'c']", "Default": "c"},
      {"Name": "scale", "Type": "float", "Values": "[0.5, 1.5]"})t1",
                                              kConditions));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->untold, IsEmpty());
  const std::vector<SpaceParameter>& parameters = read->space.parameters;
  ASSERT_EQ(parameters.size(), 6u);
  EXPECT_EQ(parameters[0].kind, ParameterKind::kPower);
  EXPECT_EQ(parameters[0].standard, 64);
  EXPECT_THAT(parameters[1].values, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(parameters[1].kind, ParameterKind::kNumber);
  EXPECT_EQ(parameters[2].kind, ParameterKind::kBoolean);
  EXPECT_THAT(parameters[3].values, ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(parameters[4].texts, ElementsAre("a, b", "c"));
  EXPECT_EQ(parameters[4].standard, 1);
  EXPECT_THAT(parameters[5].texts, ElementsAre("0.5", "1.5"));
  const auto space = SpaceOf(read->space);
  ASSERT_TRUE(space) << space.error().message;
  // Block and tile: 4 + 4 + 2; with padding the 32 alone: 4; times 4, 2 and 2.
  EXPECT_EQ(space->size(), (10u + 4u) * 16);
}

TEST(T1, FractionsAreNumbersHoweverTheyAreWritten) {
  const auto read = ReadSpaceDescription(T1Of(std::string(kParameters) + R"t1(,
      {"Name": "scale", "Type": "float", "Values": "[0.5, 1.0, 2.0, 2]", "Default": 1.0})t1",
                                              kConditions));
  ASSERT_TRUE(read) << read.error().message;
  const SpaceParameter& scale = read->space.parameters.back();
  EXPECT_EQ(scale.texts.size(), 3u);
  EXPECT_EQ(scale.standard, 1);
  EXPECT_EQ(PlaceOf(scale, Json(2.0)), 2);
  EXPECT_EQ(PlaceOf(scale, Json(2)), 2);
  EXPECT_EQ(PlaceOf(scale, Json(0.25)), std::nullopt);
}

TEST(T1, WhatIsWrongIsNamed) {
  const auto why = [](const std::string& parameters, const std::string& conditions) {
    const auto read = ReadSpaceDescription(T1Of(parameters, conditions));
    EXPECT_FALSE(read);
    return read ? "" : read.error().message;
  };
  EXPECT_THAT(why(R"t1({"Name": "x", "Values": "sorted(y)"})t1", ""), HasSubstr("parameter 'x'"));
  EXPECT_THAT(why(R"({"Name": "x", "Values": "[1, 2]", "Default": 3})", ""),
              HasSubstr("default, 3"));
  EXPECT_THAT(why(R"({"Name": "x", "Values": "[]"})", ""), HasSubstr("no values"));
  EXPECT_THAT(why(R"({"Values": "[1]"})", ""), HasSubstr("without a name"));
  EXPECT_THAT(why(kParameters, R"({"Expression": "blok < 3"})"),
              HasSubstr("constraint 'blok < 3'"));
  EXPECT_FALSE(ReadSpaceDescription(Json::parse(R"({"a": 1})")));
  // What cannot be said is no error: who has results does without.
  const auto read =
      ReadSpaceDescription(T1Of(kParameters, R"({"Expression": "2**tile <= block"})"));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->untold, ElementsAre(HasSubstr("constraint '2**tile <= block': column ")));
}

// A cache as Kernel Tuner appends to it: rows at the end of the file, behind a comma, no end.
std::string CacheOf(const std::string& rows) {
  return R"({
"device_name": "Some GPU",
"kernel_name": "vector_add",
"problem_size": 1000,
"tune_params_keys": ["block", "tile", "pad"],
"tune_params": {"block": [32, 64, 128], "tile": [1, 2, 3, 4], "pad": [0, 1]},
"cache": {)" +
         rows;
}
const char* const kCacheRows = R"(
"32,1,0": {"block": 32, "tile": 1, "pad": 0, "time": 0.25, "times": [0.2, 0.3], "compile_time": 500.0, "verification_time": 10, "benchmark_time": 40.0, "GFLOP/s": NaN},
"64,1,0": {"block": 64, "tile": 1, "pad": 0, "time": "CompilationFailedConfig", "compile_time": 100.0},
"128,1,0": {"block": 128, "tile": 1, "pad": 0, "time": null},
"64,2,0": {"block": 64, "tile": 2, "pad": 0, "time": 1e+20, "times": [1.0]},
"32,2,1": {"block": 32, "tile": 2, "pad": 1, "time": 0.125, "times": [0.125, 0.125], "gflops": Infinity},)";

void ExpectCache(const base::Result<ImportedSpace>& imported) {
  ASSERT_TRUE(imported) << imported.error().message;
  const MeasuredSpace& measured = imported->measured;
  EXPECT_EQ(measured.name(), "vector_add");
  EXPECT_EQ(measured.device(), "Some GPU");
  ASSERT_EQ(measured.rows().size(), 5u);
  const MeasuredRow* row = measured.Find({0, 0, 0});
  ASSERT_NE(row, nullptr);
  EXPECT_DOUBLE_EQ(*row->microseconds, 250);
  EXPECT_EQ(row->samples, 2);
  EXPECT_THAT(row->times, ElementsAre(DoubleEq(200), DoubleEq(300)));
  EXPECT_DOUBLE_EQ(row->compile_seconds, 0.5);
  EXPECT_DOUBLE_EQ(row->measure_seconds, 0.05);
  EXPECT_EQ(measured.Find({1, 0, 0})->reason, "compile");
  EXPECT_DOUBLE_EQ(measured.Find({1, 0, 0})->compile_seconds, 0.1);
  EXPECT_EQ(measured.Find({2, 0, 0})->reason, "failed");
  EXPECT_EQ(measured.Find({1, 1, 0})->reason, "failed");
  EXPECT_THAT(measured.Find({1, 1, 0})->times, IsEmpty());
  EXPECT_DOUBLE_EQ(*measured.Find({0, 1, 1})->microseconds, 125);
  EXPECT_DOUBLE_EQ(measured.Find({0, 1, 1})->measure_seconds, 0.00025);
}

TEST(KernelTuner, CacheIsReadWithOrWithoutItsEnd) {
  for (const char* end : {"", "\n}\n}", "\n", "\n\"64,3,0\": {\"block\": 64, \"ti"}) {
    std::string rows = kCacheRows;
    if (std::string(end).find('}') != std::string::npos) rows.pop_back();  // the comma
    SCOPED_TRACE(end);
    const auto imported = ImportResults(CacheOf(rows + end), nullptr);
    ExpectCache(imported);
    if (!imported) continue;
    const bool whole = std::string(end).find("}\n}") != std::string::npos;
    std::vector<testing::Matcher<std::string>> notes = {HasSubstr("1 point ran by its row")};
    if (!whole) notes.emplace_back(HasSubstr("the file has no end"));
    EXPECT_THAT(imported->notes, ElementsAreArray(notes));
    EXPECT_EQ(imported->measured.valid(), ValidPoints::kRows);
    EXPECT_EQ(imported->measured.space().size(), 5u);
  }
}

TEST(KernelTuner, CacheWithADescriptionOfItsSpace) {
  auto description = ReadSpaceDescription(T1Of(kParameters, kConditions));
  ASSERT_TRUE(description);
  std::string whole = kCacheRows;
  whole.back() = '}';
  whole = CacheOf(whole + "}");
  const auto no_time = HasSubstr("1 point ran by its row");
  const auto imported = ImportResults(whole, &*description);
  ExpectCache(imported);
  EXPECT_EQ(imported->measured.valid(), ValidPoints::kSolved);
  EXPECT_EQ(imported->measured.space().size(), 14u);
  EXPECT_THAT(imported->notes, ElementsAre(no_time));
  // With a constraint that cannot be said: the points of the file.
  description = ReadSpaceDescription(T1Of(kParameters, R"({"Expression": "2**tile <= block"})"));
  const auto listed = ImportResults(whole, &*description);
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(listed->measured.space().size(), 5u);
  EXPECT_THAT(listed->notes,
              ElementsAre(HasSubstr("2**tile"), HasSubstr("points of the file"), no_time));
  // What failed outside the space is left out; what has a time there is an error.
  description = ReadSpaceDescription(T1Of(kParameters, R"({"Expression": "block < 128"})"));
  const auto outside = ImportResults(whole, &*description);
  ASSERT_TRUE(outside) << outside.error().message;
  EXPECT_EQ(outside->measured.rows().size(), 4u);
  EXPECT_THAT(outside->notes, ElementsAre(HasSubstr("1 failed point outside"), no_time));
  description = ReadSpaceDescription(T1Of(kParameters, R"({"Expression": "block > 32"})"));
  const auto wrong = ImportResults(whole, &*description);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("row '32,1,0': has a time, but is not valid"));
}

TEST(KernelTuner, WhatIsWrongNamesItsRow) {
  const auto why = [](const std::string& rows) {
    const auto imported = ImportResults(CacheOf(rows), nullptr);
    EXPECT_FALSE(imported);
    return imported ? "" : imported.error().message;
  };
  EXPECT_THAT(why(R"("1": {"block": 48, "tile": 1, "pad": 0, "time": 1})"),
              HasSubstr("row '1': 48 is no value of block"));
  EXPECT_THAT(why(R"("1": {"block": 32, "pad": 0, "time": 1})"),
              HasSubstr("row '1': no value of tile"));
  EXPECT_THAT(why(R"("1": {"block": 32, "tile": 1, "pad": 0})"),
              HasSubstr("row '1': has no 'time'"));
  EXPECT_THAT(why(""), HasSubstr("no measured point"));
  EXPECT_THAT(ImportResults("{\"x\": 1}", nullptr).error().message, HasSubstr("no results"));
  EXPECT_FALSE(ImportResults("", nullptr));
  EXPECT_FALSE(ImportResults("[[[", nullptr));
}

TEST(T4, IsReadAndWritten) {
  const auto imported = ImportResults(
      R"({"schema_version": "1.1.0", "metadata": {"device": "Some GPU", "timeunit": "microseconds"},
      "results": [
        {"configuration": {"block": 32, "order": "ij"}, "invalidity": "correct", "correctness": 1,
         "times": {"compilation_time": 500000, "runtimes": [20, 30], "validation": 1000000},
         "measurements": [{"name": "time", "value": 25, "unit": ""}], "objectives": ["time"]},
        {"configuration": {"block": 64, "order": "ij"}, "invalidity": "correct", "correctness": 1,
         "times": {"compilation": 1, "runtimes": [40.0, 60.0], "benchmark": 2000000}},
        {"configuration": {"block": 32, "order": "ji"}, "invalidity": "timeout", "correctness": 1,
         "times": {}},
        {"configuration": {"block": 64, "order": "ji"}, "invalidity": "correct", "correctness": 0,
         "times": {"runtimes": [1]}},
        {"configuration": {"block": 32, "order": "ij"}, "invalidity": "correct", "correctness": 1,
         "times": {"compilation_time": 500000, "runtimes": [20, 30], "validation": 1000000},
         "measurements": [{"name": "time", "value": 0.026, "unit": "ms"}]}]})",
      nullptr);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(imported->notes, ElementsAre(HasSubstr("1 point measured again")));
  const MeasuredSpace& measured = imported->measured;
  ASSERT_EQ(measured.rows().size(), 4u);
  EXPECT_DOUBLE_EQ(*measured.Find({0, 0})->microseconds, 26);
  EXPECT_DOUBLE_EQ(measured.Find({0, 0})->compile_seconds, 0.5);
  EXPECT_DOUBLE_EQ(measured.Find({0, 0})->measure_seconds, 1.00005);
  EXPECT_DOUBLE_EQ(*measured.Find({1, 0})->microseconds, 50);
  EXPECT_DOUBLE_EQ(measured.Find({1, 0})->measure_seconds, 2);
  EXPECT_EQ(measured.Find({0, 1})->reason, "timeout");
  EXPECT_EQ(measured.Find({1, 1})->reason, "correctness");

  // Written and read again it is the same.
  const std::string text = T4Of(measured);
  const Json json = Json::parse(text);
  EXPECT_EQ(json["results"][1]["invalidity"], "correct");
  EXPECT_EQ(json["results"][1]["measurements"][0]["value"], 0.05);
  EXPECT_EQ(json["results"][2]["invalidity"], "timeout");
  EXPECT_EQ(json["results"][3]["correctness"], 0);
  for (const Json& result : json["results"]) {
    for (const char* key : {"configuration", "times", "invalidity", "correctness"}) {
      EXPECT_TRUE(result.contains(key)) << key;  // what T4's schema requires
    }
  }
  const auto again = ImportResults(text, nullptr);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(TextOf(again->measured), TextOf(measured));
}

TEST(T4, SingleTimesStay) {
  const auto imported = ImportResults(
      R"({"metadata": {"timeunit": "microseconds"}, "results": [
        {"configuration": {"a": 1}, "invalidity": "correct", "correctness": 1,
         "times": {"runtimes": [20, 30]}},
        {"configuration": {"a": 2}, "invalidity": "correct", "correctness": 1,
         "times": {"runtimes": [25]},
         "measurements": [{"name": "time", "value": 25, "unit": "us"},
                          {"name": "samples", "value": 12, "unit": ""}]}]})",
      nullptr);
  ASSERT_TRUE(imported) << imported.error().message;
  // The only run that is told of the second one is the mean of twelve.
  EXPECT_TRUE(imported->measured.Find({1})->times.empty());
  const std::string text = T4Of(imported->measured);
  EXPECT_EQ(Json::parse(text)["results"][0]["times"]["runtimes"], Json({0.02, 0.03}));
  const auto again = ImportResults(text, nullptr);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_THAT(again->measured.Find({0})->times, ElementsAre(DoubleEq(20), DoubleEq(30)));
  EXPECT_EQ(again->measured.Find({0})->samples, 2);
  EXPECT_EQ(again->measured.Find({1})->samples, 12);
}

TEST(T4, FractionsStayNumbers) {
  const auto imported = ImportResults(
      R"({"schema_version": "1.1.0", "metadata": {"timeunit": "microseconds"}, "results": [
        {"configuration": {"scale": 0.5, "layout": "a"}, "invalidity": "correct", "correctness": 1,
         "times": {"runtimes": [20]}},
        {"configuration": {"scale": 1, "layout": "a"}, "invalidity": "correct", "correctness": 1,
         "times": {"runtimes": [30]}}]})",
      nullptr);
  ASSERT_TRUE(imported) << imported.error().message;
  const std::string text = T4Of(imported->measured);
  const Json results = Json::parse(text)["results"];
  std::vector<Json> scales;
  for (const Json& result : results) {
    scales.push_back(result["configuration"]["scale"]);
    EXPECT_EQ(result["configuration"]["layout"], "a");
  }
  EXPECT_THAT(scales, UnorderedElementsAre(Json(0.5), Json(1)));
  const auto again = ImportResults(text, nullptr);
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(again->measured.rows().size(), 2u);
  for (const MeasuredRow& row : imported->measured.rows()) {
    ASSERT_NE(again->measured.Find(row.point), nullptr);
    EXPECT_DOUBLE_EQ(*again->measured.Find(row.point)->microseconds, *row.microseconds);
  }
}

TEST(T4, WhatIsWrongNamesItsResult) {
  const auto why = [](const std::string& text) {
    const auto imported = ImportResults(text, nullptr);
    EXPECT_FALSE(imported);
    return imported ? "" : imported.error().message;
  };
  EXPECT_THAT(why(R"({"results": [{"times": {}}]})"), HasSubstr("results[0]: 'configuration'"));
  EXPECT_THAT(why(R"({"results": [{"configuration": {"a": 1}, "times": {}}]})"),
              HasSubstr("results[0]: neither a time nor runs"));
  EXPECT_THAT(why(R"({"metadata": {"timeunit": "weeks"}, "results": []})"), HasSubstr("'weeks'"));
  EXPECT_THAT(why(R"({"results": []})"), HasSubstr("no measured point"));
}

TEST(T4, WhatIsNoTimeIsNone) {
  const auto imported = ImportResults(
      R"({"results": [
        {"configuration": {"a": 1}, "invalidity": "correct", "correctness": 1,
         "times": {"runtimes": [0.5, NaN]}},
        {"configuration": {"a": 2}, "invalidity": "correct", "correctness": true,
         "times": {"runtimes": [0.5]}},
        {"configuration": {"a": 4}, "invalidity": "correct", "correctness": false,
         "times": {"runtimes": [0.5]}},
        {"configuration": {"a": 8}, "invalidity": "correct", "correctness": 1,
         "times": {"runtimes": [0]}}]})",
      nullptr);
  ASSERT_TRUE(imported) << imported.error().message;
  const MeasuredSpace& measured = imported->measured;
  EXPECT_FALSE(measured.Find({0})->microseconds);
  EXPECT_DOUBLE_EQ(*measured.Find({1})->microseconds, 500);
  EXPECT_EQ(measured.Find({2})->reason, "correctness");
  EXPECT_FALSE(measured.Find({3})->microseconds);
  EXPECT_THAT(imported->notes, ElementsAre(HasSubstr("2 points ran by its row")));
}

TEST(T4, WhatTheCompilerSaidStays) {
  auto parts = MeasuredSpace::Parts();
  parts.space.parameters = {NumberParameter("a", {1, 2})};
  for (const std::uint16_t place : {0, 1}) {
    MeasuredRow row;
    row.point = {place};
    row.microseconds = 5;
    row.samples = 1;
    if (place == 1)
      std::tie(row.registers, row.local_bytes, row.shared_bytes) = std::tuple(40, 8, 64);
    parts.rows.push_back(std::move(row));
  }
  const auto measured = MeasuredSpace::Make(std::move(parts));
  ASSERT_TRUE(measured) << measured.error().message;
  const auto again = ImportResults(T4Of(*measured), nullptr);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->measured.Find({1})->report().registers, 40);
  EXPECT_EQ(again->measured.Find({1})->local_bytes, 8);
  EXPECT_EQ(again->measured.Find({1})->shared_bytes, 64);
  EXPECT_EQ(again->measured.Find({0})->registers, 0);
}

TEST(T4, WhatARowLacksIsNotMadeUp) {
  const auto imported = ImportResults(
      R"({"results": [{"configuration": {"q": 1, "s": 1}, "times": {"runtimes": [1]}},
                      {"configuration": {"s": 2}, "times": {"runtimes": [2]}}]})",
      nullptr);
  ASSERT_FALSE(imported);
  EXPECT_THAT(imported.error().message, HasSubstr("results[1]: no value of q"));
}

TEST(Import, NumbersBeyond64BitsAreRefused) {
  for (const char* number : {"9223372036854775808", "18446744073709551615"}) {
    const auto imported = ImportResults(std::string(R"({"results": [{"configuration": {"a": )") +
                                            number + R"(}, "times": {"runtimes": [1]}}]})",
                                        nullptr);
    ASSERT_FALSE(imported);
    EXPECT_THAT(imported.error().message, HasSubstr("no number of at most 64 bits"));
  }
  const auto read = ReadSpaceDescription(T1Of(
      R"t1({"Name": "a", "Values": "range(9223372036854775800, 9223372036854775807, 5)"})t1", ""));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->space.parameters[0].values.size(), 2u);
}

TEST(Import, ListedValuesAreSorted) {
  const auto read = ReadSpaceDescription(T1Of(R"({"Name": "a", "Values": "[128, 32, 64]"})", ""));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->space.parameters[0].values, ElementsAre(32, 64, 128));
  EXPECT_EQ(read->space.parameters[0].standard, 128);
}

TEST(Import, OursIsKeptAsItIs) {
  const std::string text = TextOf(LandscapeOf(1));
  const auto imported = ImportResults(text, nullptr);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(TextOf(imported->measured), text);
  const auto description = ReadSpaceDescription(T1Of(kParameters, ""));
  EXPECT_FALSE(ImportResults(text, &*description));
}

TEST(CompletedJson, ChangesNothingElse) {
  EXPECT_EQ(CompletedJson(R"({"a": "N\"aN{[", "b": [1]})"), R"({"a": "N\"aN{[", "b": [1]})");
  EXPECT_EQ(CompletedJson(R"({"a": [NaN, -Infinity, Infinity, -1]})"),
            R"({"a": [null, null, null, -1]})");
  EXPECT_EQ(CompletedJson(R"({"a": {"b": {}, "c": {"d": 1}, "e)"),
            R"({"a": {"b": {}, "c": {"d": 1}}})");
  bool cut = false;
  (void)CompletedJson(R"({"a": [1]})", &cut);
  EXPECT_FALSE(cut);
  (void)CompletedJson(R"({"a": [1])", &cut);
  EXPECT_TRUE(cut);
}

}  // namespace
}  // namespace cupilot::search
