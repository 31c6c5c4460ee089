#include "client/commands/commands.h"
#include "client/commands/evaluation_text.h"
#include "client/once.h"
#include "client/source_input.h"

namespace cupilot::client {

int RunEvaluate(const Arguments& arguments, Output& output) {
  const auto params = SourceParams(arguments);
  if (!params) return output.Fail(params.error());
  const auto evaluation =
      RunOnce({{"verb", "evaluate"}, {"params", *params}}, [&output](const records::Json& event) {
        output.Progress(TextOf(ObjectOf(event, "data"), "stage"));
      });
  output.EndProgress();
  if (!evaluation) return output.Fail(evaluation.error());
  output.Document(*evaluation);
  PrintEvaluation(*evaluation, output);
  return TextOf(*evaluation, "verdict") == "accepted" ? kDone : kNo;
}

}  // namespace cupilot::client
