// The mechanical techniques, each in a file of its own; technique.h says what the two functions do.
#pragma once

#include "source/rewrite/technique.h"

namespace cupilot::source {

base::Result<std::vector<records::Json>> ProposeBlockSize(const Draft& draft);
base::Result<std::string> ApplyBlockSize(Draft& draft, const records::Json& parameters);

base::Result<std::vector<records::Json>> ProposeCoarsening(const Draft& draft);
base::Result<std::string> ApplyCoarsening(Draft& draft, const records::Json& parameters);

}  // namespace cupilot::source
