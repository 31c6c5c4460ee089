// What the three services write and are written, as their documentation has it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "agents/anthropic_format.h"
#include "agents/event_stream.h"
#include "agents/ollama_format.h"
#include "agents/openai_format.h"

namespace cupilot::agents {
namespace {

using records::Json;

ModelRequest Question() {
  ModelRequest request;
  request.role = "strategist.v1";
  request.model = "model-1";
  request.system = "be brief";
  request.prompt = "why?";
  request.max_tokens = 100;
  return request;
}

// Feeds `bytes` in pieces of `size`, as a connection may cut them.
ModelResult ReadPieces(const WireFormat& format, const std::string& bytes, std::size_t size,
                       std::string* streamed = nullptr, const ModelRequest& request = Question()) {
  const auto reader = format.Read(request);
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    if (!reader->Feed(bytes.substr(at, size), text)) break;
  }
  if (streamed != nullptr) *streamed = text;
  return reader->End();
}

Json BodyOf(const WireFormat& format, const ModelRequest& request) {
  return *records::ParseJson(format.Write(request).body);
}

const std::string kOpenAi =
    ": comment\n\n"
    R"(data: {"id":"c","object":"chat.completion.chunk","model":"model-1-x","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null})"
    "\n\n"
    R"(data: {"id":"c","model":"model-1-x","choices":[{"index":0,"delta":{"content":"Be"},"finish_reason":null}]})"
    "\r\n\r\n"
    R"(data: {"id":"c","model":"model-1-x","choices":[{"index":0,"delta":{"content":"cause \u00e9"},"finish_reason":"stop"}]})"
    "\n\n"
    R"(data: {"id":"c","model":"model-1-x","choices":[],"usage":{"prompt_tokens":20,"completion_tokens":7,"total_tokens":27,"prompt_tokens_details":{"cached_tokens":16}}})"
    "\n\n"
    "data: [DONE]\n\n";

const std::string kAnthropic =
    "event: message_start\n"
    R"(data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"model":"model-1-x","stop_reason":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":5,"cache_read_input_tokens":10,"output_tokens":1}}})"
    "\n\n"
    "event: content_block_start\n"
    R"(data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}})"
    "\n\n"
    "event: content_block_delta\n"
    R"(data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}})"
    "\n\n"
    "event: ping\ndata: {\"type\": \"ping\"}\n\n"
    "event: content_block_delta\n"
    R"(data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hello"}})"
    "\n\n"
    "event: content_block_delta\n"
    R"(data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"!"}})"
    "\n\n"
    "event: something_new\ndata: {\"type\": \"something_new\"}\n\n"
    "event: message_delta\n"
    R"(data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":15}})"
    "\n\n"
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

const std::string kOllama =
    R"({"model":"model-1-x","created_at":"2023-08-04T08:52:19Z","message":{"role":"assistant","content":"The"},"done":false})"
    "\n"
    R"({"model":"model-1-x","message":{"role":"assistant","content":" end"},"done":false})"
    "\n"
    R"({"model":"model-1-x","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":1,"prompt_eval_count":26,"eval_count":298})"
    "\n";

TEST(EventStream, ReadsEventsWhereverTheyAreCut) {
  const std::string text =
      "\xEF\xBB\xBF: hello\r\nevent: one\r\ndata: a\r\ndata:b\r\n\r\ndata\n\nid: 7\n\ndata:  c\r\r";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    EventStream stream;
    std::vector<StreamEvent> events;
    for (std::size_t at = 0; at < text.size(); at += size) {
      for (auto& event : stream.Feed(text.substr(at, size))) events.push_back(std::move(event));
    }
    ASSERT_EQ(events.size(), 3u) << size;
    EXPECT_EQ(events[0].type, "one");
    EXPECT_EQ(events[0].data, "a\nb");
    EXPECT_EQ(events[1].data, "");
    EXPECT_EQ(events[2].type, "");
    EXPECT_EQ(events[2].data, " c");
  }
}

TEST(OpenAiFormat, WritesARequest) {
  ModelRequest request = Question();
  EXPECT_EQ(BodyOf(OpenAiFormat(), request), *records::ParseJson(R"({
    "model": "model-1", "max_completion_tokens": 100, "stream": true,
    "stream_options": {"include_usage": true},
    "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "why?"}]})"));
  request.system.clear();
  request.temperature = 0.5;
  request.seed = 3;
  request.schema_name = "answer";
  request.schema = {{"type", "object"}};
  const Json body = BodyOf(OpenAiFormat({.older_limit = true}), request);
  EXPECT_EQ(body["messages"].size(), 1u);
  EXPECT_EQ(body["max_tokens"], 100);
  EXPECT_FALSE(body.contains("max_completion_tokens"));
  EXPECT_EQ(body["temperature"], 0.5);
  EXPECT_EQ(body["seed"], 3);
  EXPECT_EQ(body["response_format"]["json_schema"]["name"], "answer");
  EXPECT_EQ(OpenAiFormat().Write(request).path, "/v1/chat/completions");
}

TEST(OpenAiFormat, ReadsAStreamInAnyPieces) {
  for (const std::size_t size : {1u, 2u, 3u, 7u, 64u, 100000u}) {
    std::string streamed;
    const ModelResult answer = ReadPieces(OpenAiFormat(), kOpenAi, size, &streamed);
    ASSERT_TRUE(answer) << size;
    EXPECT_EQ(answer->text, "Because é");
    EXPECT_EQ(streamed, answer->text);
    EXPECT_EQ(answer->model, "model-1-x");
    EXPECT_EQ(answer->stop, StopReason::kEnd);
    EXPECT_TRUE(answer->usage.known);
    EXPECT_EQ(answer->usage.input, 20);
    EXPECT_EQ(answer->usage.cached_input, 16);
    EXPECT_EQ(answer->usage.output, 7);
  }
}

TEST(OpenAiFormat, ReadsAWholeDocumentOfAServerThatDoesNotStream) {
  const ModelResult answer =
      ReadPieces(OpenAiFormat(),
                 R"({"model":"m","choices":[{"message":{"content":"all"},"finish_reason":"stop"}],
          "usage":{"prompt_tokens":1,"completion_tokens":2}})",
                 5);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text, "all");
  EXPECT_EQ(answer->usage.output, 2);
}

// Compatible servers end with "" or null for the reason, or leave out the usage.
TEST(OpenAiFormat, ReadsWhatCompatibleServersLeaveOut) {
  const ModelResult answer =
      ReadPieces(OpenAiFormat(),
                 "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"\"}]}\n\n"
                 "data: {\"choices\":null,\"usage\":null}\n\ndata: {}\n\ndata: [DONE]\n\n",
                 1000);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text, "x");
  EXPECT_EQ(answer->stop, StopReason::kOther);
  EXPECT_FALSE(answer->usage.known);
}

Failure WhyOf(const WireFormat& format, const std::string& bytes) {
  const ModelResult result = ReadPieces(format, bytes, 1000);
  EXPECT_FALSE(result);
  return result ? Failure::kInternal : result.error().why;
}

std::string OpenAiReason(const std::string& reason) {
  return R"(data: {"choices":[{"delta":{"content":"half"},"finish_reason":")" + reason +
         "\"}]}\n\ndata: [DONE]\n\n";
}

TEST(OpenAiFormat, SaysWhyThereIsNoAnswer) {
  const OpenAiFormat format;
  EXPECT_EQ(WhyOf(format, OpenAiReason("length")), Failure::kTruncated);
  EXPECT_EQ(WhyOf(format, OpenAiReason("content_filter")), Failure::kRefused);
  EXPECT_EQ(WhyOf(format,
                  "data: {\"choices\":[{\"delta\":{\"refusal\":\"no\"},"
                  "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"),
            Failure::kRefused);
  EXPECT_EQ(WhyOf(format, "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n"),
            Failure::kBroken);
  EXPECT_EQ(WhyOf(format, "data: {\"error\":{\"message\":\"boom\",\"code\":502}}\n\n"),
            Failure::kOverloaded);
  EXPECT_EQ(WhyOf(format, "data: {\"error\":{\"type\":\"insufficient_quota\"}}\n\n"),
            Failure::kNoMoney);
  EXPECT_EQ(WhyOf(format, "<html>hello</html>"), Failure::kBroken);
  EXPECT_EQ(WhyOf(format, "data: <html>\n\n"), Failure::kMalformed);
  EXPECT_EQ(WhyOf(format, "data: 17\n\n"), Failure::kMalformed);
  EXPECT_EQ(WhyOf(format, "{\"choices\":[]}"), Failure::kMalformed);
  EXPECT_EQ(WhyOf(format, "{ nonsense"), Failure::kMalformed);
  EXPECT_EQ(WhyOf(format, ""), Failure::kBroken);
  EXPECT_EQ(WhyOf(format, "data: " + std::string(100000, '[') + "\n\n"), Failure::kMalformed);
}

TEST(OpenAiFormat, KeepsWhatCameOfACutAnswer) {
  const ModelResult result = ReadPieces(OpenAiFormat(), OpenAiReason("length"), 1000);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().partial, "half");
  EXPECT_TRUE(result.error().may_cost);
}

TEST(AnthropicFormat, WritesARequest) {
  ModelRequest request = Question();
  request.seed = 3;  // there is none
  EXPECT_EQ(BodyOf(AnthropicFormat(), request), *records::ParseJson(R"({
    "model": "model-1", "max_tokens": 100, "stream": true, "system": "be brief",
    "messages": [{"role": "user", "content": "why?"}]})"));
  request.schema = {{"type", "object"}};
  request.temperature = 1;
  const Json body = BodyOf(AnthropicFormat(), request);
  EXPECT_EQ(body["output_config"]["format"]["type"], "json_schema");
  EXPECT_EQ(body["output_config"]["format"]["schema"]["type"], "object");
  EXPECT_EQ(body["temperature"], 1);
  const WireRequest wire = AnthropicFormat().Write(request);
  EXPECT_EQ(wire.path, "/v1/messages");
  EXPECT_EQ(wire.headers[1].first, "anthropic-version");
  EXPECT_EQ(AnthropicFormat().KeyHeader("k").first, "x-api-key");
}

TEST(AnthropicFormat, ReadsAStreamInAnyPieces) {
  for (const std::size_t size : {1u, 2u, 3u, 7u, 64u, 100000u}) {
    std::string streamed;
    const ModelResult answer = ReadPieces(AnthropicFormat(), kAnthropic, size, &streamed);
    ASSERT_TRUE(answer) << size;
    EXPECT_EQ(answer->text, "Hello!");
    EXPECT_EQ(streamed, "Hello!");
    EXPECT_EQ(answer->usage.input, 40);
    EXPECT_EQ(answer->usage.cached_input, 10);
    EXPECT_EQ(answer->usage.written_input, 5);
    EXPECT_EQ(answer->usage.output, 15);
  }
}

std::string AnthropicReason(const std::string& reason) {
  std::string text = kAnthropic;
  return text.replace(text.find("end_turn"), 8, reason);
}

TEST(AnthropicFormat, SaysWhyThereIsNoAnswer) {
  const AnthropicFormat format;
  EXPECT_EQ(WhyOf(format, AnthropicReason("max_tokens")), Failure::kTruncated);
  EXPECT_EQ(WhyOf(format, AnthropicReason("model_context_window_exceeded")), Failure::kTruncated);
  EXPECT_EQ(WhyOf(format, AnthropicReason("refusal")), Failure::kRefused);
  EXPECT_EQ(WhyOf(format, kAnthropic.substr(0, kAnthropic.find("event: message_delta"))),
            Failure::kBroken);
  EXPECT_EQ(WhyOf(format,
                  "event: error\ndata: {\"type\": \"error\", \"error\": {\"type\": "
                  "\"overloaded_error\", \"message\": \"Overloaded\"}}\n\n"),
            Failure::kOverloaded);
  EXPECT_EQ(WhyOf(format, "nothing of the kind"), Failure::kMalformed);
  EXPECT_EQ(WhyOf(format, "data: {\n\n"), Failure::kMalformed);
}

TEST(OllamaFormat, SetsTheContextAndForbidsDroppingWithoutAWord) {
  ModelRequest request = Question();
  Json body = BodyOf(OllamaFormat(), request);
  EXPECT_EQ(body["options"]["num_ctx"], 16384);
  EXPECT_EQ(body["options"]["num_predict"], 100);
  EXPECT_EQ(body["truncate"], false);
  EXPECT_EQ(body["shift"], false);
  EXPECT_EQ(body["stream"], true);
  EXPECT_EQ(OllamaFormat().Write(request).path, "/api/chat");
  request.prompt = std::string(60000, 'x');
  request.seed = 5;
  request.temperature = 0.25;
  request.schema = {{"type", "object"}};
  body = BodyOf(OllamaFormat(), request);
  EXPECT_EQ(body["options"]["num_ctx"], 32768);
  EXPECT_EQ(body["options"]["seed"], 5);
  EXPECT_EQ(body["options"]["temperature"], 0.25);
  EXPECT_EQ(body["format"]["type"], "object");
  request.prompt = std::string(6000000, 'x');
  EXPECT_EQ(BodyOf(OllamaFormat(), request)["options"]["num_ctx"], 131072);
}

TEST(OllamaFormat, ReadsLinesInAnyPieces) {
  for (const std::size_t size : {1u, 2u, 3u, 7u, 64u, 100000u}) {
    std::string streamed;
    const ModelResult answer = ReadPieces(OllamaFormat(), kOllama, size, &streamed);
    ASSERT_TRUE(answer) << size;
    EXPECT_EQ(answer->text, "The end");
    EXPECT_EQ(streamed, "The end");
    EXPECT_EQ(answer->usage.input, 26);
    EXPECT_EQ(answer->usage.output, 298);
  }
  EXPECT_TRUE(ReadPieces(OllamaFormat(), kOllama.substr(0, kOllama.size() - 1), 9));
}

std::string OllamaEnd(const std::string& reason, int read, int wrote) {
  return R"({"message":{"content":"x"},"done":true,"done_reason":")" + reason +
         R"(","prompt_eval_count":)" + std::to_string(read) + R"(,"eval_count":)" +
         std::to_string(wrote) + "}\n";
}

TEST(OllamaFormat, SeesAPromptThatTheServerShortened) {
  ModelRequest request = Question();
  request.prompt = std::string(400000, 'x');
  // As measured in its issue 17427: half of the context, and a little.
  ModelResult result = ReadPieces(OllamaFormat({.context = 32768, .most_context = 32768}),
                                  OllamaEnd("stop", 16386, 5), 1000, nullptr, request);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().why, Failure::kTruncated);
  EXPECT_NE(result.error().message.find("16386 tokens"), std::string::npos);
  EXPECT_FALSE(result.error().may_cost);
  // As many as there may be of so many bytes.
  EXPECT_TRUE(ReadPieces(OllamaFormat(), OllamaEnd("stop", 80000, 5), 1000, nullptr, request));
  // A short prompt has few tokens.
  EXPECT_TRUE(ReadPieces(OllamaFormat(), OllamaEnd("stop", 1, 5), 1000));
}

TEST(OllamaFormat, SaysWhyThereIsNoAnswer) {
  const OllamaFormat format;
  EXPECT_EQ(WhyOf(format, OllamaEnd("length", 26, 100)), Failure::kTruncated);
  EXPECT_EQ(WhyOf(format, OllamaEnd("stop", 16000, 1000)), Failure::kTruncated);
  EXPECT_EQ(WhyOf(format, "{\"error\":\"out of memory\"}\n"), Failure::kOverloaded);
  EXPECT_EQ(WhyOf(format, "{\"message\":{\"content\":\"half\"},\"done\":false}\n"),
            Failure::kBroken);
  EXPECT_EQ(WhyOf(format, "nonsense\n"), Failure::kMalformed);
  EXPECT_EQ(WhyOf(format, "[1]\n"), Failure::kMalformed);
}

Failure WhyOfStatus(int status, const std::string& body) {
  return ErrorOfStatus(status, {}, body, {}).why;
}

std::string ErrorBody(const std::string& type, const std::string& code,
                      const std::string& message = "text") {
  return Json{{"error", {{"type", type}, {"code", code}, {"message", message}}}}.dump();
}

TEST(ErrorOfStatus, TellsWaitingFromPaying) {
  EXPECT_EQ(WhyOfStatus(429, ErrorBody("requests", "rate_limit_exceeded")), Failure::kRateLimited);
  EXPECT_EQ(WhyOfStatus(429, "not even JSON"), Failure::kRateLimited);
  for (const char* code : {"credit_balance_exhausted", "organization_spend_limit_exceeded",
                           "project_spend_limit_exceeded", "organization_usage_limit_exceeded"}) {
    EXPECT_EQ(WhyOfStatus(429, ErrorBody("insufficient_quota", code)), Failure::kNoMoney);
    EXPECT_EQ(WhyOfStatus(429, ErrorBody("whatever", code)), Failure::kNoMoney);
  }
  EXPECT_EQ(WhyOfStatus(402, ""), Failure::kNoMoney);
  EXPECT_EQ(WhyOfStatus(400, ErrorBody("invalid_request_error", "",
                                       "Your credit balance is too low to access the API")),
            Failure::kNoMoney);
  EXPECT_EQ(WhyOfStatus(400, ErrorBody("invalid_request_error", "",
                                       "You have reached your specified API usage limits. You "
                                       "will regain access on 2026-04-01 at 00:00 UTC.")),
            Failure::kNoMoney);
  EXPECT_EQ(WhyOfStatus(429, R"({"error":{"type":"rate_limit_error","details":
                                {"error_code":"enforced_spend_limit_reached"}}})"),
            Failure::kNoMoney);
}

TEST(ErrorOfStatus, NamesTheReason) {
  EXPECT_EQ(WhyOfStatus(401, ErrorBody("authentication_error", "")), Failure::kUnauthorised);
  EXPECT_EQ(WhyOfStatus(403, ""), Failure::kUnauthorised);
  EXPECT_EQ(WhyOfStatus(404, ErrorBody("invalid_request_error", "model_not_found")),
            Failure::kUnknownModel);
  EXPECT_EQ(WhyOfStatus(404, R"({"error":"model 'x' not found"})"), Failure::kUnknownModel);
  EXPECT_EQ(WhyOfStatus(413, ""), Failure::kTooLarge);
  EXPECT_EQ(WhyOfStatus(400, ErrorBody("invalid_request_error", "context_length_exceeded")),
            Failure::kTooLarge);
  EXPECT_EQ(WhyOfStatus(400, ErrorBody("invalid_request_error", "",
                                       "prompt is too long: 208310 tokens > 200000 maximum")),
            Failure::kTooLarge);
  EXPECT_EQ(WhyOfStatus(500, "<html>"), Failure::kOverloaded);
  EXPECT_EQ(WhyOfStatus(503, ErrorBody("", "slow_down")), Failure::kRateLimited);
  EXPECT_EQ(WhyOfStatus(529, ErrorBody("overloaded_error", "")), Failure::kOverloaded);
  EXPECT_EQ(WhyOfStatus(400, ErrorBody("invalid_request_error", "unsupported_parameter")),
            Failure::kRejected);
  EXPECT_EQ(WhyOfStatus(302, ""), Failure::kRejected);
}

TEST(ErrorOfStatus, ShowsOneShortLineAndNothingOfKeys) {
  const ModelError error =
      ErrorOfStatus(400, {}, ErrorBody("", "", "a\nb\x1b[31m" + std::string(5000, 'x')), {});
  EXPECT_LT(error.message.size(), 400u);
  EXPECT_EQ(error.message.find('\n'), std::string::npos);
  EXPECT_EQ(error.message.find('\x1b'), std::string::npos);
  const ModelError wrong =
      ErrorOfStatus(401, {}, ErrorBody("", "", "Incorrect API key provided: sk-abc***xyz"), {});
  EXPECT_EQ(wrong.message.find("sk-"), std::string::npos);
}

}  // namespace
}  // namespace cupilot::agents
