#include "worker/roofline.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace cupilot::worker {
namespace {

using records::Json;

// Below, no ceiling explains the time, and what does is waiting (KernelAgent's threshold).
constexpr double kNearCeiling = 0.6;
constexpr double kLaunchBound = 0.5;

double NumberOf(const Json& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_number() ? it->get<double>() : 0;
}

double CounterOf(const std::map<std::string, double>& counters, const std::string& name) {
  const auto it = counters.find(name);
  return it != counters.end() && std::isfinite(it->second) ? it->second : 0;
}

// Threads' operations; a multiply-add is two.
struct Operation {
  const char* pipe;
  const char* counter;
  double weight;
};
constexpr Operation kOperations[] = {
    {"fp32", "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 2},
    {"fp32", "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 1},
    {"fp32", "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 1},
    {"fp64", "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", 2},
    {"fp64", "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", 1},
    {"fp64", "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", 1},
    {"integer", "smsp__sass_thread_inst_executed_op_integer_pred_on.sum", 1},
};

// Ceilings of which the hardware itself says how near it is, in percent.
struct Busy {
  const char* ceiling;
  const char* counter;
};
constexpr Busy kBusy[] = {
    {"l2", "lts__throughput.avg.pct_of_peak_sustained_elapsed"},
    {"l1", "l1tex__throughput.avg.pct_of_peak_sustained_active"},
    {"shared", "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed"},
    {"issue", "sm__inst_issued.avg.pct_of_peak_sustained_active"},
    {"fp32", "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"},
    {"fp64", "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active"},
    {"integer", "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active"},
    {"special", "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active"},
    {"load_store", "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active"},
    {"tensor", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"},
};

void AddOperations(const std::map<std::string, double>& counters, const Json& peaks, double time_us,
                   Roofline& roofline) {
  for (const Operation& operation : kOperations) {
    const double executed = CounterOf(counters, operation.counter);
    if (executed > 0) roofline.operations[operation.pipe] += operation.weight * executed;
  }
  const auto rates = peaks.find("arithmetic");
  if (rates == peaks.end()) return;
  for (const auto& [pipe, operations] : roofline.operations) {
    const double rate = NumberOf(*rates, pipe.c_str());
    // Integers also run on pipes that the rate's one instruction does not use: the hardware's own
    // word counts there.
    if (rate > 0 && pipe != "integer") roofline.shares[pipe] = operations / rate / time_us;
  }
}

}  // namespace

const std::vector<std::string>& CuratedMetrics() {
  static const auto& metrics = *new std::vector<std::string>{
      "gpu__time_duration.sum",
      "sm__cycles_active.avg",
      "sm__warps_active.avg.pct_of_peak_sustained_active",
      "smsp__inst_executed.sum",
      "sm__inst_issued.avg.pct_of_peak_sustained_active",
      "dram__bytes_read.sum",
      "dram__bytes_write.sum",
      "dram__throughput.avg.pct_of_peak_sustained_elapsed",
      "lts__throughput.avg.pct_of_peak_sustained_elapsed",
      "lts__t_sector_hit_rate.pct",
      "l1tex__throughput.avg.pct_of_peak_sustained_active",
      "l1tex__t_sector_hit_rate.pct",
      "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed",
      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
      "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
      "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
      "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active",
      "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
      "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active",
      "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
      "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
      "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
      "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
      "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",
      "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio",
      "smsp__sass_average_branch_targets_threads_uniform.pct",
      "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
      "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
      "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
      "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum",
      "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum",
      "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum",
      "smsp__sass_thread_inst_executed_op_integer_pred_on.sum",
  };
  return metrics;
}

double BandwidthOf(const Json& peaks, double written_share) {
  const double read = NumberOf(peaks, "read");
  const double copy = NumberOf(peaks, "copy");
  const double write = NumberOf(peaks, "write");
  if (read <= 0 || copy <= 0 || write <= 0) return 0;
  // Times of a byte add up, rates do not.
  const double share = std::clamp(written_share, 0.0, 1.0);
  const double from = share < 0.5 ? read : copy, to = share < 0.5 ? copy : write;
  const double part = share < 0.5 ? 2 * share : 2 * share - 1;
  return 1 / ((1 - part) / from + part / to);
}

Roofline PlaceOnRoofline(const Json& peaks, const Traffic& necessary, double time_us,
                         const std::map<std::string, double>& counters) {
  Roofline roofline;
  if (time_us <= 0) return roofline;
  // What was moved where that is known, and never less than what is necessary.
  const auto add_dram = [&](double read, double written) {
    if (read + written <= 0) return;
    const double rate = BandwidthOf(peaks, written / (read + written));
    if (rate <= 0) return;
    double& share = roofline.shares["dram"];
    share = std::max(share, (read + written) / rate / time_us);
  };
  add_dram(static_cast<double>(necessary.read), static_cast<double>(necessary.written));
  add_dram(CounterOf(counters, "dram__bytes_read.sum"),
           CounterOf(counters, "dram__bytes_write.sum"));
  if (const double launch = NumberOf(peaks, "launch_us"); launch > 0) {
    roofline.shares["launch"] = launch / time_us;
  }
  AddOperations(counters, peaks, time_us, roofline);
  for (const Busy& busy : kBusy) {
    const double share = CounterOf(counters, busy.counter) / 100;
    if (share > 0) roofline.shares[busy.ceiling] = std::max(roofline.shares[busy.ceiling], share);
  }
  const auto nearest =
      std::max_element(roofline.shares.begin(), roofline.shares.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (nearest == roofline.shares.end()) return roofline;
  roofline.share = nearest->second;
  const auto launch = roofline.shares.find("launch");
  if (nearest->second >= kNearCeiling) {
    roofline.bound = nearest->first;
  } else if (launch != roofline.shares.end() && launch->second >= kLaunchBound) {
    roofline.bound = "launch";
    roofline.share = launch->second;
  } else if (!counters.empty()) {
    roofline.bound = "latency";
  }
  return roofline;
}

Json ToJson(const Roofline& roofline) {
  return {{"bound", roofline.bound},
          {"share", roofline.share},
          {"shares", roofline.shares},
          {"operations", roofline.operations}};
}

}  // namespace cupilot::worker
