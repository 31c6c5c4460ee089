// One entry of the strategy pool (cupilot.pool_entry/1): that a strategy was tried on a kernel of
// this kind on this device, and what came of it. One entry a kernel, device and strategy. Without
// source text and without what was captured.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/json.h"
#include "records/kernel_features.h"
#include "records/variant.h"

namespace cupilot::records {

// Where an entry comes from. Only what was measured on this machine is evidence here.
enum class PoolOrigin { kHere, kImported, kShipped };

struct PoolDevice {
  std::string kind = "cuda";  // "cuda" | "host"
  std::string name;           // empty: any
  std::string arch;           // "sm_90", "host-x86-64-v3"; empty: any
  bool operator==(const PoolDevice&) const = default;
};

// What is published about a strategy.
struct PoolSource {
  std::string title;
  std::string authors;  // or who published it
  std::int64_t year = 0;
  std::string address;  // https://...; empty: not known for sure
  bool operator==(const PoolSource&) const = default;
};

struct PoolGain {
  double factor = 1;  // over the original
  // 95 %; absent: nobody said one.
  std::optional<std::array<double, 2>> interval;
  bool operator==(const PoolGain&) const = default;
};

struct PoolEntry {
  static constexpr const char* kSchema = "cupilot.pool_entry/1";
  std::string id;      // PoolEntryId of kernel key, device and strategy; shipped: a short name
  std::string kernel;  // label, for people; empty: not said
  // Of the kernel that was measured; empty: of another machine, or shipped.
  std::string kernel_key;
  std::optional<KernelFeatures> features;
  std::string bottleneck;  // dram l2 shared fp32 tensor latency occupancy launch; empty: not known
  PoolDevice device;
  Strategy strategy;
  // What it gained; also of what was measured and rejected. Absent: nothing was measured, or the
  // source gives no figure.
  std::optional<PoolGain> gain;
  std::string reason;      // why it failed at last: one of kReasons; empty: it won
  std::int64_t tried = 0;  // verdicts
  std::int64_t won = 0;    // of these accepted
  std::string date;        // of the last verdict
  PoolOrigin origin = PoolOrigin::kHere;
  std::optional<PoolSource> source;  // always of a shipped one
  std::string note;                  // a shipped one's: what it is about, in our words
  bool operator==(const PoolEntry&) const = default;
};

// Whether it says that the strategy pays: a gain, and no reason against it.
bool Gained(const PoolEntry& entry);

// The hash of what makes two verdicts ones about the same: kernel, device and steps, without what
// people are told about these.
std::string PoolEntryId(const std::string& kernel_key, const PoolDevice& device,
                        const Strategy& strategy);

// Strict: unknown and missing keys and impossible values (an interval that does not hold the
// factor, a reason that is none, a shipped entry without source) are errors with their path.
base::Result<PoolEntry> ParsePoolEntry(const Json& json);
Json ToJson(const PoolEntry& entry);

// What is exported: a file of people, read strictly (cupilot.strategies/1).
struct PoolFile {
  static constexpr const char* kSchema = "cupilot.strategies/1";
  std::vector<PoolEntry> entries;
  bool operator==(const PoolFile&) const = default;
};
base::Result<PoolFile> ParsePoolFile(const Json& json);
Json ToJson(const PoolFile& file);

}  // namespace cupilot::records
