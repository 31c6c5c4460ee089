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

// What builds got when, and why; what the user decided.
void PrintChanges(const records::Json& history, Output& output) {
  for (const records::Json& one : ListOf(history, "changes")) {
    const records::Json variants = ListOf(one, "variants");
    const bool original = TextOf(one, "what") == "published" && variants.empty();
    std::string line =
        TextOf(one, "date") + "  " + (original ? "the original" : TextOf(one, "what"));
    if (!variants.empty() && variants[0].is_string()) {
      const std::string title = TextOf(one, "title");
      line += " " + variants[0].get<std::string>().substr(0, 16) +
              (title.empty() ? "" : " (" + title + ")");
    }
    output.Line(line + ": " + TextOf(one, "reason"));
  }
  for (const records::Json& mark : ListOf(history, "marks")) {
    output.Line("now " + TextOf(mark, "mark") + ": variant " +
                TextOf(mark, "variant").substr(0, 16) + " (" + TextOf(mark, "title") + ")");
  }
}

}  // namespace

int RunHistory(const Arguments& arguments, Output& output) {
  const auto history = AskWhenRead(output, "history", KernelParams(arguments.kernel));
  if (!history) return output.Fail(history.error());
  output.Document(*history);
  PrintChanges(*history, output);
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
