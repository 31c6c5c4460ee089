// source_bench NVCC FILE.cu NAME=VALUE...: how long FILE.cu takes to be read as NVCC's command
// would have it, and a candidate with these values of its tunables to be made of it. Medians, in
// milliseconds of one core.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "source/scan.h"
#include "source/unit.h"
#include "source/whitelist.h"

namespace cupilot::bench {
namespace {

constexpr int kTimes = 9;

double Median(const std::function<void()>& run) {
  std::vector<double> times;
  for (int i = 0; i < kTimes; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    times.push_back(took.count());
  }
  std::sort(times.begin(), times.end());
  return times[kTimes / 2];
}

int Main(const std::vector<std::string>& words) {
  if (words.size() < 2) {
    std::fprintf(stderr, "usage: source_bench NVCC FILE.cu NAME=VALUE...\n");
    return 2;
  }
  const std::string source = std::filesystem::absolute(words[1]).string();
  protocol::ScanRequest scan;
  scan.command.directory = std::filesystem::path(source).parent_path().string();
  scan.command.source = source;
  scan.command.object = source + ".o";
  scan.command.arguments = {words[0], "-O3", "-std=c++17", "-c", source, "-o", source + ".o"};
  const auto scanned = source::Scan(scan);
  if (!scanned || scanned->kernels.empty() || !scanned->kernels[0].declined.empty()) {
    std::fprintf(stderr, "source_bench: %s\n",
                 scanned ? "no kernel that can be tuned" : scanned.error().message.c_str());
    return 2;
  }
  protocol::RetuneRequest retune;
  retune.command = scan.command;
  retune.kernel = scanned->kernels[0];
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals == std::string::npos) continue;
    retune.values.emplace_back(words[i].substr(0, equals),
                               std::strtoll(words[i].c_str() + equals + 1, nullptr, 10));
  }
  const auto made = source::Retune(retune);
  if (!made || made->declined) {
    std::fprintf(stderr, "source_bench: %s\n",
                 made ? made->reason.c_str() : made.error().message.c_str());
    return 2;
  }
  const auto unit = source::LoadUnit(scan.command, "");
  source::ParseOptions options;
  options.preprocessed = true;
  options.file_name = source;
  options.standard = (*unit)->flags.preprocess.standard;
  options.system_folders = (*unit)->flags.preprocess.toolkit_folders;
  std::printf(
      "preprocess %8.1f ms\n", Median([&] {
        static_cast<void>(source::Preprocess((*unit)->text, (*unit)->flags.preprocess).has_value());
      }));
  std::printf("parse      %8.1f ms (%zu bytes)\n", Median([&] {
                static_cast<void>(source::Parse((*unit)->source.text, options).has_value());
              }),
              (*unit)->source.text.size());
  std::printf("scan       %8.1f ms\n",
              Median([&] { static_cast<void>(source::Scan(scan).has_value()); }));
  std::printf("retune     %8.1f ms\n",
              Median([&] { static_cast<void>(source::Retune(retune).has_value()); }));
  const protocol::CheckVariantRequest check{retune.kernel, made->variant};
  std::printf("whitelist  %8.1f ms\n",
              Median([&] { static_cast<void>(source::CheckVariant(check).has_value()); }));
  return 0;
}

}  // namespace
}  // namespace cupilot::bench

int main(int count, char** arguments) {
  return cupilot::bench::Main({arguments + 1, arguments + count});
}
