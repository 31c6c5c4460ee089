#include "client/commands/status_text.h"

#include <cmath>
#include <string>

#include "client/commands/ask.h"
#include "client/older_settings.h"

namespace cupilot::client {
namespace {

using records::Json;

std::string Percent(double share) { return std::to_string(std::lround(share * 100)) + " %"; }

void PrintProjects(const Json& projects, Output& output) {
  if (!projects.is_array() || projects.empty()) {
    output.Line("no project yet: configure one that calls cupilot_tune(TARGET)");
    return;
  }
  output.Line("projects");
  for (const Json& project : projects) {
    output.Line("  " + TextOf(project, "build_folder") + "  " + CountOf(project, "kernels") +
                " kernels");
    for (const Json& code : ListOf(project, "code")) {
      if (code.is_string()) output.Line("    " + code.get<std::string>());
    }
    const Json slowest = ObjectOf(project, "slowest_read");
    if (const double seconds = NumberOf(slowest, "seconds"); seconds >= 1) {
      output.Line("    " + TextOf(slowest, "source") + " takes " + Microseconds(seconds * 1e6) +
                  " to read");
    }
    for (const Json& warning : ListOf(project, "warnings")) {
      if (warning.is_string()) output.Line("    warning: " + warning.get<std::string>());
    }
  }
}

// Where a GPU's time went.
std::string TimesOf(const Json& gpu) {
  std::string text;
  const auto add = [&text](const std::string& what, double seconds) {
    if (seconds >= 1) text += (text.empty() ? "" : ", ") + what + " " + Duration(seconds);
  };
  const Json spent = ObjectOf(gpu, "spent_seconds");
  for (const auto& [purpose, seconds] : spent.items()) {
    if (seconds.is_number()) add(purpose, seconds.get<double>());
  }
  const Json left = ObjectOf(gpu, "left_seconds");
  for (const auto& [state, seconds] : left.items()) {
    if (seconds.is_number()) add("waiting (" + state + ")", seconds.get<double>());
  }
  return text;
}

}  // namespace

void PrintStatus(const Json& status, Output& output) {
  output.Line("cuPilot " + TextOf(status, "version") + ", daemon " + CountOf(status, "pid") +
              ", up " + Duration(NumberOf(status, "uptime_seconds")));
  if (const std::string because = TextOf(status, "started_because"); !because.empty()) {
    output.Line("started: " + because);
  }
  if (const std::string older = OlderSettings(status); !older.empty()) output.Line(older);
  if (FlagOf(status, "leaving")) output.Line("it ends what it measures and makes way");
  std::string state = TextOf(status, "state");
  if (const std::string reason = TextOf(status, "idle_reason"); !reason.empty()) {
    state += ": " + reason;
  }
  if (const std::string until = TextOf(status, "snoozed_until"); !until.empty()) {
    state += " until " + until;
  }
  output.Line(state);
  const Json device = ObjectOf(status, "device");
  if (!TextOf(device, "name").empty()) {
    output.Line("device: " + TextOf(device, "name") + " (" + TextOf(device, "arch") + ", " +
                TextOf(device, "times") + ")");
  }
  for (const Json& gpu : ListOf(status, "devices")) {
    // The host has no state: nobody shares it with us knowingly.
    const std::string use = TextOf(gpu, "state");
    if (use.empty() || use == "not needed") continue;
    const std::string why = TextOf(gpu, "why");
    output.Line("  " + TextOf(gpu, "device") + " " + use + (why.empty() ? "" : ": " + why) + ", " +
                Percent(NumberOf(gpu, "busy_share")) + " busy, " + CountOf(gpu, "builds_waiting") +
                " builds waiting");
    if (const std::string times = TimesOf(gpu); !times.empty()) output.Line("  " + times);
  }
  if (const std::string none = TextOf(status, "no_gpu"); !none.empty()) {
    output.Line("no GPU: " + none);
  }
  if (const Json capture = ObjectOf(status, "capturing"); !capture.empty()) {
    output.Line("now: the test '" + TextOf(capture, "test") + "' shows what kernels are run on (" +
                TextOf(capture, "build_folder") + ")");
  }
  const Json now = ListOf(status, "now");
  for (const Json& job : now) {
    output.Line("now: " + TextOf(job, "kernel") + ", " + TextOf(job, "stage") +
                (TextOf(job, "title").empty() ? "" : ", " + TextOf(job, "title")));
  }
  PrintProjects(ListOf(status, "projects"), output);
  const Json counters = ObjectOf(status, "counters");
  output.Line("evaluations " + CountOf(counters, "evaluations") + ", accepted " +
              CountOf(counters, "accepted") + ", published " + CountOf(counters, "published"));
}

}  // namespace cupilot::client
