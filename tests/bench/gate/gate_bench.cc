// gate_bench: the red team's collection (tests/data/gate) through the gate, with several seeds, on
// the host device or a GPU. What was judged already is read from the results file and left out, so
// that it can be cut off and go on, and several machines can share the work. Prints tables (by step
// and check: launches, seconds, catches), and exits 1 where something was misjudged (0 where it is
// known already or nothing is left to judge), or where a verification on a GPU took longer than the
// design says: 10 s and 40 times the original's time.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/install_layout.h"
#include "tests/bench/gate/gate_results.h"
#include "tests/integration/gate/gate_runner.h"

namespace cupilot::gate {
namespace {

using std::chrono::steady_clock;

struct Options {
  std::string data = CUPILOT_BENCH_GATE_DATA;
  std::string prefix, compiler, results, work = "gate_work", only, shard = "0/1";
  std::string device = "host";
  unsigned seeds = 1;
  std::uint64_t first_seed = 1;
  int builders = 2;
  double seconds = 0;
  bool shared = false;
};

struct Shard {
  unsigned index = 0, count = 1;
};

bool ParseShard(const std::string& text, Shard& out) {
  return std::sscanf(text.c_str(), "%u/%u", &out.index, &out.count) == 2 && out.count > 0 &&
         out.index < out.count;
}

void Declare(CLI::App& app, Options& options) {
  app.add_option("--data", options.data, "the collection: kernels/, candidates/, known_gaps.json");
  app.add_option("--prefix", options.prefix, "an installation; without it that of the build tree");
  app.add_option("--compiler", options.compiler,
                 "nvcc of a toolkit, for a GPU; the host device has its own");
  app.add_option("--device", options.device, "host, cuda:0, ...");
  app.add_option("--seeds", options.seeds, "how many");
  app.add_option("--first-seed", options.first_seed, "the first of them");
  app.add_option("--shard", options.shard,
                 "I/N: the I-th of N parts; a kernel's candidates are in one of them");
  app.add_option("--only", options.only, "candidates whose names contain this");
  app.add_option("--results", options.results, "a JSON line for each trial; grows");
  app.add_option("--work", options.work, "artifacts and scratch");
  app.add_option("--builders", options.builders, "compilers that run at once");
  app.add_option("--seconds", options.seconds, "no trial starts after so long; 0: no limit");
  app.add_flag("--shared", options.shared,
               "others use the device at the same time: what takes too long is only said");
}

RunnerSettings SettingsOf(const Options& options) {
  RunnerSettings settings;
  const std::string libexec =
      options.prefix.empty() ? base::LibexecFolder() : options.prefix + "/libexec/cupilot";
  settings.worker = libexec + "/cupilot-worker";
  settings.compiler = options.compiler;
  if (settings.compiler.empty()) {
    settings.compiler = (options.prefix.empty() ? base::HostToolkitFolder()
                                                : options.prefix + "/lib/cupilot/host_toolkit") +
                        "/bin/nvcc";
  }
  settings.device = options.device;
  settings.work_folder = std::filesystem::absolute(options.work).string();
  settings.builders = std::max(1, options.builders);
  settings.at_once = 2 * settings.builders + 4;
  return settings;
}

// The kernels of each part, as alike in their candidates as may be: what is known of an original is
// known to all candidates of a process.
std::map<std::string, unsigned> ShardsOf(const Collection& collection, unsigned count) {
  std::map<std::string, std::size_t> candidates;
  for (const Candidate& candidate : collection.candidates) ++candidates[candidate.kernel];
  std::vector<std::pair<std::size_t, std::string>> kernels;
  for (const auto& [kernel, number] : candidates) kernels.emplace_back(number, kernel);
  std::sort(kernels.rbegin(), kernels.rend());
  std::vector<std::size_t> sizes(count);
  std::map<std::string, unsigned> shards;
  for (const auto& [number, kernel] : kernels) {
    const auto least = std::min_element(sizes.begin(), sizes.end());
    shards[kernel] = static_cast<unsigned>(least - sizes.begin());
    *least += number;
  }
  return shards;
}

// All trials of one seed before the next: who is cut off has seen each candidate.
std::vector<Trial> TrialsOf(const Collection& collection, const Options& options,
                            const Shard& shard) {
  std::vector<Trial> trials;
  const auto shards = ShardsOf(collection, shard.count);
  for (unsigned k = 0; k < options.seeds; ++k) {
    const std::uint64_t seed = options.first_seed + k;
    for (const Candidate& candidate : collection.candidates) {
      if (shards.at(candidate.kernel) != shard.index) continue;
      if (candidate.name.find(options.only) == std::string::npos) continue;
      trials.push_back({&candidate, seed});
    }
  }
  return trials;
}

int Main(const Options& options, const Shard& shard) {
  const auto collection = ReadCollection(options.data);
  if (!collection) {
    std::fprintf(stderr, "gate_bench: %s\n", collection.error().message.c_str());
    return 2;
  }
  Results results(*collection, options.device, options.results);
  const auto all = TrialsOf(*collection, options, shard);
  std::vector<Trial> trials;
  std::copy_if(all.begin(), all.end(), std::back_inserter(trials),
               [&](const Trial& trial) { return !results.Has(trial); });
  std::printf("%zu trials on %s, %zu of them were judged before\n", all.size(),
              options.device.c_str(), all.size() - trials.size());
  const auto begin = steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(steady_clock::now() - begin).count();
  };
  Runner runner(*collection, SettingsOf(options));
  runner.Run(
      trials, [&](const Trial& trial, const Outcome& outcome) { results.Add(trial, outcome); },
      [&] { return options.seconds > 0 && elapsed() > options.seconds; });
  const std::size_t left = static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [&](const Trial& t) { return !results.Has(t); }));
  std::printf("%zu judged in %.0f s, %zu left\n", trials.size() - left, elapsed(), left);
  return results.PrintTable(options.shared) ? 0 : 1;
}

}  // namespace
}  // namespace cupilot::gate

int main(int argc, char** argv) {
  using namespace cupilot::gate;
  Options options;
  Shard shard;
  CLI::App app{"The red team's candidates through the gate"};
  Declare(app, options);
  CLI11_PARSE(app, argc, argv);
  if (!ParseShard(options.shard, shard)) {
    std::fprintf(stderr, "gate_bench: --shard I/N, I from 0 to N-1\n");
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  return Main(options, shard);
}
