#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "client/text_diff.h"

namespace cupilot::client {
namespace {

using records::Json;

constexpr std::size_t kIdOfDiff = 16;
constexpr std::size_t kNarrowest = 60;  // columns of two texts side by side

// "BX=64, unroll(4)": what its numbers and steps say.
std::string WhatChanged(const Json& variant) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  const Json strategy = ObjectOf(variant, "strategy");
  for (const Json& step : ListOf(strategy, "steps")) {
    const Json parameters = ObjectOf(step, "parameters");
    std::string values;
    for (const auto& [name, value] : parameters.items()) {
      values += (values.empty() ? "" : " ") + name + "=" + records::CompactJson(value);
    }
    add(TextOf(step, "technique") + (values.empty() ? "" : "(" + values + ")"));
  }
  const Json numbers = ObjectOf(variant, "values");
  for (const auto& [name, value] : numbers.items()) {
    add(name + "=" + records::CompactJson(value));
  }
  return text;
}

std::string MeasuredText(const Json& evaluation) {
  if (evaluation.empty()) return "not measured";
  const std::string arch = TextOf(ObjectOf(evaluation, "device"), "arch");
  const bool accepted = TextOf(evaluation, "verdict") == "accepted";
  return (accepted ? SpeedupOf(evaluation, "speedup") + " " + IntervalOf(evaluation, "interval")
                   : "rejected: " + TextOf(evaluation, "reason")) +
         (arch.empty() ? "" : " on " + arch) + (arch.rfind("host-", 0) == 0 ? " (CPU times)" : "");
}

// Of a rejection: what was found. Compilers say more than a line.
std::string WhyRejected(const Json& evaluation) {
  if (TextOf(evaluation, "verdict") != "rejected") return {};
  const std::string detail = TextOf(evaluation, "detail");
  return detail.substr(0, detail.find('\n'));
}

std::size_t Columns() {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  constexpr std::size_t kOtherwise = 160;  // a file has no width
  return known ? std::max<std::size_t>(size.ws_col, kNarrowest) : kOtherwise;
}

const char* ColourOf(const std::string& line) {
  if (line.starts_with("@@")) return "\033[36m";
  if (line.starts_with("+")) return "\033[32m";
  if (line.starts_with("-")) return "\033[31m";
  return "";
}

void PrintUnified(const std::vector<std::string>& lines, Output& output) {
  for (const std::string& line : lines) {
    const std::string colour = output.colours() ? ColourOf(line) : "";
    output.Line(colour.empty() ? line : colour + line + "\033[0m");
  }
}

}  // namespace

int RunDiff(const Arguments& arguments, Output& output) {
  Json params = KernelParams(arguments.kernel);
  if (!arguments.arch.empty()) params["arch"] = arguments.arch;
  if (!arguments.variant.empty()) params["variant"] = arguments.variant;
  const auto reply = AskWhenRead(output, "diff", params);
  if (!reply) return output.Fail(reply.error());
  const Json variant = ObjectOf(*reply, "variant");
  const TextDiff diff(TextOf(*reply, "original"), TextOf(variant, "source"));
  const std::vector<std::string> unified = diff.Unified();
  Json document = *reply;
  document["difference"] = unified;
  output.Document(document);
  const std::string title = TextOf(ObjectOf(variant, "strategy"), "title");
  const std::string changed = WhatChanged(variant);
  output.Line(TextOf(*reply, "kernel") + ": " + (title.empty() ? "variant" : title) +
              (changed.empty() ? "" : " [" + changed + "]") + ", " +
              MeasuredText(ObjectOf(*reply, "evaluation")));
  const std::string why = WhyRejected(ObjectOf(*reply, "evaluation"));
  if (!why.empty()) output.Line("  " + why);
  const std::string original = ShownPath(TextOf(*reply, "file")) + ":" + CountOf(*reply, "line");
  const std::string other = "variant " + TextOf(variant, "id").substr(0, kIdOfDiff);
  if (arguments.side_by_side) {
    for (const std::string& line : diff.SideBySide(original, other, Columns())) output.Line(line);
    return kDone;
  }
  output.Line("--- " + original);
  output.Line("+++ " + other);
  PrintUnified(unified, output);
  return kDone;
}

}  // namespace cupilot::client
