#include <cmath>
#include <cstdio>
#include <sstream>

#include "base/file.h"
#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "client/named_output.h"

namespace cupilot::client {
namespace {

using records::Json;

std::string Money(double dollars) {
  char text[48];
  std::snprintf(text, sizeof text, "$%.4f", dollars);
  return text;
}

int PrintModels(const Json& document, Output& output) {
  output.Document(document);
  const std::string models = TextOf(document, "models");
  output.Line(models == "none"
                  ? "no language model is set; numbers and mechanical rewrites need none"
                  : "models: " + models);
  const Json spent = ObjectOf(document, "spent");
  const Json limits = ObjectOf(document, "limits");
  const auto line = [&](const char* what, const char* key) {
    output.Line(std::string(what) + Money(NumberOf(spent, key)) + " of at most " +
                Money(NumberOf(limits, key)));
  };
  if (models != "none") {
    line("today: ", "day_dollars");
    line("this month: ", "month_dollars");
  }
  std::vector<std::vector<std::string>> rows = {
      {"model", "provider", "asked", "answered", "tokens in", "out", "paid", "gain"}};
  for (const Json& one : ListOf(document, "totals")) {
    const double gain = NumberOf(one, "gain");
    char percent[32];
    std::snprintf(percent, sizeof percent, "%+.1f %%", 100 * std::expm1(gain));
    rows.push_back({TextOf(one, "model"), TextOf(one, "provider"), CountOf(one, "requests"),
                    CountOf(one, "answers"), CountOf(one, "input_tokens"),
                    CountOf(one, "output_tokens"), Money(NumberOf(one, "dollars")),
                    gain == 0 ? "-" : percent});
  }
  if (rows.size() > 1) output.Table(rows);
  for (const Json& one : ListOf(document, "allowed")) {
    output.Line("allowed for this project: " + TextOf(one, "provider") + " (since " +
                TextOf(one, "since") + ")");
  }
  return kDone;
}

int Allow(const char* verb, const Arguments& arguments, Output& output) {
  const auto document =
      AskDaemon(output, verb, {{"provider", arguments.provider}, {"folder", CurrentFolder()}});
  if (!document) return output.Fail(document.error());
  return PrintModels(*document, output);
}

// A recording for `replay:`: what was asked and answered, as it is kept.
int PrintAllExchanges(const Arguments& arguments, Output& output) {
  const auto reply = AskDaemon(output, "models_last", {{"all", true}});
  if (!reply) return output.Fail(reply.error());
  const auto text = base::ReadFile(TextOf(*reply, "document"));
  if (!text) return output.Fail(text.error());
  Json exchanges = Json::array();
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    auto exchange = records::ParseJson(line);
    if (!exchange) return output.Fail(exchange.error());
    exchanges.push_back(std::move(*exchange));
  }
  output.Document({{"schema", "cupilot.exchanges/1"}, {"exchanges", std::move(exchanges)}});
  if (arguments.output_file.empty()) {
    if (output.json()) return kDone;
    std::fwrite(text->data(), 1, text->size(), stdout);
    std::fflush(stdout);
    return kDone;
  }
  const auto written = WriteNamedOutput(arguments.output_file, *text);
  if (!written) return output.Fail(written.error());
  output.Line(CountOf(*reply, "count") + " exchanges are in " + arguments.output_file +
              "; cupilot tune --provider replay:" + arguments.output_file + " answers from them");
  return kDone;
}

}  // namespace

int RunModelsStatus(const Arguments&, Output& output) {
  const auto document = AskDaemon(output, "models", {{"folder", CurrentFolder()}});
  if (!document) return output.Fail(document.error());
  return PrintModels(*document, output);
}

// The exact bytes on standard output, and nothing else there.
int RunModelsLast(const Arguments& arguments, Output& output) {
  if (arguments.all) return PrintAllExchanges(arguments, output);
  const auto reply = AskDaemon(output, "models_last", Json::object());
  if (!reply) return output.Fail(reply.error());
  const auto text = base::ReadFile(TextOf(*reply, "document"));
  if (!text) return output.Fail(text.error());
  const auto exchange = records::ParseJson(*text);
  if (!exchange) return output.Fail(exchange.error());
  output.Document(*exchange);
  if (output.json()) return kDone;
  const Json answer = ObjectOf(*exchange, "answer");
  const Json error = ObjectOf(*exchange, "error");
  const std::string shown = arguments.answer ? TextOf(answer.empty() ? error : answer,
                                                      answer.empty() ? "partial" : "text")
                                             : TextOf(*exchange, "sent");
  std::fprintf(stderr, "%s  %s  %s  %s: %s\n", TextOf(*exchange, "time").c_str(),
               TextOf(*exchange, "provider").c_str(), TextOf(*exchange, "model").c_str(),
               TextOf(*exchange, "role").c_str(),
               answer.empty() ? TextOf(error, "why").c_str() : "answered");
  std::fwrite(shown.data(), 1, shown.size(), stdout);
  std::fflush(stdout);
  return kDone;
}

int RunModelsAllow(const Arguments& arguments, Output& output) {
  return Allow("models_allow", arguments, output);
}

int RunModelsForbid(const Arguments& arguments, Output& output) {
  return Allow("models_forbid", arguments, output);
}

}  // namespace cupilot::client
