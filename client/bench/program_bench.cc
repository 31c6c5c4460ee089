#include "client/bench/program_bench.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

namespace cupilot::client {
namespace {

std::string Words(const base::PairedRatio& ratio) {
  char text[80];
  std::snprintf(text, sizeof text, "%.3fx [%.3f, %.3f]", ratio.ratio, ratio.low, ratio.high);
  return text;
}

std::string WhichKernels(const Variation& variation) {
  if (variation.originals) return "without tuned kernels (CUPILOT_DISABLE=1)";
  if (variation.without.empty()) return "with tuned kernels";
  return "with tuned kernels but for " + variation.without + " (CUPILOT_DISABLE)";
}

class Bench {
 public:
  Bench(const RunFunction& run, const BenchLimits& limits, const BenchProgress& progress)
      : run_(run), limits_(limits), progress_(progress) {}

  base::Result<ProgramBench> Run() {
    TRY(WarmUp());
    const auto& kernels = out_.kernels;
    if (std::none_of(kernels.begin(), kernels.end(),
                     [](const KernelCounts& kernel) { return kernel.tuned > 0; })) {
      return std::move(out_);
    }
    TRY(Pairs({.originals = true}, {}, limits_.seconds, "pair", out_.wall, &out_.user));
    out_.ratio = base::RatioOf(out_.wall);
    out_.verdict = JudgeProgram(*out_.ratio);
    if (out_.verdict == ProgramVerdict::kSlower) TRY(FindSuspects());
    KernelPairs();
    if (out_.verdict != ProgramVerdict::kSlower) TRY(FindLosers());
    return std::move(out_);
  }

 private:
  base::Result<TimedRun> Once(const Variation& variation) {
    TRY_ASSIGN(TimedRun run, run_(variation));
    out_.seconds += run.wall_seconds;
    if (run.ending.empty()) return run;
    std::string message = "the program " + run.ending + " " + WhichKernels(variation);
    if (!variation.originals) message += "; without them it ended well";
    if (!run.errors.empty()) message += "; the end of its standard error:\n" + run.errors;
    return base::Fail(base::ToolFailed(message));
  }

  // The originals first: whether the program works at all is asked of them.
  base::Result<> WarmUp() {
    for (int i = 0; i < limits_.warmup; ++i) {
      progress_("warming up");
      TRY(Once({.originals = true}));
      const bool last = i + 1 == limits_.warmup;
      TRY_ASSIGN(TimedRun tuned, Once({.counts = last}));
      if (last) out_.kernels = std::move(tuned.counts);
    }
    return {};
  }

  // In the order AB, BA, AB, ... until there are enough, or so many seconds of all runs are over.
  base::Result<> Pairs(const Variation& first, const Variation& second, double seconds,
                       const std::string& what, base::TimedPairs& wall, base::TimedPairs* user) {
    while (!EnoughRuns(wall, out_.seconds, seconds, limits_.most_pairs)) {
      const bool turned = wall.size() % 2 == 1;
      TRY_ASSIGN(TimedRun a, Once(turned ? second : first));
      TRY_ASSIGN(TimedRun b, Once(turned ? first : second));
      if (turned) std::swap(a, b);
      wall.emplace_back(a.wall_seconds, b.wall_seconds);
      if (user != nullptr) user->emplace_back(a.user_seconds, b.user_seconds);
      progress_(what + " " + std::to_string(wall.size()) + " of at most " +
                std::to_string(limits_.most_pairs) +
                (wall.size() < kLeastPairs ? "" : ": " + Words(base::RatioOf(wall))));
    }
    return {};
  }

  // Of one run whose kernels are timed; none where nobody saw them, or the program does not bear
  // it.
  std::optional<double> KernelSeconds(Variation variation) {
    variation.kernel_time = true;
    const auto run = run_(variation);
    if (!run) return std::nullopt;
    out_.seconds += run->wall_seconds;
    return run->ending.empty() ? run->kernel_seconds : std::nullopt;
  }

  // Runs of their own, since timing each kernel takes time. As few as make an interval: kernels'
  // times vary less than those of programs.
  void KernelPairs() {
    while (out_.in_kernels.size() < kLeastPairs) {
      const bool turned = out_.in_kernels.size() % 2 == 1;
      const auto a = KernelSeconds({.originals = !turned});
      const auto b = a ? KernelSeconds({.originals = turned}) : std::nullopt;
      if (!b) return out_.in_kernels.clear();
      out_.in_kernels.emplace_back(turned ? *b : *a, turned ? *a : *b);
      progress_("time in kernels, pair " + std::to_string(out_.in_kernels.size()) + " of " +
                std::to_string(kLeastPairs));
    }
  }

  // The program as it is, and without this kernel's variant: the time in all kernels where it is
  // seen, since a kernel is a small part of a program, else all of it. Nothing: it is not seen now.
  base::Result<std::optional<std::pair<double, double>>> LeaveOut(const Suspect& suspect,
                                                                  bool turned) {
    const Variation as_it_is, without = {.without = suspect.kernel};
    std::pair<double, double> pair;
    for (const bool first : {true, false}) {
      const bool with = first != turned;
      double& seconds = with ? pair.first : pair.second;
      if (suspect.in_kernels) {
        const auto in_kernels = KernelSeconds(with ? as_it_is : without);
        if (!in_kernels) return std::nullopt;
        seconds = *in_kernels;
      } else {
        TRY_ASSIGN(const TimedRun run, Once(with ? as_it_is : without));
        seconds = run.wall_seconds;
      }
    }
    return pair;
  }

  base::Result<bool> SeemsToLose(const Suspect& suspect) {
    for (std::size_t i = 0; i < kLookPairs; ++i) {
      progress_("without " + suspect.kernel);
      TRY_ASSIGN(const auto pair, LeaveOut(suspect, i % 2 == 1));
      if (!pair || pair->first <= pair->second) return false;
    }
    return true;
  }

  // A variant may lose in a program that others make faster. The pairs that decide are further
  // ones: with those that raised the suspicion chance would decide twice.
  base::Result<> FindLosers() {
    std::vector<std::string> tuned;
    for (const KernelCounts& kernel : out_.kernels) {
      if (kernel.tuned > 0) tuned.push_back(kernel.kernel);
    }
    // Its pairs were those of the program.
    if (tuned.size() == 1 && out_.verdict == ProgramVerdict::kFaster) return {};
    const double end = out_.seconds + limits_.seconds;
    for (const std::string& kernel : tuned) {
      Suspect suspect{kernel, !out_.in_kernels.empty(), {}, {}};
      const double needed = 2 * static_cast<double>(kLookPairs + kLeastPairs) * out_.ratio->second;
      if (out_.seconds + needed > end) {
        out_.suspects.push_back(std::move(suspect));
        continue;
      }
      TRY_ASSIGN(const bool seems, SeemsToLose(suspect));
      if (!seems) continue;
      while (suspect.pairs.size() < kLeastPairs) {
        TRY_ASSIGN(const auto pair, LeaveOut(suspect, suspect.pairs.size() % 2 == 1));
        if (!pair) break;
        suspect.pairs.push_back(*pair);
        progress_("without " + kernel + ", pair " + std::to_string(suspect.pairs.size()) + " of " +
                  std::to_string(kLeastPairs));
      }
      if (suspect.pairs.size() < kLeastPairs) continue;
      suspect.ratio = base::RatioOf(suspect.pairs);
      out_.suspects.push_back(std::move(suspect));
    }
    return {};
  }

  // By pairs of their own, also where there is only one: the program's verdict is wrong once in
  // forty times, so that what follows from it is seen twice.
  base::Result<> FindSuspects() {
    for (const KernelCounts& kernel : out_.kernels) {
      if (kernel.tuned > 0) out_.suspects.push_back({kernel.kernel, false, {}, {}});
    }
    // A fair share of what is left for each; none where it is too little for an answer, but for the
    // first: of long programs one is looked at all the same.
    const double needed = 2 * static_cast<double>(kLeastPairs) * out_.ratio->second;
    const double end = out_.seconds + std::max(limits_.seconds, needed);
    for (std::size_t i = 0; i < out_.suspects.size(); ++i) {
      Suspect& suspect = out_.suspects[i];
      const double left = end - out_.seconds;
      const double share = left / static_cast<double>(out_.suspects.size() - i);
      if (needed > left) continue;
      TRY(Pairs({}, {.without = suspect.kernel}, out_.seconds + std::max(share, needed),
                "without " + suspect.kernel + ", pair", suspect.pairs, nullptr));
      suspect.ratio = base::RatioOf(suspect.pairs);
    }
    return {};
  }

  const RunFunction& run_;
  const BenchLimits& limits_;
  const BenchProgress& progress_;
  ProgramBench out_;
};

}  // namespace

ProgramVerdict JudgeProgram(const base::PairedRatio& ratio) {
  if (ratio.low > 1) return ProgramVerdict::kFaster;
  if (ratio.high < 1) return ProgramVerdict::kSlower;
  return ProgramVerdict::kNoDifference;
}

const char* Name(ProgramVerdict verdict) {
  switch (verdict) {
    case ProgramVerdict::kFaster:
      return "faster";
    case ProgramVerdict::kSlower:
      return "slower";
    case ProgramVerdict::kNoDifference:
      return "no difference shown";
    case ProgramVerdict::kNothingTuned:
      return "nothing tuned ran";
  }
  return "";
}

bool EnoughRuns(const base::TimedPairs& pairs, double spent_seconds, double seconds,
                std::size_t most_pairs) {
  if (pairs.size() < kLeastPairs) return false;
  if (pairs.size() >= most_pairs || spent_seconds >= seconds) return true;
  const base::PairedRatio ratio = base::RatioOf(pairs);
  return std::log(ratio.high / ratio.low) / 2 < kHalfWidth;
}

base::Result<ProgramBench> BenchProgram(const RunFunction& run, const BenchLimits& limits,
                                        const BenchProgress& progress) {
  return Bench(run, limits, progress).Run();
}

}  // namespace cupilot::client
