// The reviser repairs a variant against one finding: of the build, of a check, or of the profile.
#pragma once

#include <string>

#include "agents/roles/kernel_brief.h"
#include "agents/roles/role.h"
#include "agents/roles/variant_answer.h"
#include "records/evaluation.h"
#include "records/variant.h"

namespace cupilot::agents {

struct Finding {
  enum class Kind { kBuild, kCheck, kProfile };
  Kind kind = Kind::kBuild;
  std::string reason;  // of records::kReasons; of a profile: the bound
  // A compiler's log, a check's detail; shown up to kMostFinding bytes, of a build its last part.
  std::string detail;
};
inline constexpr std::size_t kMostFinding = 6000;

// The finding of a rejection, its times rounded and without folders: a build's for forbidden
// constructs and numerics, failed builds and invalid launches, else a check's; of what is proven
// and could be faster, or is not faster, a profile's.
Finding FindingOf(const records::Evaluation& evaluation);

struct ReviserInputs {
  KernelBrief brief;  // of a profile's finding: the diagnosis is the variant's
  records::Strategy strategy;
  records::Variant variant;
  Finding finding;
};

ModelRequest ReviserRequest(const ReviserInputs& inputs, const RoleSettings& settings);
// Its answer: ReadVariant (variant_answer.h).

// What its template is given.
records::Json ReviserData(const ReviserInputs& inputs);

}  // namespace cupilot::agents
