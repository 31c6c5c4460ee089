#include "client/commands/bench_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace cupilot::client {
namespace {

using records::Json;

constexpr const char* kNoKernelTime =
    "nobody saw a launch: the tools of the CUDA toolkit that see them (CUPTI) are missing, or the "
    "program uses them itself";

bool AllOnHost(const std::vector<KernelCounts>& kernels) {
  return std::all_of(kernels.begin(), kernels.end(),
                     [](const KernelCounts& kernel) { return kernel.on_host; });
}

bool AnyOnHost(const std::vector<KernelCounts>& kernels) {
  return std::any_of(kernels.begin(), kernels.end(),
                     [](const KernelCounts& kernel) { return kernel.on_host; });
}

// Empty where the program counted nothing.
std::string DeviceOf(const std::vector<KernelCounts>& kernels) {
  if (kernels.empty()) return {};
  if (AllOnHost(kernels)) return "host";
  return AnyOnHost(kernels) ? "host and cuda" : "cuda";
}

double ShareOf(const KernelCounts& kernel) {
  return kernel.calls() == 0
             ? 0
             : static_cast<double>(kernel.tuned) / static_cast<double>(kernel.calls());
}

std::string Format(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

// Finer than elsewhere: a program's gain is of a few percent.
std::string RatioText(const base::PairedRatio& ratio) {
  return Format("%.3fx", ratio.ratio) + " [" + Format("%.3f", ratio.low) + ", " +
         Format("%.3f", ratio.high) + "]";
}

Json PairsJson(const base::TimedPairs& pairs) {
  Json list = Json::array();
  for (const auto& [first, second] : pairs) list.push_back(Json::array({first, second}));
  return list;
}

Json KernelsJson(const std::vector<KernelCounts>& kernels) {
  Json list = Json::array();
  for (const KernelCounts& kernel : kernels) {
    list.push_back({{"kernel", kernel.kernel},
                    {"calls", kernel.calls()},
                    {"tuned", kernel.tuned},
                    {"share", ShareOf(kernel)},
                    {"originals", kernel.calls() - kernel.tuned},
                    {"outside_guard", kernel.outside},
                    {"captured", kernel.captured},
                    {"device", kernel.on_host ? "host" : "cuda"}});
  }
  return list;
}

Json SuspectsJson(const std::vector<Suspect>& suspects) {
  Json list = Json::array();
  for (const Suspect& suspect : suspects) {
    Json row = {{"kernel", suspect.kernel},
                {"times", suspect.in_kernels ? "in kernels" : "wall"},
                {"pairs", PairsJson(suspect.pairs)},
                {"ratio", nullptr},
                {"interval", nullptr},
                {"loses", suspect.loses()}};
    if (suspect.ratio) {
      row["ratio"] = suspect.ratio->ratio;
      row["interval"] = Json::array({suspect.ratio->low, suspect.ratio->high});
    }
    list.push_back(std::move(row));
  }
  return list;
}

Json DemotedJson(const std::vector<DemotedKernel>& demoted) {
  Json list = Json::array();
  for (const DemotedKernel& one : demoted) {
    list.push_back({{"kernel", one.kernel},
                    {"done", one.done},
                    {"variants", one.variants},
                    {"message", one.message}});
  }
  return list;
}

std::string TimesText(double without, double with) {
  return Microseconds(without * 1e6) + " without, " + Microseconds(with * 1e6) +
         " with tuned kernels";
}

void PrintKernels(const std::vector<KernelCounts>& kernels, Output& output) {
  if (kernels.empty()) return;
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "calls", "tuned", "share", "originals", "outside the guard", "captured"}};
  for (const KernelCounts& kernel : kernels) {
    rows.push_back({kernel.kernel, std::to_string(kernel.calls()), std::to_string(kernel.tuned),
                    Format("%.1f %%", 100 * ShareOf(kernel)),
                    std::to_string(kernel.calls() - kernel.tuned), std::to_string(kernel.outside),
                    std::to_string(kernel.captured)});
  }
  output.Table(rows);
}

void PrintSuspects(const BenchReport& report, Output& output) {
  const auto& suspects = report.bench.suspects;
  if (suspects.empty()) return;
  bool found = false, open = false;
  for (const Suspect& suspect : suspects) {
    found = found || suspect.loses();
    open = open || !suspect.ratio;
    output.Line("without " + suspect.kernel + ": " +
                (suspect.ratio ? RatioText(*suspect.ratio) +
                                     (suspect.in_kernels ? " of the time in kernels" : "")
                               : "no time was left for it"));
  }
  for (const DemotedKernel& one : report.demoted) {
    output.Line((one.done ? "demoted: " : "to be demoted: ") + one.kernel + ": " + one.message);
  }
  const bool slower = report.bench.verdict == ProgramVerdict::kSlower;
  if (open) {
    // Of a program that is not slower all kernels have their turns, in as much time again.
    const std::size_t pairs = slower ? kLeastPairs * (suspects.size() + 1)
                                     : (kLookPairs + kLeastPairs) * report.bench.kernels.size();
    const double more = 2 * static_cast<double>(pairs) * report.bench.ratio->second;
    output.Line("`--seconds " + Format("%.0f", (slower ? report.bench.seconds : 1) + more) +
                "` gives all of them their turn");
  } else if (!found && slower) {
    output.Line("none of them alone is shown to be the reason: nothing is demoted");
  }
}

std::string Sentence(ProgramVerdict verdict) {
  switch (verdict) {
    case ProgramVerdict::kFaster:
      return "faster with tuned kernels";
    case ProgramVerdict::kSlower:
      return "slower with tuned kernels";
    default:
      return "no difference shown";
  }
}

}  // namespace

Json ToJson(const BenchReport& report) {
  const ProgramBench& bench = report.bench;
  Json json = {{"schema", "cupilot.bench/1"},
               {"program", report.words},
               {"device", DeviceOf(bench.kernels)},
               {"times", AnyOnHost(bench.kernels) ? "CPU times" : "wall times"},
               {"verdict", Name(bench.verdict)},
               {"advice", report.advice},
               {"pairs", PairsJson(bench.wall)},
               {"seconds", bench.seconds},
               {"wall", nullptr},
               {"processor", nullptr},
               {"in_kernels", nullptr},
               {"gpu", nullptr}};
  if (bench.ratio) {
    json["wall"] = {{"without_seconds", bench.ratio->first},
                    {"with_seconds", bench.ratio->second},
                    {"ratio", bench.ratio->ratio},
                    {"interval", Json::array({bench.ratio->low, bench.ratio->high})}};
    const base::PairedRatio user = base::RatioOf(bench.user);
    json["processor"] = {{"without_seconds", user.first}, {"with_seconds", user.second}};
  }
  if (!bench.in_kernels.empty()) {
    const base::PairedRatio ratio = base::RatioOf(bench.in_kernels);
    json["in_kernels"] = {{"without_seconds", ratio.first},
                          {"with_seconds", ratio.second},
                          {"ratio", ratio.ratio},
                          {"interval", Json::array({ratio.low, ratio.high})},
                          {"pairs", PairsJson(bench.in_kernels)}};
    if (!AnyOnHost(bench.kernels)) json["gpu"] = json["in_kernels"];
  }
  if (json["gpu"].is_null()) {
    json["why_no_gpu_time"] =
        AnyOnHost(bench.kernels) ? "kernels run on the host device" : kNoKernelTime;
  }
  json["kernels"] = KernelsJson(bench.kernels);
  json["suspects"] = SuspectsJson(bench.suspects);
  json["demoted"] = DemotedJson(report.demoted);
  return json;
}

void PrintBench(const BenchReport& report, Output& output) {
  const ProgramBench& bench = report.bench;
  std::string program;
  for (const std::string& word : report.words) program += (program.empty() ? "" : " ") + word;
  output.Line(program);
  if (!bench.ratio) {
    PrintKernels(bench.kernels, output);
    output.Line(report.advice);
    return;
  }
  const std::string device = DeviceOf(bench.kernels);
  output.Line(
      "device          " + device +
      (AnyOnHost(bench.kernels) ? ": kernels run on the processor, these are CPU times" : ""));
  output.Line("wall time       " + TimesText(bench.ratio->first, bench.ratio->second) + ": " +
              RatioText(*bench.ratio) + ", " + std::to_string(bench.wall.size()) + " pairs");
  const base::PairedRatio user = base::RatioOf(bench.user);
  output.Line("processor time  " + TimesText(user.first, user.second));
  const std::string name = AnyOnHost(bench.kernels)
                               ? "in kernels      "
                               : "GPU time        ";  // the host's are CPU times
  if (bench.in_kernels.empty()) {
    output.Line(name + "not known: " + kNoKernelTime);
  } else {
    const base::PairedRatio ratio = base::RatioOf(bench.in_kernels);
    output.Line(name + TimesText(ratio.first, ratio.second) + ": " + RatioText(ratio) + ", " +
                std::to_string(bench.in_kernels.size()) + " pairs");
  }
  output.Line(Sentence(bench.verdict));
  PrintKernels(bench.kernels, output);
  PrintSuspects(report, output);
}

}  // namespace cupilot::client
