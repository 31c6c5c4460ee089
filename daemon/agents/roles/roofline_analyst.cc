#include "agents/roles/roofline_analyst.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

#include "records/variant.h"

namespace cupilot::agents {
namespace {

using records::Json;

constexpr double kNearCeilingShare = 0.6;  // as worker/roofline.h has it
constexpr double kFewWarps = 0.5;          // of those that fit on a multiprocessor
constexpr std::size_t kMostMetrics = 3;
constexpr std::int64_t kRegistersOfSm = 65536;  // of all architectures since 3.x
constexpr double kMuchTraffic = 1.15;           // times what is necessary

// What the sides of a profile have measured, by case.
struct Evidence {
  Json roofline = Json::object();  // {"bound", "share", "shares", "counters" | "instructions"}
  std::map<std::string, double> counters;
  double necessary_bytes = 0;
  const records::CaseResult* result = nullptr;
  double time_us = 0;
  double floor_share = 0;
};

const Json& At(const Json& json, const std::string& key) {
  static const auto& nothing = *new Json(Json::object());
  const auto it = json.is_object() ? json.find(key) : json.end();
  return it == json.end() || !it->is_object() ? nothing : *it;
}

double Finite(const Json& json, const char* key) {
  const auto it = json.is_object() ? json.find(key) : json.end();
  const double value = it != json.end() && it->is_number() ? it->get<double>() : 0;
  return std::isfinite(value) ? value : 0;
}

struct CounterRow {
  std::string_view bounds;  // of which it says something, separated by spaces
  const char* counter;
  const char* name;
  const char* unit;
  double least, most;  // outside it says nothing of interest
  const char* hypothesis;
};

constexpr double kAny = 1e300;
// In the order in which they matter.
constexpr CounterRow kCounters[] = {
    {"dram", "lts__t_sector_hit_rate.pct", "L2 hit rate", " %", 0, 60,
     "most requests go on to memory: if data is used again, smaller tiles or another order of "
     "blocks would keep it in the cache"},
    {"dram", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "memory busy", " %", 0, kAny,
     "only fewer bytes help: fewer passes, no second reading, shorter types where allowed"},
    {"l2", "l1tex__t_sector_hit_rate.pct", "L1 hit rate", " %", 0, 70,
     "the same data is asked of the second level again: tiles in shared memory or registers would "
     "keep it"},
    {"l2", "lts__throughput.avg.pct_of_peak_sustained_elapsed", "L2 busy", " %", 0, kAny,
     "fewer and wider requests, and more reuse within a block, relieve it"},
    {"l2", "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio",
     "warps that wait to issue memory instructions", " per issue", 1, kAny,
     "too many narrow accesses: vector accesses and reuse in registers reduce their number"},
    {"l2", "l1tex__throughput.avg.pct_of_peak_sustained_active", "L1 busy", " %", 0, kAny,
     "uncoalesced or narrow accesses cost it more than their bytes"},
    {"shared", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "bank conflicts", "", 1, kAny,
     "padding or another layout of the shared arrays removes them"},
    {"shared", "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed",
     "shared memory busy", " %", 0, kAny,
     "larger tiles in registers and wider shared accesses need fewer of them"},
    {"shared", "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
     "warps that wait for shared memory", " per issue", 0.5, kAny,
     "shuffles, or values kept in registers, take its place"},
    {"fp32", "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
     "special functions and conversions busy", " %", 40, kAny,
     "fewer roots, exponentials, divisions or conversions help most"},
    {"fp32", "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
     "integer and logic busy", " %", 50, kAny,
     "index arithmetic outside of loops, strength reduction and wider accesses save instructions"},
    {"fp32", "sm__inst_issued.avg.pct_of_peak_sustained_active", "issue slots used", " %", 0, kAny,
     "fewer instructions a result: coarsening, unrolling, reuse in registers"},
    {"fp32", "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
     "multiply-add pipe busy", " %", 0, kAny,
     "where it is far below the issue slots, what is around the arithmetic costs the time"},
    {"tensor", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
     "tensor cores busy", " %", 0, kAny,
     "they are what is left to be fed: overlap copies with them"},
    {"tensor", "lts__t_sector_hit_rate.pct", "L2 hit rate", " %", 0, kAny,
     "larger tiles and an order of blocks that shares operands raise it"},
    {"latency", "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
     "warps that wait for global memory", " per issue", 1, kAny,
     "more loads in flight a thread (unrolling, vector loads, copies ahead) hide it"},
    {"latency", "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
     "warps that wait at barriers", " per issue", 0.5, kAny,
     "fewer barriers, smaller blocks, or shuffles within warps"},
    {"latency", "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
     "warps that wait for shared memory or special functions", " per issue", 0.5, kAny,
     "independent work between request and use, or values in registers"},
    {"latency", "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",
     "warps that wait for an arithmetic pipe", " per issue", 0.5, kAny,
     "one pipe is used in bursts: mix memory and arithmetic by unrolling"},
    {"latency", "smsp__sass_average_branch_targets_threads_uniform.pct", "uniform branches", " %",
     0, 90, "threads of a warp go different ways: sort the work, or select without branches"},
    {"latency occupancy launch", "sm__warps_active.avg.pct_of_peak_sustained_active",
     "warps that are there, of those that fit", " %", 0, kAny,
     "more of them, or more independent work in each, hide waiting"},
};

bool HasBound(std::string_view bounds, std::string_view bound) {
  const std::size_t at = bounds.find(bound);
  if (at == std::string_view::npos) return false;
  const std::size_t end = at + bound.size();
  return (at == 0 || bounds[at - 1] == ' ') && (end == bounds.size() || bounds[end] == ' ');
}

class Analyst {
 public:
  Analyst(Evidence evidence, const records::Evaluation& evaluation, Side side,
          const LaunchShape& shape)
      : evidence_(std::move(evidence)),
        resources_(evaluation.resources),
        host_(evaluation.device.arch.starts_with("host")),
        side_(side),
        shape_(shape) {}

  Diagnosis Run() {
    diagnosis_.case_name = evidence_.result->name;
    diagnosis_.time_us = evidence_.time_us;
    diagnosis_.floor_share = evidence_.floor_share;
    diagnosis_.evidence = !evidence_.counters.empty()                       ? "counters"
                          : !At(evidence_.roofline, "instructions").empty() ? "instructions"
                                                                            : "times";
    NameBound();
    AddTraffic();
    if (diagnosis_.bound == "occupancy") AddResources();
    AddCounters();
    if (diagnosis_.bound == "launch") AddLaunch();
    if (diagnosis_.evidence != "counters") AddStatic();
    return std::move(diagnosis_);
  }

 private:
  double Counter(const char* name) const {
    const auto it = evidence_.counters.find(name);
    return it == evidence_.counters.end() ? 0 : it->second;
  }

  void NameBound() {
    const std::string ceiling = records::TextAt(evidence_.roofline, "bound");
    diagnosis_.bound = records::BottleneckOf(ceiling);
    diagnosis_.ceiling_share = std::clamp(Finite(evidence_.roofline, "share"), 0.0, 1.0);
    if (!diagnosis_.bound.empty() && diagnosis_.bound != "latency") return;
    if (diagnosis_.bound.empty() && evidence_.floor_share >= kNearCeilingShare) {
      // A floor is traffic, or an empty launch; which of them, nobody said.
      diagnosis_.bound = "dram";
      diagnosis_.ceiling_share = std::min(1.0, evidence_.floor_share);
      return;
    }
    // No rate explains the time.
    diagnosis_.ceiling_share = 0;
    diagnosis_.bound = !host_ && HasFewWarps() ? "occupancy" : "latency";
  }

  // Measured, or, without counters, of what fits at once.
  bool HasFewWarps() const {
    constexpr const char* kActive = "sm__warps_active.avg.pct_of_peak_sustained_active";
    if (evidence_.counters.contains(kActive)) return Counter(kActive) < 100 * kFewWarps;
    const double share = WarpsThatFit();
    return share > 0 && share < kFewWarps;
  }

  // Share of a multiprocessor's threads that registers and shared memory leave room for; 0: not
  // known.
  double WarpsThatFit() const {
    if (side_ == Side::kOriginal || shape_.block_threads <= 0 || shape_.max_threads_per_sm <= 0) {
      return 0;
    }
    std::int64_t blocks = shape_.max_threads_per_sm / shape_.block_threads;
    if (resources_.registers > 0) {
      blocks = std::min(blocks, kRegistersOfSm / (resources_.registers * shape_.block_threads));
    }
    const std::int64_t shared = resources_.shared_bytes + shape_.dynamic_shared_bytes;
    if (shared > 0 && shape_.shared_bytes_per_sm > 0) {
      blocks = std::min(blocks, shape_.shared_bytes_per_sm / shared);
    }
    return static_cast<double>(blocks * shape_.block_threads) /
           static_cast<double>(shape_.max_threads_per_sm);
  }

  void Add(std::string name, std::string value, std::string hypothesis) {
    if (diagnosis_.metrics.size() >= kMostMetrics) return;
    diagnosis_.metrics.push_back({std::move(name), std::move(value), std::move(hypothesis)});
  }

  void AddTraffic() {
    if (diagnosis_.bound != "dram" || evidence_.necessary_bytes <= 0) return;
    const double moved = Counter("dram__bytes_read.sum") + Counter("dram__bytes_write.sum");
    const double times = moved / evidence_.necessary_bytes;
    if (moved <= 0) return;
    Add("bytes moved to and from memory, over the necessary ones", Rounded(times),
        times > kMuchTraffic
            ? "data is moved more than once: fusing passes or keeping it on the chip saves that"
            : "hardly anything is moved in vain: only a better use of the bandwidth is left");
  }

  void AddCounters() {
    for (const CounterRow& row : kCounters) {
      const auto it = evidence_.counters.find(row.counter);
      if (it == evidence_.counters.end() || !HasBound(row.bounds, diagnosis_.bound)) continue;
      if (it->second < row.least || it->second > row.most) continue;
      Add(row.name, Rounded(it->second) + row.unit, row.hypothesis);
    }
  }

  void AddResources() {
    if (side_ == Side::kOriginal) return;
    if (resources_.local_bytes > 0) {
      Add("registers spilled to memory",
          Rounded(static_cast<double>(resources_.local_bytes)) + " bytes a thread",
          "smaller tiles a thread, or looser launch bounds, keep values in registers");
    }
    if (resources_.registers > 0) {
      Add("registers a thread", std::to_string(resources_.registers),
          "fewer of them, or smaller blocks, let more warps run");
    }
    if (resources_.shared_bytes + shape_.dynamic_shared_bytes > 0) {
      Add("shared memory a block",
          Rounded(static_cast<double>(resources_.shared_bytes + shape_.dynamic_shared_bytes)) +
              " bytes",
          "less of it lets more blocks run on a multiprocessor");
    }
  }

  void AddLaunch() {
    const double share = Finite(At(evidence_.roofline, "shares"), "launch");
    if (share <= 0) return;
    Add("time of an empty launch, of the whole", Rounded(100 * share) + " %",
        "one launch in place of several, and fewer and larger blocks, are all that helps");
  }

  // What can be said without counters.
  void AddStatic() {
    if (evidence_.floor_share > 0) {
      Add("necessary traffic at peak bandwidth, of the time",
          Rounded(100 * evidence_.floor_share) + " %",
          evidence_.floor_share >= kNearCeilingShare
              ? "little is left to be gained"
              : "most of the time is not spent on moving what has to be moved");
    }
    const double fit = WarpsThatFit();
    if (fit > 0 && fit < 1) {
      Add("warps that registers and shared memory leave room for", Rounded(100 * fit) + " %",
          "where it is low, waiting is not hidden by other warps");
    }
    if (diagnosis_.bound != "occupancy") AddResources();
    AddMix();
  }

  void AddMix() {
    double memory = 0, all = 0;
    const Json& instructions = At(evidence_.roofline, "instructions");
    for (const auto& [kernel, classes] : instructions.items()) {
      if (!classes.is_object()) continue;
      for (const auto& [name, count] : classes.items()) {
        const double number = count.is_number() ? count.get<double>() : 0;
        all += number;
        if (name == "global" || name == "shared" || name == "local" || name == "atomic") {
          memory += number;
        }
      }
    }
    if (all <= 0) return;
    Add("memory instructions, of all in the compiled code", Rounded(100 * memory / all) + " %",
        "what a loop repeats counts once here; wider accesses make them fewer");
  }

  const Evidence evidence_;
  const records::Resources& resources_;
  const bool host_;
  const Side side_;
  const LaunchShape& shape_;
  Diagnosis diagnosis_;
};

Evidence EvidenceOf(const records::Evaluation& evaluation, const records::CaseResult& result,
                    Side side) {
  Evidence evidence;
  evidence.result = &result;
  evidence.time_us = side == Side::kOriginal ? result.original_us : result.variant_us;
  if (result.floor_us > 0 && evidence.time_us > 0) {
    evidence.floor_share = std::min(1.0, result.floor_us / evidence.time_us);
  }
  const Json& profile = At(At(evaluation.metrics, "case " + result.name), "roofline");
  evidence.roofline = At(profile, side == Side::kOriginal ? "original" : "variant");
  evidence.necessary_bytes =
      Finite(At(profile, "necessary"), "read") + Finite(At(profile, "necessary"), "written");
  const Json& counters = At(evidence.roofline, "counters");
  for (const auto& [name, value] : counters.items()) {
    if (value.is_number() && std::isfinite(value.get<double>())) {
      evidence.counters[name] = value.get<double>();
    }
  }
  return evidence;
}

// The first entry of a case is its cold one, where there are two.
const records::CaseResult* MeasuredResult(const records::Evaluation& evaluation,
                                          const std::string& name, Side side) {
  for (const records::CaseResult& result : evaluation.cases) {
    const double time = side == Side::kOriginal ? result.original_us : result.variant_us;
    if (result.name == name && result.admitted && time > 0) return &result;
  }
  return nullptr;
}

}  // namespace

std::optional<Diagnosis> Diagnose(const records::Evaluation& evaluation,
                                  const records::Workload& workload, Side side,
                                  const LaunchShape& shape) {
  const records::CaseResult* most = nullptr;
  double most_left = -1;
  for (const records::Case& one : workload.cases) {
    const records::CaseResult* result = MeasuredResult(evaluation, one.name, side);
    if (result == nullptr) continue;
    const double time = side == Side::kOriginal ? result->original_us : result->variant_us;
    const double share = std::min(1.0, result->floor_us / time);
    const double speedup = side == Side::kVariant && result->speedup > 0 ? result->speedup : 1;
    const double left = one.weight / speedup * (1 - share);
    if (left > most_left) {
      most = result;
      most_left = left;
    }
  }
  if (most == nullptr) return std::nullopt;
  return Analyst(EvidenceOf(evaluation, *most, side), evaluation, side, shape).Run();
}

DevicePeaks PeaksOf(const records::Evaluation& evaluation) {
  DevicePeaks peaks;
  for (const records::CaseResult& result : evaluation.cases) {
    const Json& profile = At(At(evaluation.metrics, "case " + result.name), "roofline");
    const Json& measured = At(profile, "peaks");
    const Json& rates = At(measured, "arithmetic");
    const auto keep = [](double& peak, double found) { peak = std::max(peak, found); };
    // Bytes and operations a microsecond.
    keep(peaks.dram_gb_per_s, Finite(measured, "copy") / 1e3);
    keep(peaks.fp32_tflops, Finite(rates, "fp32") / 1e6);
    keep(peaks.fp64_tflops, Finite(rates, "fp64") / 1e6);
    keep(peaks.launch_us, Finite(measured, "launch_us"));
  }
  return peaks;
}

std::string Rounded(double value) {
  if (!std::isfinite(value)) return "unknown";
  if (value == 0) return "0";
  char text[64];
  std::snprintf(text, sizeof text, "%.1e", value);
  // What two digits make of it decides where they stand.
  const double rounded = std::strtod(text, nullptr);
  const int exponent = static_cast<int>(std::floor(std::log10(std::fabs(rounded)) + 1e-9));
  std::snprintf(text, sizeof text, "%.*f", std::clamp(1 - exponent, 0, 12), rounded);
  return text;
}

}  // namespace cupilot::agents
