// Programs of the corpus, built and run by the host device.
#pragma once

#include <string>
#include <vector>

#include "tests/integration/corpus/corpus.h"

namespace cupilot::corpus {

// What kernels are compiled for on this machine: "host-x86-64-v3".
const std::string& HostTarget(const std::string& nvcc);

// The words that link the units' objects to `program`.
std::vector<std::string> LinkWords(const std::string& nvcc, const std::vector<Unit>& units,
                                   const std::string& program);

// "a b c "
std::string TextOf(const std::vector<std::string>& words);

}  // namespace cupilot::corpus
