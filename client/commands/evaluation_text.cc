#include "client/commands/evaluation_text.h"

#include <cstdio>
#include <string>

namespace cupilot::client {

using records::Json;

namespace {

std::string NameOfBound(const std::string& bound) {
  if (bound == "dram") return "memory";
  if (bound == "l1" || bound == "l2") return bound == "l1" ? "L1 cache" : "L2 cache";
  if (bound == "shared") return "shared memory";
  if (bound == "issue") return "instruction issue";
  if (bound == "load_store") return "load and store instructions";
  if (bound == "integer") return "integer arithmetic";
  if (bound == "special") return "special functions";
  if (bound == "launch") return "the launch itself";
  return bound == "latency" ? bound : bound + " arithmetic";
}

std::string BoundOf(const Json& side) {
  const std::string bound = TextOf(side, "bound");
  if (bound.empty()) return "not known";
  char share[32];
  std::snprintf(share, sizeof share, " (%.0f %%)", 100 * NumberOf(side, "share"));
  // Latency is what remains: no ceiling is near.
  return NameOfBound(bound) + (bound == "latency" ? "" : share);
}

}  // namespace

void PrintRoofline(const Json& evaluation, Output& output) {
  const std::string kCase = "case ";
  const Json metrics = ObjectOf(evaluation, "metrics");
  for (const auto& [key, facts] : metrics.items()) {
    if (key.rfind(kCase, 0) != 0 || !facts.is_object() || !facts.contains("roofline")) continue;
    const Json roofline = ObjectOf(facts, "roofline");
    const bool counted = TextOf(roofline, "source") == "cupti";
    output.Line(
        "  " + key + ", bound: " + BoundOf(ObjectOf(roofline, "variant")) +
        ", the original's: " + BoundOf(ObjectOf(roofline, "original")) +
        (counted ? "; counted by CUPTI" : "; without counters: " + TextOf(roofline, "reason")));
  }
}

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
    if (!FlagOf(one, "admitted", true)) {
      rows.push_back({TextOf(one, "name"), "", "outside the guard", "", "", "", ""});
      continue;
    }
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
  PrintRoofline(evaluation, output);
  const Json device = ObjectOf(evaluation, "device");
  if (TextOf(device, "name").empty()) return;
  const std::string arch = TextOf(device, "arch");
  output.Line("on " + TextOf(device, "name") + " (" + arch + ")" +
              (arch.rfind("host-", 0) == 0 ? ", CPU times" : ""));
}

std::string ExpectedLine(const records::Json& document) {
  const Json expected = ObjectOf(document, "expected");
  const std::string ended = TextOf(document, "ended");
  std::string line = ended.empty() ? "" : "the search has ended: " + ended;
  if (!expected.empty()) {
    const double percent = NumberOf(expected, "gain") * 100;
    char gain[32];
    std::snprintf(gain, sizeof gain, "%.1f %%", percent);
    line += (line.empty() ? "" : "; ") + std::string("another minute is expected to gain ") +
            (percent > 0 && percent < 0.1 ? "less than 0.1 %" : gain);
  }
  const Json numbers = ObjectOf(document, "numbers");
  if (line.empty() || numbers.empty()) return line;
  return line + "; of " + CountOf(numbers, "points") + " points of its tunables " +
         CountOf(numbers, "tried") + " were tried";
}

void PrintExpected(const records::Json& document, Output& output) {
  const std::string line = ExpectedLine(document);
  if (!line.empty()) output.Line(line);
}

}  // namespace cupilot::client
