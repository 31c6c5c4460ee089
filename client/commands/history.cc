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

// A page of evaluations at a time: all of them would keep the daemon from others.
base::Result<records::Json> AskAll(Output& output, const std::string& kernel) {
  records::Json params = KernelParams(kernel);
  params["from"] = 0u;
  TRY_ASSIGN(records::Json history, AskWhenRead(output, "history", params));
  // An older daemon says all at once.
  records::Json next = history.value("next", records::Json());
  history.erase("next");
  while (next.is_number_unsigned() && next > params["from"]) {
    params["from"] = next;
    TRY_ASSIGN(const records::Json page, AskDaemon(output, "history", params));
    for (const records::Json& one : ListOf(page, "evaluations")) {
      history["evaluations"].push_back(one);
    }
    next = page.value("next", records::Json());
  }
  return history;
}

enum HistoryColumn : std::size_t { kReasonColumn = 4, kTitleColumn = 6 };

}  // namespace

int RunHistory(const Arguments& arguments, Output& output) {
  const auto history = AskAll(output, arguments.kernel);
  if (!history) return output.Fail(history.error());
  output.Document(*history);
  PrintChanges(*history, output);
  std::vector<std::vector<std::string>> rows = {
      {"date", "variant", "verdict", "speedup", "reason", "target", "what changed"}};
  for (const records::Json& one : ListOf(*history, "evaluations")) {
    rows.push_back({TextOf(one, "date"), TextOf(one, "variant").substr(0, 16),
                    TextOf(one, "verdict"), MeasuredSpeedup(one), TextOf(one, "reason"),
                    TextOf(one, "target"), TextOf(one, "title")});
  }
  if (rows.size() == 1) {
    output.Line("nothing was evaluated yet");
  } else {
    output.Table(rows, {{kTitleColumn, 24}, {kReasonColumn, 10}, {kTitleColumn, 10}});
  }
  for (const records::Json& one : ListOf(*history, "refused")) {
    output.Line("not used for " + TextOf(one, "target") + ": variant " +
                TextOf(one, "variant").substr(0, 16) + ": " + TextOf(one, "reason"));
  }
  return kDone;
}

}  // namespace cupilot::client
