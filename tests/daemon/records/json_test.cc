#include "records/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "records/reader.h"

namespace cupilot::records {
namespace {

using ::testing::HasSubstr;

TEST(ParseJson, RefusesWhatIsAmbiguous) {
  EXPECT_THAT(ParseJson("{\"a\": 1,\n \"b\": }").error().message, HasSubstr("line 2, column"));
  EXPECT_THAT(ParseJson(R"({"a": 1, "b": {"c": 1, "c": 2}})").error().message,
              HasSubstr("'c' occurs twice"));
  EXPECT_FALSE(ParseJson("\"\xff\"").has_value());
  EXPECT_FALSE(ParseJson("").has_value());
  EXPECT_FALSE(ParseJson("{} x").has_value());
  EXPECT_FALSE(ParseJson("1e999").has_value());
  EXPECT_THAT(ParseJson(std::string(300, '[') + std::string(300, ']')).error().message,
              HasSubstr("deep"));
  EXPECT_TRUE(ParseJson(R"([{"a": 1}, {"a": 2}])").has_value());
}

// Numbers of RFC 8785, appendix B.
TEST(CanonicalJson, WritesNumbersAsEcmaScriptDoes) {
  const auto of = [](double value) { return CanonicalJson(Json(value)); };
  EXPECT_EQ(of(0.0), "0");
  EXPECT_EQ(of(-0.0), "0");
  EXPECT_EQ(of(5e-324), "5e-324");
  EXPECT_EQ(of(std::numeric_limits<double>::max()), "1.7976931348623157e+308");
  EXPECT_EQ(of(9007199254740992.0), "9007199254740992");
  EXPECT_EQ(of(295147905179352830000.0), "295147905179352830000");
  EXPECT_EQ(of(9.999999999999997e22), "9.999999999999997e+22");
  EXPECT_EQ(of(1e23), "1e+23");
  EXPECT_EQ(of(999999999999999700000.0), "999999999999999700000");
  EXPECT_EQ(of(1e21), "1e+21");
  EXPECT_EQ(of(0.000001), "0.000001");
  EXPECT_EQ(of(1e-7), "1e-7");
  EXPECT_EQ(of(333333333.3333332), "333333333.3333332");
  EXPECT_EQ(of(-0.0000033333333333333333), "-0.0000033333333333333333");
  EXPECT_EQ(of(1.0), "1");
}

TEST(CanonicalJson, SortsKeysByUtf16AndEscapesLittle) {
  const Json json = *ParseJson(
      "{\"\xef\xac\xb3\": 1, \"\xf0\x9f\x98\x82\": 2, \"\xc3\xb6\": 3, \"b\": 4, \"\\r\": 5, "
      "\"1\": 6, "
      "\"a\": {\"z\": [true, null], \"y\": \"\\u0007\\u20ac\\n\"}}");
  EXPECT_EQ(CanonicalJson(json),
            "{\"\\r\":5,\"1\":6,\"a\":{\"y\":\"\\u0007\xe2\x82\xac\\n\",\"z\":[true,null]},\"b\":4,"
            "\"\xc3\xb6\":3,\"\xf0\x9f\x98\x82\":2,\"\xef\xac\xb3\":1}");
}

TEST(HashJson, DependsOnTheValueOnly) {
  EXPECT_EQ(HashJson(*ParseJson(R"({"b": 1.0, "a": [1]})")),
            HashJson(*ParseJson("{\"a\":[1],\n\"b\":1}")));
  EXPECT_EQ(CanonicalJson(Json(std::numeric_limits<std::uint64_t>::max())),
            "\"18446744073709551615\"");
}

TEST(PrettyJson, PutsTheSchemaFirst) {
  EXPECT_EQ(PrettyJson({{"a", Json::array({1, Json::array()})}, {"schema", "s"}}),
            "{\n  \"schema\": \"s\",\n  \"a\": [\n    1,\n    []\n  ]\n}\n");
  EXPECT_THAT(CompactJson({{"log", "\xff"}}), HasSubstr("\xef\xbf\xbd"));
}

TEST(NumberText, GoesBothWaysExactly) {
  for (const std::string text : {"0", "-5", "1920", "0.5", "1e-7", "9007199254740993",
                                 "18446744073709551615", "nan", "-inf", "width*2", "1.50", "007"}) {
    std::string back;
    const Json json = *ParseJson(CompactJson(NumberTextJson(text)));
    ASSERT_TRUE(NumberText(json, back));
    EXPECT_EQ(back, text);
  }
  EXPECT_TRUE(NumberTextJson("1920").is_number_integer());
  EXPECT_TRUE(NumberTextJson("0.5").is_number_float());
}

}  // namespace

// Outside the unnamed namespace, where the readers of containers find them.
struct ReaderTestInner {
  std::int64_t count = 0;
};
struct ReaderTestOuter {
  std::vector<ReaderTestInner> items;
  std::optional<std::string> name;
  std::map<std::string, double> values;
};
static void Read(const Json& json, const std::string& path, ReaderTestInner& out,
                 Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("count", out.count);
  object.Finish();
}
static void Read(const Json& json, const std::string& path, ReaderTestOuter& out,
                 Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("items", out.items).Optional("name", out.name).Optional("values", out.values);
  object.Finish();
}

namespace {

std::string MessageOf(const std::string& text, Strictness strictness = Strictness::kStrict) {
  const auto read = ReadDocument<ReaderTestOuter>(*ParseJson(text), strictness);
  return read ? "" : read.error().message;
}

TEST(Reader, NamesThePathOfTheBadKey) {
  EXPECT_EQ(MessageOf(R"({"items": [{"count": 1}, {"count": "x"}]})"),
            "items[1].count: expected an integer, found a string");
  EXPECT_EQ(MessageOf(R"({"items": [{"count": 1.5}]})"),
            "items[0].count: expected an integer, found 1.5");
  EXPECT_EQ(MessageOf(R"({"items": [{}]})"), "items[0].count: missing");
  EXPECT_EQ(MessageOf(R"({"items": [{"count": 1, "more": 2}]})"),
            "items[0].more: unknown key; known here: count");
  EXPECT_EQ(MessageOf(R"({"items": [], "values": {"a": 1, "b": []}})"),
            "values.b: expected a number, found an array");
  EXPECT_EQ(MessageOf("[]"), "document: expected an object, found an array");
  EXPECT_EQ(MessageOf(R"({"items": [{"count": 18446744073709551615}]})"),
            "items[0].count: the integer 18446744073709551615 is out of range");
}

TEST(Reader, IsForgivingToOurOwnRecords) {
  EXPECT_EQ(MessageOf(R"({"more": 1})", Strictness::kLenient), "");
  EXPECT_EQ(MessageOf(R"({"items": [{"count": true}]})", Strictness::kLenient),
            "items[0].count: expected an integer, found a boolean");
}

TEST(Reader, ReadsLargeIntegersAndSpecialNumbersFromStrings) {
  const auto read = ReadDocument<ReaderTestOuter>(
      *ParseJson(R"({"items": [{"count": "-9223372036854775808"}, {"count": 3.0}],
                     "values": {"a": "nan", "b": "-inf", "c": 2}})"),
      Strictness::kStrict);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->items[0].count, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(read->items[1].count, 3);
  EXPECT_TRUE(std::isnan(read->values.at("a")));
  EXPECT_EQ(read->values.at("b"), -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace cupilot::records
