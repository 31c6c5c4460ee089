// models_table FOLDER KERNEL...: what examples/models/run collected in FOLDER, as a table and as
// FOLDER/models.json. KERNEL.plain.json and KERNEL.models.json are documents of `cupilot tune`;
// toolkit.json, which may be missing, has microseconds of the toolkit's libraries by kernel.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>

#include "json.h"

namespace {

struct Best {
  double speedup = 1;  // against the original; 1: nothing better was found
  double low = 1, high = 1;
  double original_us = 0, variant_us = 0;  // the sum over the cases, on a GPU with cold caches
  double evaluations = 0;
};

Best BestOf(const Json& tune) {
  Best best;
  best.evaluations = tune["evaluations"].number();
  const Json& evaluation = tune["evaluation"];
  if (evaluation.is_null()) return best;
  best.speedup = evaluation["speedup"].number(1);
  const Json::Array& interval = evaluation["interval"].array();
  if (interval.size() == 2) {
    best.low = interval[0].number();
    best.high = interval[1].number();
  }
  std::set<std::string> names;
  for (const Json& one : evaluation["cases"].array()) {
    if (!names.insert(one["name"].text()).second)
      continue;  // with warm caches, after the cold ones
    best.original_us += one["original_us"].number();
    best.variant_us += one["variant_us"].number();
  }
  return best;
}

Json ToJson(const Best& best) {
  Json json;
  json.Set("speedup", best.speedup);
  json.Set("interval", Json::Array{best.low, best.high});
  json.Set("original_us", best.original_us);
  json.Set("variant_us", best.variant_us);
  json.Set("evaluations", best.evaluations);
  return json;
}

std::string Text(const Best& best) {
  char text[80];
  std::snprintf(text, sizeof text, "%7.2fx [%.2f, %.2f]", best.speedup, best.low, best.high);
  return text;
}

std::string Compared(double us, double library_us) {
  if (!(us > 0 && library_us > 0)) return {};
  char text[80];
  std::snprintf(text, sizeof text, "  %.1f, %.1f (%.2f)", us, library_us, library_us / us);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: models_table FOLDER KERNEL...\n");
    return 2;
  }
  const std::string folder = argv[1];
  const Json libraries = Json::FromFile(folder + "/toolkit.json");
  std::printf("%-12s %5s  %-26s %5s  %-26s %8s  %-6s%s\n", "kernel", "evals",
              "numbers and techniques", "evals", "with a model", "requests", "better",
              libraries.is_null() ? "" : "  us, and the library's (its time in ours)");
  Json::Array rows;
  for (int i = 2; i < argc; ++i) {
    const std::string kernel = argv[i];
    const Json plain_tune = Json::FromFile(folder + "/" + kernel + ".plain.json");
    const Json models_tune = Json::FromFile(folder + "/" + kernel + ".models.json");
    if (plain_tune.is_null() || models_tune.is_null()) {
      std::printf("%-12s not tuned yet\n", kernel.c_str());
      continue;
    }
    const Best plain = BestOf(plain_tune), models = BestOf(models_tune);
    const double requests = models_tune["models"]["requests"].number();
    // Two searches by numbers differ, too: it counts where a model wrote what was found.
    bool written = false;
    for (const Json& variant : models_tune["models"]["variants"].array()) {
      written = written || variant["id"].text() == models_tune["variant"]["id"].text("none");
    }
    const bool better = written && models.low > plain.high;
    const double library_us = libraries[kernel].number();
    std::printf("%-12s %5.0f  %-26s %5.0f  %-26s %8.0f  %-6s%s%s\n", kernel.c_str(),
                plain.evaluations, Text(plain).c_str(), models.evaluations, Text(models).c_str(),
                requests, better ? "yes" : "no", Compared(models.variant_us, library_us).c_str(),
                written ? "" : "  (no model's variant is the best)");
    Json row;
    row.Set("kernel", kernel);
    row.Set("plain", ToJson(plain));
    row.Set("models", ToJson(models));
    row.Set("requests", requests);
    if (library_us > 0) row.Set("library_us", library_us);
    row.Set("written_by_model", written);
    row.Set("better", better);
    rows.push_back(std::move(row));
  }
  Json document;
  document.Set("schema", "cupilot.models_example/1");
  document.Set("kernels", std::move(rows));
  std::ofstream file(folder + "/models.json");
  file << document.Dump(1) << "\n";
  if (!file.flush()) {
    std::fprintf(stderr, "models_table: cannot write %s/models.json\n", folder.c_str());
    return 3;
  }
  return 0;
}
