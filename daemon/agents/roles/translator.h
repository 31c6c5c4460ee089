// The translator turns a strategy and what it starts from into a variant.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agents/roles/kernel_brief.h"
#include "agents/roles/role.h"
#include "agents/roles/variant_answer.h"
#include "records/variant.h"

namespace cupilot::agents {

// An attempt at the same strategy that failed.
struct EarlierAttempt {
  std::string reason;  // "wrong_values", "build_failed", ..., or of an answer without a variant
  std::string detail;  // may be empty
};

struct TranslatorInputs {
  KernelBrief brief;
  records::Strategy strategy;
  std::vector<EarlierAttempt> earlier;  // the latest last; of many the last three are shown
  // What it starts from: variants that are proven, the closest first. None: the original.
  std::vector<records::Variant> parents;
};

ModelRequest TranslatorRequest(const TranslatorInputs& inputs, const RoleSettings& settings);
// Its answer: ReadVariant (variant_answer.h).

// What its template is given.
records::Json TranslatorData(const TranslatorInputs& inputs);

}  // namespace cupilot::agents
