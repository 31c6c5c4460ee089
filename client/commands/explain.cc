#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "client/commands/evaluation_text.h"
#include "client/commands/explain_screen.h"
#include "client/commands/explanation.h"

namespace cupilot::client {
namespace {

using records::Json;

// "'1080p', 'thumbnail'"
std::string NamesOf(const Json& variant) {
  std::string names;
  for (const Json& name : ListOf(variant, "cases")) {
    if (name.is_string()) names += (names.empty() ? "'" : ", '") + name.get<std::string>() + "'";
  }
  return names;
}

void PrintWinner(const Json& document, Output& output) {
  const Json device = ObjectOf(document, "device");
  if (TextOf(document, "verdict") != "accepted") {
    output.Line("the original runs: " + TextOf(document, "why_not"));
    return;
  }
  const Json variants = ListOf(document, "variants");
  const std::string what = variants.size() < 2
                               ? TextOf(document, "strategy")
                               : std::to_string(variants.size()) + " variants for different sizes";
  output.Line("won: " + what + ", " + SpeedupOf(document, "speedup") + " " +
              IntervalOf(document, "interval") +
              (FlagOf(document, "published") ? ", published" : "") +
              (TextOf(document, "shipped").empty() ? "" : ", in the last build as measured"));
  if (variants.size() > 1) {
    for (const Json& variant : variants) {
      output.Line("  " + TextOf(variant, "strategy") + ": cases " + NamesOf(variant) + ", alone " +
                  SpeedupOf(variant, "speedup") + ", variant " +
                  TextOf(variant, "id").substr(0, 16));
    }
  }
  output.Line("  " + Microseconds(NumberOf(document, "original_us")) + " before, " +
              Microseconds(NumberOf(document, "variant_us")) + " after, " +
              TextOf(device, "times") + " on " + TextOf(device, "name") + " (" +
              TextOf(device, "arch") + ")");
  if (const double floor = NumberOf(document, "floor_us"); floor > 0) {
    output.Line("  floor " + Microseconds(floor));
  }
  if (const std::string guard = TextOf(document, "guard"); !guard.empty()) {
    output.Line("  runs where: " + guard);
  }
  const Json evaluation = ObjectOf(document, "evaluation");
  PrintRoofline(evaluation, output);
  output.Line("  proven " + TextOf(evaluation, "date") + ", variant " +
              TextOf(evaluation, "variant").substr(0, 16));
  for (const Json& check : ListOf(evaluation, "checks")) {
    output.Line("    " + std::string(FlagOf(check, "passed") ? "passed " : "FAILED ") +
                TextOf(check, "name") +
                (TextOf(check, "detail").empty() ? "" : ": " + TextOf(check, "detail")));
  }
}

void PrintTried(const Json& document, Output& output) {
  const Json tried = ListOf(document, "tried");
  if (!tried.empty()) {
    output.Line("tried");
    std::vector<std::vector<std::string>> rows;
    for (const Json& one : tried) {
      rows.push_back({"  " + TextOf(one, "title"), TextOf(one, "verdict"),
                      SpeedupOf(one, "speedup"), TextOf(one, "reason")});
    }
    output.Table(rows);
  }
  if (NumberOf(document, "same_code") > 0) {
    output.Line("not measured, built to the same code as another: " +
                CountOf(document, "same_code"));
  }
  for (const Json& one : ListOf(document, "dropped")) {
    output.Line("not built, beyond what the device has (" + TextOf(one, "limit") +
                "): " + CountOf(one, "count"));
  }
  const Json declined = ListOf(document, "declined");
  if (declined.empty()) return;
  output.Line("not applicable");
  for (const Json& one : declined) {
    output.Line("  " + TextOf(one, "technique") + ": " + TextOf(one, "reason"));
  }
}

// What language models were asked, where one was.
void PrintAskedModels(const Json& document, Output& output) {
  const Json models = ObjectOf(document, "models");
  if (models.empty()) return;
  char cost[48];
  std::snprintf(cost, sizeof cost, "$%.4f", NumberOf(models, "dollars"));
  output.Line("language models: " + TextOf(models, "state") + ", " + CountOf(models, "requests") +
              " of at most " + CountOf(models, "most_requests") + " requests, " + cost);
  if (NumberOf(models, "open_requests") > 0) {
    output.Line("  open, waiting for answers: " + CountOf(models, "open_requests"));
  }
  for (const Json& line : ListOf(models, "lines")) {
    if (line.is_string()) output.Line("  " + line.get<std::string>());
  }
  if (const std::string trouble = TextOf(models, "trouble"); !trouble.empty()) {
    output.Line("  last trouble: " + trouble.substr(0, trouble.find('\n')));
  }
}

// Debug and Release of one source are two kernels: which one this is about.
void PrintBuild(const Json& document, Output& output) {
  const Json others = ListOf(document, "also_built_in");
  if (others.empty()) return;
  std::string folders;
  for (const Json& folder : others) {
    if (folder.is_string()) folders += (folders.empty() ? "" : ", ") + folder.get<std::string>();
  }
  output.Line("of the build in " + TextOf(document, "project") + "; ask from " + folders +
              " for the other");
}

}  // namespace

void PrintExplanation(const Json& document, Output& output) {
  output.Line(TextOf(document, "kernel") + "  " + ShownPath(TextOf(document, "file")) + ":" +
              CountOf(document, "line") + "  " + TextOf(document, "state"));
  if (const double seconds = NumberOf(document, "read_seconds"); seconds > 0) {
    output.Line("  read in " + Microseconds(seconds * 1e6));
  }
  PrintWinner(document, output);
  for (const std::string& line : MarkLines(document)) output.Line(line);
  PrintTried(document, output);
  PrintExpected(document, output);
  PrintAskedModels(document, output);
  output.Line(CostLine(document));
  if (const std::string times = TimesLine(document); !times.empty()) output.Line(times);
  for (const Json& warning : ListOf(document, "warnings")) {
    if (warning.is_string()) output.Line("warning: " + warning.get<std::string>());
  }
  output.Line("next: " + TextOf(document, "next"));
}

int RunExplain(const Arguments& arguments, Output& output) {
  const auto document = AskWhenRead(output, "explain", KernelParams(arguments.kernel));
  if (!document) return output.Fail(document.error());
  output.Document(*document);
  if (arguments.full) {
    PrintExplanation(*document, output);
    PrintBuild(*document, output);
    return kDone;
  }
  const std::string file = ShownPath(TextOf(*document, "file"));
  for (const std::string& line : ExplainScreen(*document, file)) output.Line(line);
  PrintBuild(*document, output);
  return kDone;
}

}  // namespace cupilot::client
