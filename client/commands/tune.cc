#include <cstdio>
#include <string>

#include "base/file.h"
#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "client/commands/evaluation_text.h"
#include "client/named_output.h"
#include "client/once.h"
#include "client/source_input.h"

namespace cupilot::client {
namespace {

using records::Json;

// What is being tried passes by; verdicts stay.
class TuneProgress {
 public:
  explicit TuneProgress(Output& output) : output_(output) {}

  void OnEvent(const Json& event) {
    const Json data = ObjectOf(event, "data");
    const std::string title = TextOf(data, "title");
    if (TextOf(event, "event") != "verdict") {
      if (output_.terminal())
        output_.Progress(TextOf(data, "stage") + (title.empty() ? "" : ": " + title));
      return;
    }
    // What was looked at before is proven, and does not count twice.
    const int evaluations = static_cast<int>(NumberOf(data, "evaluations"));
    count_ = evaluations > 0 ? evaluations : count_ + 1;
    const std::string reason = TextOf(data, "reason");
    std::string line = std::to_string(count_) + "  " + TextOf(data, "verdict") + "  " +
                       SpeedupOf(data, "speedup") + "  " + title;
    if (!reason.empty()) line += " (" + reason + ")";
    output_.Line(line);
  }

 private:
  Output& output_;
  int count_ = 0;
};

// Whether the text names only what the user's naming it allows (service/once.cc): then the daemon
// need not be asked what it may do.
bool IsAllowedByNaming(const std::string& provider) {
  for (const char* service : {"openai", "anthropic", "ollama"}) {
    if (provider.find(service) != std::string::npos) return false;
  }
  return true;
}

// What the user allowed for the project of the source's folder; nothing where the daemon knows
// none, or cannot be asked: then it is refused, with what to type.
Json AllowedProviders(const std::string& file, Output& output) {
  Json names = Json::array();
  const std::string folder = file.substr(0, file.rfind('/'));
  const auto document = AskDaemon(output, "models", {{"folder", folder}});
  if (!document) return names;
  for (const Json& one : ListOf(*document, "allowed")) names.push_back(TextOf(one, "provider"));
  return names;
}

void AddProvider(const Arguments& arguments, Json& params, Output& output) {
  if (arguments.provider.empty()) return;
  params["provider"] = arguments.provider;
  params["folder"] = CurrentFolder();
  params["allow_provider"] = arguments.allow_provider;
  if (!arguments.allow_provider && !IsAllowedByNaming(arguments.provider)) {
    params["allowed"] = AllowedProviders(TextOf(params, "file"), output);
  }
}

// What models were asked, and what is open.
void PrintAsked(const Json& models, Output& output) {
  if (!models.is_object()) return;
  for (const Json& line : ListOf(models, "lines")) output.Line(line.get<std::string>());
  const std::int64_t open = models.value("open_requests", std::int64_t{0});
  if (open == 0) return;
  const std::string folder = TextOf(models, "exchange");
  output.Line(std::to_string(open) + (open == 1 ? " request is" : " requests are") + " open in " +
              folder + "/requests; put the answers into " + folder + "/answers (" + folder +
              "/README.txt says how), then run the same command again");
}

}  // namespace

int RunTune(const Arguments& arguments, Output& output) {
  auto params = SourceParams(arguments);
  if (!params) return output.Fail(params.error());
  AddProvider(arguments, *params, output);
  TuneProgress progress(output);
  const auto result = RunOnce({{"verb", "tune"}, {"params", *params}},
                              [&progress](const records::Json& event) { progress.OnEvent(event); });
  output.EndProgress();
  if (!result) return output.Fail(result.error());
  const Json variant = result->value("variant", Json());
  const Json evaluation = result->value("evaluation", Json());
  if (variant.is_object() && !arguments.output_file.empty()) {
    const std::string path = base::AbsolutePath(arguments.output_file, CurrentFolder());
    if (auto written = WriteNamedOutput(path, records::PrettyJson(variant)); !written) {
      return output.Fail(written.error());
    }
  }
  output.Document(*result);
  PrintExpected(*result, output);
  const Json models = result->value("models", Json());
  // Not done, whatever was found so far.
  const bool open = models.is_object() && models.value("open_requests", std::int64_t{0}) > 0;
  if (!variant.is_object()) {
    output.Line("nothing was proven faster than the original");
    PrintAsked(models, output);
    return kNo;
  }
  output.Line(TextOf(ObjectOf(variant, "strategy"), "title"));
  for (const Json& one : ListOf(models.is_object() ? models : Json::object(), "variants")) {
    if (TextOf(one, "id") != TextOf(variant, "id")) continue;
    const std::string model = TextOf(one, "model");
    output.Line("written by " + TextOf(one, "provider") + (model.empty() ? "" : " " + model));
  }
  PrintEvaluation(evaluation, output);
  if (!arguments.output_file.empty()) output.Line("written to " + arguments.output_file);
  PrintAsked(models, output);
  return open ? kNo : kDone;
}

}  // namespace cupilot::client
