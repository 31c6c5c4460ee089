#include "service/schedule.h"

#include <algorithm>
#include <utility>

namespace cupilot::service {
namespace {

constexpr double kTurnSeconds = 1;
constexpr double kLeast = 1e-9;  // where nothing is left to win, only what others leave

// What one that was not captured counts; nothing: none was captured.
std::optional<double> LeastWinnable(std::span<const Claim> claims) {
  std::optional<double> least;
  for (const Claim& claim : claims) {
    if (!claim.winnable_us || *claim.winnable_us <= 0) continue;
    least = std::min(least.value_or(*claim.winnable_us), *claim.winnable_us);
  }
  return least;
}

}  // namespace

std::optional<std::size_t> NextTurn(std::span<const Claim> claims) {
  const std::optional<double> least = LeastWinnable(claims);
  std::optional<std::size_t> next;
  double fewest = 0;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const Claim& claim = claims[i];
    const double worth = claim.winnable_us ? *claim.winnable_us : least.value_or(claim.weight);
    const double had = (claim.spent_seconds + kTurnSeconds) / std::max(worth, kLeast);
    if (next && std::pair(claim.pass, had) >= std::pair(claims[*next].pass, fewest)) continue;
    next = i;
    fewest = had;
  }
  return next;
}

}  // namespace cupilot::service
