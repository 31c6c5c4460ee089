#include <cstdio>
#include <string>

#include "base/file.h"
#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "client/commands/evaluation_text.h"
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
    ++count_;
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

}  // namespace

int RunTune(const Arguments& arguments, Output& output) {
  const auto params = SourceParams(arguments);
  if (!params) return output.Fail(params.error());
  TuneProgress progress(output);
  const auto result = RunOnce({{"verb", "tune"}, {"params", *params}},
                              [&progress](const records::Json& event) { progress.OnEvent(event); });
  output.EndProgress();
  if (!result) return output.Fail(result.error());
  const Json variant = result->value("variant", Json());
  const Json evaluation = result->value("evaluation", Json());
  if (variant.is_object() && !arguments.output_file.empty()) {
    const std::string path = base::AbsolutePath(arguments.output_file, CurrentFolder());
    if (auto written = base::WriteFileAtomically(path, records::PrettyJson(variant)); !written) {
      return output.Fail(written.error());
    }
  }
  output.Document(*result);
  PrintExpected(*result, output);
  if (!variant.is_object()) {
    output.Line("nothing was proven faster than the original");
    return kNo;
  }
  output.Line(TextOf(ObjectOf(variant, "strategy"), "title"));
  PrintEvaluation(evaluation, output);
  if (!arguments.output_file.empty()) output.Line("written to " + arguments.output_file);
  return kDone;
}

}  // namespace cupilot::client
