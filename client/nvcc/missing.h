// What the host device lacks, told from what a compiler says of a source that does not build: names
// and headers of CUDA that it does not know. Everything else that it complains about is the user's.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "source/lower/unsupported.h"
#include "source/syntax/parse.h"

namespace cupilot::nvcc {

using Missing = std::vector<source::Unsupported>;

// Of clang's errors in the user's text.
Missing MissingNames(const std::vector<source::Diagnostic>& errors);
// Of what g++ printed: headers that were not found, names that it does not know (in templates only
// it finds them, at the instantiation).
Missing MissingInOutput(std::string_view output);

// One line, "main.cu:3: error: cupilot: the host device does not have tex2D; ...": the first place,
// and the other names.
std::string DescribeMissing(const Missing& missing);

}  // namespace cupilot::nvcc
