// The variants of one program that mechanical_variants wrote.
#pragma once

#include <string>
#include <vector>

#include "source/swap/swapped_source.h"

namespace cupilot::source {

base::Result<SwapRequest> MechanicalRequest(const std::string& source, const std::string& file,
                                            std::size_t program,
                                            const std::vector<std::string>& targets);

}  // namespace cupilot::source
