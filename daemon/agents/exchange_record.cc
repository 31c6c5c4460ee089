#include "agents/exchange_record.h"

#include <sstream>

#include "base/file.h"
#include "records/reader.h"

namespace cupilot::agents {
namespace {

using records::Json;

Json UsageJson(const Usage& usage) {
  if (!usage.known) return nullptr;
  return {{"input", usage.input},
          {"cached_input", usage.cached_input},
          {"written_input", usage.written_input},
          {"output", usage.output}};
}

void ReadUsage(const Json& json, const std::string& path, Usage& usage, records::Reading& reading) {
  if (!json.is_object()) return;
  usage.known = true;
  records::ObjectReader object(json, path, reading);
  object.Optional("input", usage.input)
      .Optional("cached_input", usage.cached_input)
      .Optional("written_input", usage.written_input)
      .Optional("output", usage.output);
}

Json ResultJson(const ModelResult& result) {
  if (result) {
    return {{"text", result->text},
            {"stop", result->stop == StopReason::kEnd ? "end" : "other"},
            {"model", result->model},
            {"attempts", result->attempts},
            {"cost_nano_dollars", result->cost},
            {"usage", UsageJson(result->usage)}};
  }
  const ModelError& error = result.error();
  return {{"why", Name(error.why)},          {"message", error.message},
          {"attempts", error.attempts},      {"may_cost", error.may_cost},
          {"usage", UsageJson(error.usage)}, {"partial", error.partial}};
}

ModelAnswer ReadAnswer(const Json& json, records::Reading& reading) {
  ModelAnswer answer;
  std::string stop;
  records::ObjectReader object(json, "answer", reading);
  object.Required("text", answer.text)
      .Optional("stop", stop)
      .Optional("model", answer.model)
      .Optional("cost_nano_dollars", answer.cost);
  if (const Json* usage = object.Find("usage")) {
    ReadUsage(*usage, "answer.usage", answer.usage, reading);
  }
  answer.stop = stop == "other" ? StopReason::kOther : StopReason::kEnd;
  return answer;
}

ModelError ReadModelError(const Json& json, records::Reading& reading) {
  ModelError error;
  std::string why;
  records::ObjectReader object(json, "error", reading);
  object.Required("why", why)
      .Optional("message", error.message)
      .Optional("may_cost", error.may_cost)
      .Optional("partial", error.partial);
  if (const Json* usage = object.Find("usage")) {
    ReadUsage(*usage, "error.usage", error.usage, reading);
  }
  error.why = FailureOf(why);
  return error;
}

}  // namespace

Json ToJson(const ExchangeRecord& record) {
  const ModelRequest& request = record.request;
  Json json = {{"schema", "cupilot.exchange/1"},
               {"time", record.time},
               {"provider", record.provider},
               {"role", request.role},
               {"model", request.model},
               {"system", request.system},
               {"prompt", request.prompt},
               {"schema_name", request.schema_name},
               {"max_tokens", request.max_tokens},
               {"sample", request.sample},
               {"project", request.project},
               {"kernel", request.kernel},
               {"sent", record.sent}};
  if (request.temperature) json["temperature"] = *request.temperature;
  if (request.seed) json["seed"] = *request.seed;
  json[record.result ? "answer" : "error"] = ResultJson(record.result);
  return json;
}

base::Result<ExchangeRecord> ReadExchange(const Json& json) {
  records::Reading reading(records::Strictness::kLenient);
  ExchangeRecord record{};
  ModelRequest& request = record.request;
  std::int64_t sample = 0;
  records::ObjectReader object(json, "", reading);
  object.Schema("cupilot.exchange/1")
      .Optional("time", record.time)
      .Optional("provider", record.provider)
      .Required("role", request.role)
      .Optional("model", request.model)
      .Optional("system", request.system)
      .Required("prompt", request.prompt)
      .Optional("schema_name", request.schema_name)
      .Optional("max_tokens", request.max_tokens)
      .Optional("sample", sample)
      .Optional("temperature", request.temperature)
      .Optional("seed", request.seed)
      .Optional("project", request.project)
      .Optional("kernel", request.kernel)
      .Optional("sent", record.sent);
  request.sample = static_cast<int>(sample);
  const Json* answer = object.Find("answer");
  const Json* error = object.Find("error");
  if (answer != nullptr) {
    record.result = ReadAnswer(*answer, reading);
  } else if (error != nullptr) {
    record.result = tl::unexpected(ReadModelError(*error, reading));
  } else {
    reading.Fail("answer", "missing, and so is an error");
  }
  if (reading.error()) return base::Fail(*reading.error());
  return record;
}

base::Result<std::vector<ExchangeRecord>> ReadExchanges(const std::string& path) {
  TRY_ASSIGN(const std::string text, base::ReadFile(path));
  std::vector<ExchangeRecord> exchanges;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string where = path + ":" + std::to_string(number);
    const auto json = records::ParseJson(line);
    if (!json) return base::Fail(json.error().In(where));
    auto exchange = ReadExchange(*json);
    if (!exchange) return base::Fail(exchange.error().In(where));
    exchanges.push_back(std::move(*exchange));
  }
  return exchanges;
}

}  // namespace cupilot::agents
