#include "client/report/variant_tree.h"

#include <map>
#include <string>
#include <vector>

#include "client/output.h"

namespace cupilot::client {
namespace {

using records::Json;

using Steps = std::vector<std::string>;

// What a variant continues is told by technique and parameters: titles and reasons differ.
Steps StepsOf(const Json& row) {
  Steps steps;
  for (const Json& step : ListOf(row, "steps")) {
    steps.push_back(records::CompactJson(
        Json::array({TextOf(step, "technique"), ObjectOf(step, "parameters")})));
  }
  return steps;
}

// The same variant may be made in several ways, so two may each have been made of the other: who
// is come back to from itself stands below the original.
void CutCircles(std::map<std::string, std::string>& parents) {
  for (auto& [id, parent] : parents) {
    std::string at = parent;
    for (std::size_t steps = 0; !at.empty() && at != id && steps < parents.size(); ++steps) {
      at = parents[at];
    }
    if (!at.empty()) parent.clear();
  }
}

}  // namespace

void PlaceVariants(Json& variants) {
  std::map<std::string, std::string> parents;
  std::map<Steps, std::string> by_steps;  // the first that was made so
  for (const Json& row : variants) {
    const std::string id = TextOf(row, "id");
    parents[id];
    if (Steps steps = StepsOf(row); !steps.empty()) by_steps.try_emplace(std::move(steps), id);
  }
  const auto parent_of = [&](const Json& row, const std::string& id) -> std::string {
    for (const Json& parent : ListOf(row, "parents")) {
      if (parent.is_string() && parent != id && parents.count(parent) != 0) return parent;
    }
    for (Steps begin = StepsOf(row); begin.size() > 1;) {
      begin.pop_back();
      const auto found = by_steps.find(begin);
      if (found != by_steps.end() && found->second != id) return found->second;
    }
    return {};
  };
  for (const Json& row : variants) {
    const std::string id = TextOf(row, "id");
    parents[id] = parent_of(row, id);
  }
  CutCircles(parents);
  for (Json& row : variants) row["parent"] = parents[TextOf(row, "id")];
}

}  // namespace cupilot::client
