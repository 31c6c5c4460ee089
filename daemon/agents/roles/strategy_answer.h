// What models say and read of strategies: for the strategist, the aligner, and the steps of a
// variant.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "agents/roles/role.h"
#include "agents/roles/strategist.h"
#include "records/json.h"
#include "records/variant.h"

namespace cupilot::agents {

// Schema of a list of steps, with limits.
const records::Json& StepsSchema();

// Steps of a document that fits it. Names that the table lacks become "other:<name>"; a complaint
// where parameters are not the table's. `path`: of the list.
Answer<std::vector<records::StrategyStep>> ReadSteps(const records::Json& steps,
                                                     std::span<const TechniqueRow> techniques,
                                                     const std::string& path);
// Without a table: names as they are, but for what no name has; parameters whatever they are.
std::vector<records::StrategyStep> ReadWords(const records::Json& steps);

// A title of a model: one line.
std::string OneLine(std::string text);

// For prompts: what was said of something, in a line of at most so many bytes. Numbers that were
// measured are rounded in it, and folders left out.
std::string ShortReason(const std::string& said, std::size_t most);

// For prompts: title and numbered steps; and the table, as a list. Not data yet (AsData).
std::string StrategyText(const records::Strategy& strategy);
std::string TechniquesText(std::span<const TechniqueRow> techniques);

// 1.04 -> "1.0"
std::string FactorText(double factor);

}  // namespace cupilot::agents
