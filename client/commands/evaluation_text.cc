#include "client/commands/evaluation_text.h"

#include <cstdio>
#include <string>

namespace cupilot::client {

using records::Json;

void PrintEvaluation(const Json& evaluation, Output& output) {
  const bool accepted = TextOf(evaluation, "verdict") == "accepted";
  std::string head = accepted ? "accepted: " + SpeedupOf(evaluation, "speedup") + " " +
                                    IntervalOf(evaluation, "interval")
                              : "rejected: " + TextOf(evaluation, "reason");
  const std::string detail = TextOf(evaluation, "detail");
  output.Line(detail.empty() ? head : head + ": " + detail);
  std::vector<std::vector<std::string>> rows = {
      {"case", "original", "variant", "speedup", "interval", "samples", "l2"}};
  for (const Json& one : ListOf(evaluation, "cases")) {
    if (NumberOf(one, "variant_us") <= 0) continue;
    rows.push_back({TextOf(one, "name"), Microseconds(NumberOf(one, "original_us")),
                    Microseconds(NumberOf(one, "variant_us")), SpeedupOf(one, "speedup"),
                    IntervalOf(one, "interval"), CountOf(one, "samples"), TextOf(one, "l2")});
  }
  if (rows.size() > 1) output.Table(rows);
  for (const Json& check : ListOf(evaluation, "checks")) {
    const std::string note = TextOf(check, "detail");
    output.Line("  " + std::string(FlagOf(check, "passed") ? "passed " : "FAILED ") +
                TextOf(check, "name") + (note.empty() ? "" : ": " + note));
  }
  const Json device = ObjectOf(evaluation, "device");
  if (TextOf(device, "name").empty()) return;
  const std::string arch = TextOf(device, "arch");
  output.Line("on " + TextOf(device, "name") + " (" + arch + ")" +
              (arch.rfind("host-", 0) == 0 ? ", CPU times" : ""));
}

}  // namespace cupilot::client
