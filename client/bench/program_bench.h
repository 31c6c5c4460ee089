// A program with and without its tuned kernels, in pairs of runs, and what follows from them. It
// knows no program and no clock: `run` makes the runs, and the time is that which they took. Used
// from one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/paired_ratio.h"
#include "base/result.h"
#include "client/bench/timed_run.h"

namespace cupilot::client {

struct BenchLimits {
  std::size_t most_pairs = 30;  // at least kLeastPairs
  // Of runs; no pair begins after it, unless there are too few. Kernels are left out for as long
  // again at most, but where the program is slower at least one is.
  double seconds = 60;
  int warmup = 1;  // runs each way that are not measured, at least 1
};

inline constexpr std::size_t kLeastPairs = 5;
inline constexpr double kHalfWidth = 0.01;  // of an interval that is narrow enough
// Of a program that is not slower, each kernel's variant is left out in so many pairs; where all of
// them were faster without it, in further ones, which decide.
inline constexpr std::size_t kLookPairs = 2;

enum class ProgramVerdict { kFaster, kSlower, kNoDifference, kNothingTuned };
// Of the whole interval of (without) / (with tuned kernels).
ProgramVerdict JudgeProgram(const base::PairedRatio& ratio);
// "faster", "slower", "no difference shown", "nothing tuned ran"
const char* Name(ProgramVerdict verdict);

// Whether further pairs are not worth their time.
bool EnoughRuns(const base::TimedPairs& pairs, double spent_seconds, double seconds,
                std::size_t most_pairs);

// A kernel with which a program may be slower than without: further pairs of the program as it is,
// and the same with only this kernel as the original.
struct Suspect {
  std::string kernel;
  bool in_kernels = false;                 // the pairs are of the time in all kernels, else in all
  base::TimedPairs pairs;                  // empty: the time was spent
  std::optional<base::PairedRatio> ratio;  // above 1: faster without the variant
  // The whole interval says that the program is faster without it.
  bool loses() const { return ratio && ratio->low > 1; }
};

struct ProgramBench {
  std::vector<KernelCounts> kernels;  // of the last warm-up run
  base::TimedPairs wall;              // seconds without and with tuned kernels
  base::TimedPairs user;
  std::optional<base::PairedRatio> ratio;  // of `wall`
  // Seconds in all kernels, without and with tuned ones, in runs of their own; empty: not known.
  base::TimedPairs in_kernels;
  ProgramVerdict verdict = ProgramVerdict::kNothingTuned;
  // Where it is slower, all kernels with tuned launches; else those without which it seemed to be
  // faster, and those for which no time was left.
  std::vector<Suspect> suspects;
  double seconds = 0;  // that all runs took
};

using RunFunction = std::function<base::Result<TimedRun>(const Variation& variation)>;
using BenchProgress = std::function<void(const std::string& what)>;

// Fails as `run` does, and with kToolFailed where a run did not end with 0: the message says how
// it ended, with which kernels, and the end of its standard error.
base::Result<ProgramBench> BenchProgram(const RunFunction& run, const BenchLimits& limits,
                                        const BenchProgress& progress);

}  // namespace cupilot::client
