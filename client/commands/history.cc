#include "client/commands/ask.h"
#include "client/commands/commands.h"

namespace cupilot::client {
namespace {

// The smallest over the cases, where the record itself states none (a rejection).
std::string MeasuredSpeedup(const records::Json& evaluation) {
  if (NumberOf(evaluation, "speedup") > 0) return SpeedupOf(evaluation, "speedup");
  records::Json worst;
  for (const records::Json& result : ListOf(evaluation, "cases")) {
    const double speedup = NumberOf(result, "speedup");
    if (!FlagOf(result, "admitted", true)) continue;
    if (speedup > 0 && (worst.is_null() || speedup < NumberOf(worst, "speedup"))) worst = result;
  }
  return SpeedupOf(worst, "speedup");
}

}  // namespace

int RunHistory(const Arguments& arguments, Output& output) {
  const auto history = AskWhenRead(output, "history", KernelParams(arguments.kernel));
  if (!history) return output.Fail(history.error());
  output.Document(*history);
  std::vector<std::vector<std::string>> rows = {
      {"date", "variant", "verdict", "speedup", "reason", "target"}};
  for (const records::Json& one : ListOf(*history, "evaluations")) {
    rows.push_back({TextOf(one, "date"), TextOf(one, "variant").substr(0, 16),
                    TextOf(one, "verdict"), MeasuredSpeedup(one), TextOf(one, "reason"),
                    TextOf(one, "target")});
  }
  if (rows.size() == 1) {
    output.Line("nothing was evaluated yet");
  } else {
    output.Table(rows);
  }
  for (const records::Json& one : ListOf(*history, "refused")) {
    output.Line("not used for " + TextOf(one, "target") + ": variant " +
                TextOf(one, "variant").substr(0, 16) + ": " + TextOf(one, "reason"));
  }
  return kDone;
}

}  // namespace cupilot::client
