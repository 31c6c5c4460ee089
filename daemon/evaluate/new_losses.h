// The second half of forbidden_numerics: instructions of a candidate for a GPU that lose precision,
// of a kind that its original does not have. The first half is names in the source (whitelist.h).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "protocol/worker_messages.h"

namespace cupilot::evaluate {

using Losses = std::vector<std::pair<std::string, std::string>>;  // as BuildReply::losses

// `build`: of a text that holds the original beside the kernels `entries`, the candidate's own;
// `of_original`: what was found of one whose body that text does not have.
// `tolerated`: results may differ by a declared tolerance, so that short formats are the user's
// word; approximations are not. Empty: nothing, or the original is not there to compare with.
std::string NewLosses(const protocol::BuildReply& build, const std::vector<std::string>& entries,
                      bool tolerated, const Losses& of_original = {});

}  // namespace cupilot::evaluate
