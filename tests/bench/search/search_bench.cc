// search_bench: ways of searching compared on the same kernels, seeds and budgets (arms.h), from
// what was recorded of each, or live (options.h says how it is called). Exit 1: a recording lacks
// something, or requests are open; 2: wrong usage; 3: no such device, no worker.
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "tests/bench/search/compare.h"

namespace cupilot::bench {
namespace {

int FailBench(const base::Error& error) {
  std::fprintf(stderr, "search_bench: %s\n", error.message.c_str());
  if (error.code == base::ErrorCode::kUnavailable) return 3;
  return error.code == base::ErrorCode::kInvalidArgument ? 2 : 1;
}

void SayLine(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

base::Result<> WriteCurves(const std::vector<Curve>& curves, const std::string& out) {
  TRY(base::WriteFileAtomically(out + "/curves.csv", Csv(curves)));
  std::set<std::string> kernels;
  for (const Curve& curve : curves) kernels.insert(curve.kernel);
  for (const std::string& kernel : kernels) {
    std::vector<Curve> of;
    for (const Curve& curve : curves) {
      if (curve.kernel == kernel) of.push_back(curve);
    }
    TRY(base::WriteFileAtomically(out + "/" + kernel + ".svg", Svg(of, kernel)));
  }
  return {};
}

base::Result<Comparison> Compare(loop::Loop& loop, const Options& options) {
  const base::SystemClock clock;
  if (!options.live) return CompareRecorded(loop, clock, options, SayLine);
  TRY_ASSIGN(const auto machine,
             LiveMachine::Make(loop, clock, CUPILOT_BENCH_ROOT, options.device));
  return CompareLive(loop, clock, options, *machine, SayLine);
}

int RunBench(const std::vector<std::string>& words) {
  const auto options = ParseOptions(words, CUPILOT_BENCH_ROOT "/tests/data/search");
  if (!options) {
    std::fprintf(stderr, "search_bench: %s\n%s", options.error().message.c_str(), kUsage);
    return 2;
  }
  loop::Loop loop;
  const auto comparison = Compare(loop, *options);
  if (!comparison) return FailBench(comparison.error());
  std::vector<std::string> arms;
  for (const Arm& arm : Arms()) arms.emplace_back(arm.name);
  std::printf("%s",
              AreaTable(comparison->curves, arms, static_cast<std::size_t>(comparison->evaluations))
                  .c_str());
  if (!options->out.empty()) {
    if (auto wrote = WriteCurves(comparison->curves, options->out); !wrote) {
      return FailBench(wrote.error());
    }
  }
  if (comparison->open_requests == 0) return 0;
  std::printf("%d requests are open: put their answers beside them and run this again\n",
              comparison->open_requests);
  return 1;
}

}  // namespace
}  // namespace cupilot::bench

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.size() == 1 && (words[0] == "--help" || words[0] == "-h")) {
    std::printf("%s", cupilot::bench::kUsage);
    return 0;
  }
  return cupilot::bench::RunBench(words);
}
