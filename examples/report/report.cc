// report FOLDER JSON-FILE: reads what examples/run collected in FOLDER and prints one table.
//   before_<i>.json after_<i>.json   times by example, microseconds, one pair of runs each
//   openmp.json                      times of the hand-written loops (may be missing)
//   list.json explain_<example>.json what the client says
//   outputs_before/ outputs_after/ references/
//   build.json                       {"noop_commands", "swapped_objects"}
// Exit: 0, or 1 if an output disagrees.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compare.h"
#include "statistics.h"

namespace {

using Json = nlohmann::ordered_json;

Json ReadJson(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Json();
  Json json = Json::parse(file, nullptr, false);
  return json.is_discarded() ? Json() : json;
}

std::vector<Json> ReadRuns(const std::string& folder, const std::string& prefix) {
  std::vector<Json> runs;
  for (int i = 1;; ++i) {
    Json run = ReadJson(folder + "/" + prefix + "_" + std::to_string(i) + ".json");
    if (run.is_null()) return runs;
    runs.push_back(std::move(run));
  }
}

std::vector<double> TimesOf(const std::vector<Json>& runs, const std::string& name) {
  std::vector<double> times;
  for (const Json& run : runs) times.push_back(run.value(name, 0.0));
  return times;
}

std::string Shorten(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

Json Row(const std::string& folder, const std::string& name, const std::vector<Json>& before,
         const std::vector<Json>& after) {
  const Ratio ratio = ComparePairs(TimesOf(before, name), TimesOf(after, name));
  const Agreement agreement =
      CompareOutputs(folder + "/outputs_before/" + name + ".bin",
                     folder + "/outputs_after/" + name + ".bin",
                     folder + "/references/" + name + ".reference");
  const Json explained = ReadJson(folder + "/explain_" + name + ".json");
  Json row;
  row["name"] = name;
  row["before_us"] = ratio.before;
  row["after_us"] = ratio.after;
  row["speedup"] = ratio.speedup;
  row["interval"] = {ratio.low, ratio.high};
  row["floor_us"] = explained.is_object() ? explained.value("floor_us", Json()) : Json();
  row["strategy"] = explained.is_object() ? explained.value("strategy", "") : "";
  row["verdict"] = explained.is_object() ? explained.value("verdict", "") : "";
  row["why_not"] = explained.is_object() ? explained.value("why_not", "") : "";
  row["agrees"] = agreement.agrees;
  row["agreement"] = agreement.detail;
  return row;
}

void PrintRow(const Json& row, const Json& openmp) {
  const std::string name = row["name"];
  char floor_share[16] = "-";
  if (row["floor_us"].is_number() && row["after_us"].get<double>() > 0) {
    std::snprintf(floor_share, sizeof floor_share, "%.0f %%",
                  100.0 * row["floor_us"].get<double>() / row["after_us"].get<double>());
  }
  char loop[24] = "-";
  if (openmp.contains(name)) std::snprintf(loop, sizeof loop, "%.0f", openmp[name].get<double>());
  const std::string strategy = row["strategy"], why_not = row["why_not"];
  std::printf("%-12s %10.1f %10.1f  %5.2f [%5.2f, %5.2f] %7s %9s  %-6s %s\n", name.c_str(),
              row["before_us"].get<double>(), row["after_us"].get<double>(),
              row["speedup"].get<double>(), row["interval"][0].get<double>(),
              row["interval"][1].get<double>(), floor_share, loop,
              row["agrees"].get<bool>() ? "yes" : "NO",
              Shorten(strategy.empty() ? "original: " + why_not : strategy, 70).c_str());
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
  const Json openmp = ReadJson(folder + "/openmp.json");
  Json document;
  document["schema"] = "cupilot.examples/1";
  document["device"] = ReadJson(folder + "/device.json");
  document["pairs"] = before.size();
  document["kernels"] = Json::array();
  std::printf("%-12s %10s %10s  %-20s %7s %9s  %-6s %s\n", "kernel", "before us", "after us",
              "speedup [95 %]", "floor", "OpenMP us", "agrees", "what changed");
  bool all_agree = true;
  for (const auto& [name, time] : before[0].items()) {
    const Json row = Row(folder, name, before, after);
    PrintRow(row, openmp);
    all_agree = all_agree && row["agrees"].get<bool>();
    document["kernels"].push_back(row);
  }
  if (openmp.is_object()) document["openmp_us"] = openmp;
  document["build"] = ReadJson(folder + "/build.json");
  std::ofstream(argv[2]) << document.dump(2) << "\n";
  return all_agree ? 0 : 1;
}
