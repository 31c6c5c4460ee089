// The original's error near a case's inputs. One run's error is one draw of what rounding does:
// where values that are rounded coarsely cancel (a difference of two large distances), a single
// element decides how far others may be off, and on these very inputs the original may be right by
// luck. Further draws are its errors on inputs that are a little smaller. NUMERICS.md says how
// many. Pure.
#pragma once

#include <optional>
#include <vector>

#include "worker/case_inputs.h"
#include "worker/error_rule.h"

namespace cupilot::worker {

struct Layout;

// The first ones say whether more of them can make any difference.
inline constexpr int kFirstNearbyDraws = 8, kNearbyDraws = 32;

// All floating inputs that have a fill to be drawn by, times the same factor a little below 1, each
// rounded to its type: zeros, signs, equal values, order and what balances stay, and no value
// leaves its range. Empty: there are no such inputs.
std::optional<CaseInputs> InputsNear(const Layout& layout, const CaseInputs& inputs, int draw);

// By draw and region; a draw that the original fails on is left out.
using NearbyErrors = std::vector<std::vector<Rho>>;

// What an original with error `here` is judged by: its third greatest error near, so that one or
// two at the edge of a case distinction, which may be of any size, do not count; not less than
// `here`. `draws`: of one region.
Rho TypicalError(const Rho& here, const std::vector<Rho>& draws);
// So much that no further draws will make it: who is not within its limits then needs none.
Rho HopefulError(const Rho& here, const std::vector<Rho>& first_draws);

}  // namespace cupilot::worker
