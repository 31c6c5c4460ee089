// What was proven about a variant (design: cupilot.evaluation/1).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/json.h"

namespace cupilot::records {

struct DeviceIdentity {
  std::string name;
  std::string arch;           // "sm_90", "host-x86-64-v3"
  std::int64_t sm_count = 0;  // on host: threads
  std::int64_t memory_bytes = 0;
  bool operator==(const DeviceIdentity&) const = default;
};

struct CaseResult {
  std::string name;
  double original_us = 0;
  double variant_us = 0;
  double speedup = 0;
  std::array<double, 2> interval{0, 0};
  std::int64_t samples = 0;
  double floor_us = 0;
  std::string l2;               // "cold" or "warm"
  std::optional<double> error;  // units of the gate's rule; absent: no twin
  std::optional<double> original_error;
  // False: the variant's own guard leaves the case to the original. It was not run, and counts as a
  // speedup of 1 without width.
  bool admitted = true;
  Json others = Json::object();  // keys of a newer version, kept
  bool operator==(const CaseResult&) const = default;
};
// The result of a case that the variant's guard does not admit.
CaseResult LeftToOriginal(const std::string& name);

struct Check {
  std::string name;
  bool passed = false;
  std::string detail;
  Json others = Json::object();  // keys of a newer version, kept
  bool operator==(const Check&) const = default;
};

struct Resources {
  std::int64_t registers = 0;
  std::int64_t shared_bytes = 0;
  std::int64_t local_bytes = 0;
  Json others = Json::object();  // keys of a newer version, kept
  bool operator==(const Resources&) const = default;
};

// Reasons of a rejection; the only values of Evaluation::reason (empty when accepted).
inline constexpr const char* kReasons[] = {"forbidden_construct",
                                           "forbidden_numerics",
                                           "build_failed",
                                           "invalid_launch",
                                           "crashed",
                                           "timed_out",
                                           "out_of_bounds",
                                           "modified_input",
                                           "unwritten_output",
                                           "wrong_values",
                                           "precision_loss",
                                           "ignores_input",
                                           "nondeterministic",
                                           "race",
                                           "stateful",
                                           "alias_unsafe",
                                           "faster_than_physics",
                                           "not_faster",
                                           "unstable_timing",
                                           "original_not_reproducible",
                                           "unsupported_construct"};

struct Evaluation {
  static constexpr const char* kSchema = "cupilot.evaluation/1";
  std::string variant;
  std::string kernel_key;
  std::string target;  // "compute_90,sm_90" or "host-x86-64-v3"
  DeviceIdentity device;
  std::string toolchain;
  std::string driver;
  std::string workload;  // hash
  std::uint64_t seed = 1;
  std::string date;
  bool accepted = false;  // "verdict": "accepted" | "rejected"
  std::string reason;
  std::string detail;
  std::string guard;  // the published one
  std::vector<CaseResult> cases;
  std::optional<double> speedup;
  std::optional<std::array<double, 2>> interval;
  std::vector<Check> checks;
  Resources resources;
  std::string text_hash;
  Json metrics = Json::object();
  Json others = Json::object();  // keys of a newer version, kept
  bool operator==(const Evaluation&) const = default;
};

base::Result<Evaluation> ParseEvaluation(const Json& json);
Json ToJson(const Evaluation& evaluation);

}  // namespace cupilot::records
