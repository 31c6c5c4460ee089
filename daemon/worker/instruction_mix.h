// What a kernel consists of, from its disassembly: costs no run and no permission. Counts of
// instructions as they stand in the code, not as they are executed.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupilot::worker {

// By kernel (mangled), instructions by class: "fp32" "fp64" "fp16" "integer" "special" "tensor"
// "shuffle" "global" "shared" "local" "constant" "atomic" "control" "barrier" "convert" "other".
using InstructionMix = std::map<std::string, std::map<std::string, int>>;

// The listing that nvdisasm writes of a cubin. Pure.
InstructionMix MixOf(std::string_view listing);

// Of a cubin, by the nvdisasm in one of these toolkit folders. kUnavailable: there is none, or it
// fails. `folder`: for its output.
base::Result<InstructionMix> InstructionMixOf(const std::string& cubin,
                                              const std::vector<std::string>& toolkits,
                                              const std::string& folder);

}  // namespace cupilot::worker
