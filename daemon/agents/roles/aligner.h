// The aligner rewrites a strategy to what the accepted code does.
#pragma once

#include <string>
#include <vector>

#include "agents/roles/role.h"
#include "agents/roles/strategist.h"
#include "records/kernel.h"
#include "records/variant.h"

namespace cupilot::agents {

struct AlignerInputs {
  records::Kernel kernel;
  std::vector<TechniqueRow> techniques;
  records::Strategy strategy;  // what was asked for
  records::Variant variant;    // what was accepted
};

ModelRequest AlignerRequest(const AlignerInputs& inputs, const RoleSettings& settings);
// The bottleneck is the given strategy's: what a step answers is not the aligner's to say.
Answer<records::Strategy> ReadAligned(const std::string& text, const AlignerInputs& inputs);

// What its template is given.
records::Json AlignerData(const AlignerInputs& inputs);

}  // namespace cupilot::agents
