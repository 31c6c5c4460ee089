// What is in the text that a model answered. All answers here are made up: malformed ones, and what
// is needed to test their reading.
#include "agents/roles/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "agents/roles/schema.h"

namespace cupilot::agents {
namespace {

using records::Json;
using testing::HasSubstr;

const Json& Schema() {
  static const auto& schema = *new Json(Json::parse(R"({
    "type": "object", "additionalProperties": false, "required": ["name"],
    "properties": {
      "name": {"type": "string", "maxLength": 8, "minLength": 1},
      "kind": {"type": "string", "enum": ["a", "b"]},
      "count": {"type": "integer", "minimum": 0, "maximum": 9},
      "share": {"type": "number"},
      "size": {"anyOf": [{"type": "string", "maxLength": 4}, {"type": "integer"}]},
      "parts": {"type": "array", "minItems": 1, "maxItems": 2,
                "items": {"type": "object", "properties": {"x": {"type": "boolean"}}}}}})"));
  return schema;
}

std::string NameIn(const std::string& text) {
  const auto found = FindDocument(text, Schema());
  return found ? (*found)["name"].get<std::string>() : "complaint: " + found.error().message;
}

TEST(FindDocument, PlainFencedAndChatty) {
  EXPECT_EQ(NameIn(R"({"name": "plain"})"), "plain");
  EXPECT_EQ(NameIn("\n  {\"name\": \"plain\"}\n\n"), "plain");
  EXPECT_EQ(NameIn("```json\n{\"name\": \"fenced\"}\n```"), "fenced");
  EXPECT_EQ(NameIn("```\n{\"name\": \"bare\"}\n```\n"), "bare");
  EXPECT_EQ(
      NameIn("Sure! Here is the document:\n\n```json\n{\"name\": \"chatty\"}\n```\n\nThis {works} "
             "because [it] does. Let me know!"),
      "chatty");
  EXPECT_EQ(NameIn("I thought {hard} about it. {\"name\": \"inline\"} Done."), "inline");
  // An open fence, as when the last line was forgotten.
  EXPECT_EQ(NameIn("```json\n{\"name\": \"open\"}\n"), "open");
}

TEST(FindDocument, OtherLanguagesAround) {
  EXPECT_EQ(NameIn("Natürlich, hier ist es:\n{\"name\": \"größe\"}\nViel Erfolg!"), "größe");
  EXPECT_EQ(NameIn("好的，这是结果：```json\n{\"name\": \"核\"}\n```"), "核");
}

TEST(FindDocument, KeysInAnotherLanguageDoNotFit) {
  EXPECT_THAT(NameIn(R"({"nombre": "x"})"), HasSubstr("name: is missing"));
}

TEST(FindDocument, TakesTheBlockThatFits) {
  EXPECT_EQ(
      NameIn("The input was\n```json\n{\"grid\": [1, 2]}\n```\nand the code\n```cuda\n"
             "__global__ void k() { if (a[0] == '\"') { b(); } }\n```\nso:\n```json\n{\"name\": "
             "\"third\"}\n```"),
      "third");
  EXPECT_EQ(NameIn("{\"draft\": 1} and then {\"name\": \"final\"}"), "final");
}

TEST(FindDocument, SourcesWhoseLinesNobodyEscaped) {
  EXPECT_EQ(NameIn("{\"name\": \"a\n\tb\\\"\n\"}"), "a\n\tb\"\n");
  EXPECT_EQ(NameIn("```json\r\n{\"name\":\r\n \"a\r\nb\"}\r\n```"), "a\nb");
}

TEST(FindDocument, TheSameTwiceIsOne) {
  EXPECT_EQ(NameIn("{\"name\": \"x\"}\nAgain: {\"name\":\"x\"}"), "x");
}

TEST(FindDocument, TenThatFitAreAComplaint) {
  std::string text;
  for (int i = 0; i < 10; ++i) {
    text += "Kernel " + std::to_string(i) + ":\n```json\n{\"name\": \"k" + std::to_string(i) +
            "\"}\n```\n";
  }
  EXPECT_THAT(NameIn(text), HasSubstr("10 different documents fit"));
  EXPECT_THAT(NameIn(R"([{"name": "a"}, {"name": "b"}])"), HasSubstr("expected an object"));
}

TEST(FindDocument, CutOff) {
  EXPECT_THAT(NameIn(R"({"name": "a", "kind": )"), HasSubstr("cut off"));
  EXPECT_THAT(NameIn("```json\n{\"name\": \"half a te"), HasSubstr("cut off"));
  EXPECT_THAT(NameIn("Well, {\"name\": \"a\", \"parts\": [{\"x\": true}"),
              HasSubstr("cut off: the JSON document that begins at character 7 of"));
}

TEST(FindDocument, NoDocument) {
  EXPECT_THAT(NameIn(""), HasSubstr("there is no JSON document"));
  EXPECT_THAT(NameIn("I cannot help with that."), HasSubstr("there is no JSON document"));
  EXPECT_THAT(NameIn("int main() { return 0; }"), HasSubstr("there is no JSON document"));
  EXPECT_THAT(NameIn("{\"name\": 'x'}"), HasSubstr("not valid JSON"));
  EXPECT_THAT(NameIn("{\"name\": \"a\", \"name\": \"b\"}"), HasSubstr("not valid JSON"));
  EXPECT_THAT(NameIn("{\"name\": \"\xff\"}"), HasSubstr("not valid JSON"));
}

TEST(FindDocument, HostileTextsEndSoon) {
  // Each beginning could be looked at to the text's end.
  std::string open;
  while (open.size() < kMostAnswer - 8) open += "{\"a\":";
  EXPECT_THAT(NameIn(open), HasSubstr("cut off"));
  EXPECT_THAT(NameIn(std::string(kMostAnswer + 1, ' ')), HasSubstr("too long"));
  EXPECT_THAT(NameIn(std::string(kMostAnswer / 2, '[')), HasSubstr("complaint"));
  // Each could be compared with all others.
  std::string many;
  for (int i = 0; many.size() < kMostAnswer - 16; ++i) many += "{\"a\":" + std::to_string(i) + "}";
  EXPECT_THAT(NameIn(many), HasSubstr("name: is missing"));
}

// What a provider may bring is any bytes: good answers with pieces cut, doubled, exchanged.
TEST(FindDocument, DamagedAnswersAreReadOrComplainedAbout) {
  const std::string good = R"(Here: ```json
{"name": "a", "kind": "b", "count": 3, "size": "x\"y", "parts": [{"x": true}, {"x": false}]}
```)";
  std::mt19937 random(7);
  int fine = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = good;
    for (int change = 0; change <= round % 3; ++change) {
      const std::size_t at = random() % text.size(), length = random() % 9;
      if (random() % 3 == 0) text.erase(at, length);
      if (random() % 3 == 0) text.insert(at, text.substr(random() % text.size(), length));
      if (text.empty()) text = good;
      if (random() % 3 == 0) text[random() % text.size()] = static_cast<char>(random());
    }
    const auto found = FindDocument(text, Schema());
    if (found) {
      ++fine;
      EXPECT_EQ(WhyNotFits(*found, Schema()), "");
    } else {
      EXPECT_FALSE(found.error().message.empty());
      EXPECT_LE(found.error().message.size(), kMostComplaint);
    }
  }
  EXPECT_GT(fine, 400);
}

TEST(WhyNotFits, NamesThePath) {
  const auto why = [](const char* text) { return WhyNotFits(Json::parse(text), Schema()); };
  EXPECT_EQ(why(R"({"name": "a", "kind": "b", "count": 9, "share": 1, "size": 3})"), "");
  EXPECT_EQ(why(R"({"name": "a", "size": "n", "parts": [{"x": true}]})"), "");
  EXPECT_EQ(why(R"([])"), "the document: expected an object, found an array");
  EXPECT_EQ(why(R"({"name": 3})"), "name: expected a string, found an integer");
  EXPECT_EQ(why(R"({"name": null})"), "name: expected a string, found null");
  EXPECT_EQ(why(R"({"name": ""})"), "name: is empty");
  EXPECT_EQ(why(R"({"name": "123456789"})"), "name: is longer than 8 bytes");
  EXPECT_EQ(why(R"({"name": "a\u0000b"})"), "name: holds a NUL");
  EXPECT_EQ(why(R"({"name": "a", "kind": "c"})"), "kind: must be one of: a, b");
  EXPECT_EQ(why(R"({"name": "a", "count": 10})"), "count: is above 9");
  EXPECT_EQ(why(R"({"name": "a", "count": -1})"), "count: is below 0");
  EXPECT_EQ(why(R"({"name": "a", "count": 1.5})"), "count: expected an integer, found a number");
  EXPECT_EQ(why(R"({"name": "a", "size": []})"),
            "size: expected a string or an integer, found an array");
  EXPECT_EQ(why(R"({"name": "a", "size": "12345"})"), "size: is longer than 4 bytes");
  EXPECT_EQ(why(R"({"name": "a", "parts": []})"), "parts: has 0 items, and at least 1 are needed");
  EXPECT_EQ(why(R"({"name": "a", "parts": [{}, {}, {}]})"),
            "parts: has 3 items, and at most 2 are allowed");
  EXPECT_EQ(why(R"({"name": "a", "parts": [{}, {"x": 1}]})"),
            "parts[1].x: expected a boolean, found an integer");
  EXPECT_EQ(why(R"({"name": "a", "parts": [{"y": 1}]})"), "parts[0].y: there is no such key");
}

TEST(SentSchema, HasNoLimits) {
  const Json sent = SentSchema(Schema());
  EXPECT_EQ(sent["properties"]["name"], Json({{"type", "string"}}));
  EXPECT_EQ(sent["properties"]["count"], Json({{"type", "integer"}}));
  EXPECT_EQ(sent["required"], Schema()["required"]);
  EXPECT_EQ(sent["additionalProperties"], false);
  // A key of answers may be called like a limit.
  const Json named = {{"type", "object"}, {"properties", {{"maximum", {{"type", "string"}}}}}};
  EXPECT_EQ(SentSchema(named), named);
}

}  // namespace
}  // namespace cupilot::agents
