// What may replace a kernel (design: cupilot.variant/1), and the strategy that it follows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/json.h"
#include "records/workload.h"

namespace cupilot::records {

struct StrategyStep {
  std::string technique;  // a row of search/techniques, or "other:<name>"
  Json parameters = Json::object();
  std::string rationale;
  double expected_gain = 1.0;
  bool operator==(const StrategyStep&) const = default;
};

struct Strategy {
  static constexpr const char* kSchema = "cupilot.strategy/1";
  std::string title;
  std::string bottleneck;  // dram l2 shared fp32 tensor latency occupancy launch
  std::vector<StrategyStep> steps;
  bool operator==(const Strategy&) const = default;
};
base::Result<Strategy> ParseStrategy(const Json& json);
Json ToJson(const Strategy& strategy);

// The bottleneck, as strategies name it, of a ceiling of the roofline (worker/roofline.h); empty:
// no ceiling. What limits the rate of instructions counts as arithmetic; the first-level cache,
// which strategies relieve as they do the second level, as that.
std::string BottleneckOf(std::string_view ceiling);

struct Launch {
  // Either a kernel of the variant's source ...
  std::string entry;
  std::vector<std::string> grid;   // three expressions; empty: the original's
  std::vector<std::string> block;  // three expressions; empty: the original's
  std::string shared_bytes;        // expression; empty: the original's
  // Names of parameters, workspaces, tensor maps, constants; or {"type", "value": expression}, kept
  // as JSON. Empty array: the kernel's own parameters in order.
  std::vector<Json> arguments;
  std::string when;                                           // expression; empty: always
  std::optional<std::pair<std::string, std::string>> repeat;  // count expression, index name
  bool cooperative = false;
  std::vector<std::string> cluster;
  bool overlap_previous = false;
  // ... or a clearing of a workspace between launches.
  std::string fill;  // workspace's name
  std::int64_t byte = 0;
  std::string bytes;  // expression
  bool operator==(const Launch&) const = default;
};

struct Workspace {
  std::string name;
  std::string bytes;  // expression
  bool zeroed = false;
  bool operator==(const Workspace&) const = default;
};

struct Variant {
  static constexpr const char* kSchema = "cupilot.variant/1";
  std::string kernel;  // qualified name
  std::string id;      // Id(*this); checked on input where given
  std::vector<std::string> includes;
  std::string source;
  std::string entry;  // for a variant without launches
  std::vector<Launch> launches;
  std::vector<Workspace> workspace;
  std::string guard;  // expression; empty: always
  std::map<std::string, std::vector<Json>> tunables;
  std::vector<std::string> require;
  std::map<std::string, Json> values;
  std::vector<std::string> template_arguments;
  Json tensor_maps = Json::array();
  Json constants = Json::array();
  std::optional<Strategy> strategy;
  std::vector<std::string> parents;
  bool operator==(const Variant&) const = default;
};

// Hash of the document without id, strategy and parents.
std::string VariantId(const Variant& variant);
// "cupilot_" and the first 16 digits of the id: the namespace of its source.
std::string VariantNamespace(const std::string& id);
// Strict, with the path of the bad key; a wrong id is an error; a missing one is filled in.
base::Result<Variant> ParseVariant(const Json& json);
Json ToJson(const Variant& variant);
// The launches with all defaults filled in (entry form becomes one launch).
std::vector<Launch> LaunchesOf(const Variant& variant);

}  // namespace cupilot::records
