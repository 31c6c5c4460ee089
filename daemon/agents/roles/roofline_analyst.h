// What holds a kernel back, from what was measured of it: the bound by name, the headroom, and the
// two or three numbers that matter for it. Code, and no model: prompts hold nothing else of a
// profile. Pure; any thread.
//
// The rule is the roofline's (Williams, Waterman, Patterson: "Roofline: an insightful visual
// performance model for multicore architectures", CACM 52(4), 2009) with the ceilings of
// worker/roofline.h: the nearest ceiling is the bound where at least 60 % of it is reached. Below
// that no rate explains the time: then it is the launch where half of the time is an empty launch's
// (as there), occupancy where registers, shared memory or a small grid keep warps away (less than
// half of the warps that fit are there; above that more warps seldom help: Volkov, "Better
// performance at lower occupancy", GTC 2010), and else latency. 60 % is the threshold at which
// Nsight Compute's speed-of-light section calls a kernel latency-bound (Nsight Compute
// documentation, "SpeedOfLight" rules).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/evaluation.h"
#include "records/workload.h"

namespace cupilot::agents {

struct Metric {
  std::string name;        // in words: "L2 hit rate"
  std::string value;       // rounded to two significant digits, with its unit: "38 %"
  std::string hypothesis;  // one sentence: what it may mean, and what should change it
  bool operator==(const Metric&) const = default;
};

struct Diagnosis {
  std::string bound;            // of records::Strategy::bottleneck: "dram", ..., "launch"
  std::string case_name;        // the case with most time to gain, which all of it is about
  double time_us = 0;           // of that case
  double floor_share = 0;       // its floor over its time, 0 to 1; 0: no floor is known
  double ceiling_share = 0;     // how much of the bound's ceiling is reached; 0: not known
  std::string evidence;         // "counters", "instructions" or "times": what it was made of
  std::vector<Metric> metrics;  // at most three
  bool operator==(const Diagnosis&) const = default;
};

enum class Side { kOriginal, kVariant };

// What an evaluation does not say of the launch; 0: not known.
struct LaunchShape {
  std::int64_t block_threads = 0;
  std::int64_t blocks = 0;
  std::int64_t dynamic_shared_bytes = 0;
  std::int64_t max_threads_per_sm = 0;
  std::int64_t shared_bytes_per_sm = 0;
};

// Of one side of a measured evaluation, accepted or not. Nothing if no case of the workload was
// measured. The case is the one in which weight / speedup * (1 - floor share) is greatest; of equal
// ones the workload's first. Resources are the variant's: the original's side says nothing of them.
std::optional<Diagnosis> Diagnose(const records::Evaluation& evaluation,
                                  const records::Workload& workload, Side side,
                                  const LaunchShape& shape = {});

// What the device reaches, as it was measured where a case was profiled; 0: not known.
struct DevicePeaks {
  double dram_gb_per_s = 0;  // of a copy: reads and writes
  double fp32_tflops = 0;
  double fp64_tflops = 0;
  double launch_us = 0;  // of an empty launch
};
DevicePeaks PeaksOf(const records::Evaluation& evaluation);

// Two significant digits in plain decimals: "0.035", "1.2", "38", "4300000". What is not finite:
// "unknown".
std::string Rounded(double value);

}  // namespace cupilot::agents
