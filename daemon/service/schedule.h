// Whose turn it is: kernels share the time by what tuning can still win of each. Pure values.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace cupilot::service {

enum class Pass {
  kFirst,   // not each technique was looked at once
  kSecond,  // and nothing that is worth a proof was seen
  kLater,
  kLast,    // neither pass showed anything to win
  kWinner,  // nothing is left to try: what bounds the winner is to be looked at
};

struct Claim {
  double spent_seconds = 0;
  double weight = 1;                  // the sum over the cases of its workload
  std::optional<double> winnable_us;  // of a run of the captured program; nothing: never captured
  Pass pass = Pass::kLater;
};

// Of the earliest pass that is there the place of the claim that has had the least time for what
// can be won, where one turn counts as had from the beginning: so the first turns go by what can be
// won, too. Where something was captured, what was not counts as little as the least of the rest;
// else weights are what counts. Of equal ones the first. Nothing: there are no claims.
std::optional<std::size_t> NextTurn(std::span<const Claim> claims);

}  // namespace cupilot::service
