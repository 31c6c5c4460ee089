// report FOLDER JSON-FILE: reads what examples/run collected in FOLDER and prints one table.
//   before_<i>.json after_<i>.json   times by example, microseconds, one pair of runs each
//   status.json                      what the client says of the device
//   openmp_<i>.json or toolkit_<i>.json   times of what else does the same (may be missing)
//   list.json explain_<example>.json what the client says
//   outputs_before/ outputs_after/ references/
//   build.json                       {"noop_commands", "swapped_objects"}
// Exit: 0, or 1 if an output disagrees.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "compare.h"
#include "json.h"
#include "statistics.h"

namespace {

std::vector<Json> ReadRuns(const std::string& folder, const std::string& prefix) {
  std::vector<Json> runs;
  for (int i = 1;; ++i) {
    Json run = Json::FromFile(folder + "/" + prefix + "_" + std::to_string(i) + ".json");
    if (run.is_null()) return runs;
    runs.push_back(std::move(run));
  }
}

std::vector<double> TimesOf(const std::vector<Json>& runs, const std::string& name) {
  std::vector<double> times;
  for (const Json& run : runs) times.push_back(run[name].number());
  return times;
}

// Medians of what else does the same work: hand-written loops on a CPU, the toolkit's libraries on
// a GPU.
Json Yardstick(const std::vector<Json>& runs) {
  Json medians;
  if (runs.empty()) return medians;
  for (const auto& [name, time] : runs[0].object()) medians.Set(name, Median(TimesOf(runs, name)));
  return medians;
}

std::string Shorten(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

Json Row(const std::string& folder, const std::string& name, const std::vector<Json>& before,
         const std::vector<Json>& after) {
  const Ratio ratio = ComparePairs(TimesOf(before, name), TimesOf(after, name));
  const Agreement agreement = CompareOutputs(folder + "/outputs_before/" + name + ".bin",
                                             folder + "/outputs_after/" + name + ".bin",
                                             folder + "/references/" + name + ".reference");
  const Json explained = Json::FromFile(folder + "/explain_" + name + ".json");
  Json row;
  row.Set("name", name);
  row.Set("before_us", ratio.before);
  row.Set("after_us", ratio.after);
  row.Set("speedup", ratio.speedup);
  row.Set("interval", Json::Array{ratio.low, ratio.high});
  row.Set("floor_us", explained["floor_us"]);
  if (explained["verdict"].text() == "accepted" && explained["variant_us"].number() > 0) {
    row.Set("record_speedup", explained["original_us"].number() / explained["variant_us"].number());
  }
  row.Set("strategy", explained["strategy"].text());
  row.Set("verdict", explained["verdict"].text());
  row.Set("why_not", explained["why_not"].text());
  row.Set("agrees", agreement.agrees);
  row.Set("agreement", agreement.detail);
  return row;
}

void PrintRow(const Json& row, const Json& yardstick, bool toolkit) {
  const std::string name = row["name"].text();
  const double after = row["after_us"].number();
  char floor_share[16] = "-", loop[24] = "-";
  if (row["floor_us"].is_number() && after > 0) {
    std::snprintf(floor_share, sizeof floor_share, "%.0f %%",
                  100.0 * row["floor_us"].number() / after);
  }
  if (yardstick[name].is_number()) {
    // Of a loop: how much longer the original takes. Of a library: how much of its speed is
    // reached.
    const double other = yardstick[name].number();
    std::snprintf(loop, sizeof loop, "%.0f (%.2f)", other,
                  toolkit ? other / after : row["before_us"].number() / other);
  }
  const bool no_gain = row["interval"].array()[0].number() <= 1;
  const std::string strategy =
      row["strategy"].text() + (no_gain ? " (no certain gain in these pairs)" : "");
  std::printf(
      "%-12s %10.1f %10.1f  %6.2f [%6.2f,%6.2f] %7s %16s  %-6s %s\n", name.c_str(),
      row["before_us"].number(), after, row["speedup"].number(),
      row["interval"].array()[0].number(), row["interval"].array()[1].number(), floor_share, loop,
      row["agrees"].Dump() == "true" ? "yes" : "NO",
      Shorten(row["strategy"].text().empty() ? "original: " + row["why_not"].text() : strategy, 90)
          .c_str());
}

// What the table comes to, beside what was recorded when the winners were measured alone.
void PrintSummary(const Json::Array& kernels) {
  int faster = 0, slower = 0, agree = 0, recorded = 0, as_recorded = 0;
  for (const Json& row : kernels) {
    const Json::Array& interval = row["interval"].array();
    faster += interval[0].number() > 1.05 ? 1 : 0;
    slower += interval[1].number() < 1 ? 1 : 0;
    agree += row["agrees"].Dump() == "true" ? 1 : 0;
    if (!row["record_speedup"].is_number()) continue;
    ++recorded;
    const double share = row["speedup"].number() / row["record_speedup"].number();
    as_recorded += share > 0.95 && share < 1.05 ? 1 : 0;
  }
  std::printf(
      "%d of %zu kernels are wholly above 1.05, %d wholly below 1, %d agree; %d of %d winners are "
      "within 5 %% of their "
      "records\n",
      faster, kernels.size(), slower, agree, as_recorded, recorded);
}

// What the times are times of.
std::string TimesAre(const Json& device) {
  const std::string name = device["name"].text("an unknown device"), arch = device["arch"].text();
  return arch.rfind("host", 0) == 0 ? "Times are CPU times: the host device, " + arch
                                    : "Times are GPU times: " + name + ", " + arch;
}

void PrintSeconds(const char* what, const Json& by_name) {
  std::string text;
  for (const auto& [name, seconds] : by_name.object()) {
    if (seconds.number() < 0.5) continue;
    char one[80];
    std::snprintf(one, sizeof one, " %s %.0f s", name.c_str(), seconds.number());
    text += text.empty() ? one : std::string(",") + one;
  }
  if (!text.empty()) std::printf("%s%s\n", what, text.c_str());
}

// The load of the GPUs while they were ours, and where the time went.
void PrintBusyShares(const Json& status) {
  for (const Json& gpu : status["devices"].array()) {
    if (!gpu["busy_share"].is_number() || gpu["tuning_seconds"].number() <= 0) continue;
    std::printf("%s was busy for %.0f %% of %.0f s of tuning\n", gpu["device"].text().c_str(),
                100 * gpu["busy_share"].number(), gpu["tuning_seconds"].number());
    PrintSeconds("  of workers, summed over processes:", gpu["spent_seconds"]);
    PrintSeconds("  not ours while there was work for it:", gpu["left_seconds"]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: report FOLDER JSON-FILE\n");
    return 2;
  }
  const std::string folder = argv[1];
  const std::vector<Json> before = ReadRuns(folder, "before"), after = ReadRuns(folder, "after");
  if (before.size() < 2 || after.size() != before.size()) {
    std::fprintf(stderr, "report: %zu and %zu runs in %s; at least two pairs are needed\n",
                 before.size(), after.size(), folder.c_str());
    return 2;
  }
  const bool toolkit = !Json::FromFile(folder + "/toolkit_1.json").is_null();
  const Json yardstick = Yardstick(ReadRuns(folder, toolkit ? "toolkit" : "openmp"));
  const Json status = Json::FromFile(folder + "/status.json");
  const Json device = status["device"];
  std::printf("%s; medians of %zu interleaved pairs\n", TimesAre(device).c_str(), before.size());
  PrintBusyShares(status);
  std::printf("%-12s %10s %10s  %-22s %7s %16s  %-6s %s\n", "kernel", "before us", "after us",
              "speedup [95 %]", "floor", toolkit ? "toolkit us (/us)" : "OpenMP us (x)", "agrees",
              "what changed");
  bool all_agree = true;
  Json::Array kernels;
  for (const auto& [name, time] : before[0].object()) {
    kernels.push_back(Row(folder, name, before, after));
    PrintRow(kernels.back(), yardstick, toolkit);
    all_agree = all_agree && kernels.back()["agrees"].Dump() == "true";
  }
  PrintSummary(kernels);
  Json document;
  document.Set("schema", "cupilot.examples/1");
  document.Set("device", device);
  document.Set("devices", status["devices"]);  // of GPUs also their load, and where the time went
  document.Set("pairs", static_cast<double>(before.size()));
  document.Set("kernels", kernels);
  if (!yardstick.is_null()) document.Set(toolkit ? "toolkit_us" : "openmp_us", yardstick);
  document.Set("build", Json::FromFile(folder + "/build.json"));
  std::ofstream(argv[2]) << document.Dump() << "\n";
  return all_agree ? 0 : 1;
}
