// search_bench FOLDER [--evaluations N] [--out FOLDER]: ways of searching compared on the same
// kernels, seeds and budgets, from what was recorded of them. FOLDER/<kernel>/<arm>.json is the
// record of a search (cupilot.search/1), or of a job that holds one; the arms are those of arms.h.
// Prints the areas under the best-so-far curves, and writes curves.csv and <kernel>.svg to --out.
// An arm that was not recorded is named and left out.
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "tests/bench/search/arms.h"
#include "tests/bench/search/curves.h"

namespace cupilot::bench {
namespace {

namespace fs = std::filesystem;

struct Options {
  fs::path folder;
  fs::path out;
  std::size_t evaluations = 100;
};

base::Result<Curve> ReadCurve(const fs::path& file) {
  TRY_ASSIGN(const std::string text, base::ReadFile(file.string()));
  TRY_ASSIGN(records::Json json, records::ParseJson(text));
  if (json.is_object() && json.contains("search")) json = records::Json(json["search"]);
  TRY_ASSIGN(Curve curve, CurveOf(json));
  curve.kernel = file.parent_path().filename();
  curve.arm = file.stem();
  return curve;
}

base::Result<std::vector<Curve>> ReadCurves(const fs::path& kernel) {
  std::vector<Curve> curves;
  for (const Arm& arm : Arms()) {
    const fs::path file = kernel / (std::string(arm.name) + ".json");
    if (!fs::exists(file)) {
      std::printf("%s: %s was not recorded\n", kernel.filename().c_str(),
                  std::string(arm.name).c_str());
      continue;
    }
    auto curve = ReadCurve(file);
    if (!curve) return base::Fail(curve.error().In(file.string()));
    curves.push_back(std::move(*curve));
  }
  return curves;
}

base::Result<> Compare(const Options& options) {
  std::set<fs::path> kernels;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(options.folder, error)) {
    if (entry.is_directory()) kernels.insert(entry.path());
  }
  if (error || kernels.empty()) {
    return base::Fail(base::NotFound(options.folder.string() + " holds no kernel's folder"));
  }
  std::vector<Curve> all;
  for (const fs::path& kernel : kernels) {
    TRY_ASSIGN(const std::vector<Curve> curves, ReadCurves(kernel));
    if (!options.out.empty()) {
      const std::string name = kernel.filename();
      TRY(base::WriteFileAtomically((options.out / (name + ".svg")).string(), Svg(curves, name)));
    }
    all.insert(all.end(), curves.begin(), curves.end());
  }
  if (!options.out.empty()) {
    TRY(base::WriteFileAtomically((options.out / "curves.csv").string(), Csv(all)));
  }
  std::vector<std::string> arms;
  for (const Arm& arm : Arms()) arms.emplace_back(arm.name);
  std::printf("%s", AreaTable(all, arms, options.evaluations).c_str());
  return {};
}

int Main(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if (word == "--evaluations" && i + 1 < count) {
      options.evaluations = std::strtoull(arguments[++i], nullptr, 10);
    } else if (word == "--out" && i + 1 < count) {
      options.out = arguments[++i];
    } else {
      options.folder = word;
    }
  }
  if (options.folder.empty()) {
    std::fprintf(stderr, "usage: search_bench FOLDER [--evaluations N] [--out FOLDER]\n");
    return 2;
  }
  const auto compared = Compare(options);
  if (compared) return 0;
  std::fprintf(stderr, "search_bench: %s\n", compared.error().message.c_str());
  return 1;
}

}  // namespace
}  // namespace cupilot::bench

int main(int count, char** arguments) { return cupilot::bench::Main(count, arguments); }
