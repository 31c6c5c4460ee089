// How many candidates of a search are under way. Pure.
#pragma once

#include <algorithm>

namespace cupilot::service {

// As few as keep the GPU busy: what is asked for later knows more. (Of 40 searches on
// `tests/data/spaces/h100/pnpoly.measured.json` half were within 5 % of the best after 35
// evaluations with 24 under way, 23 with 12, 24 with eight, 15 with one; on gemm.measured.json
// after 57, 48, 38 and 28.) How many that are hangs on how long a build takes beside a measurement,
// a hundredth of a second to ten: where nothing is built when the GPU has measured there are half
// as many again, where much is built there is one less. In which order results came the search's
// record says.
class InFlight {
 public:
  InFlight(int first, int least, int most)
      : limit_(std::clamp(first, least, most)), least_(least), most_(most) {}

  // A result has come; `built` others wait for the GPU, or are on it.
  void OnResult(int built) {
    if (built == 0) limit_ = std::min(most_, limit_ + std::max(1, limit_ / 2));
    if (built > kEnoughBuilt) limit_ = std::max(least_, limit_ - 1);
  }
  // Without those that have ended and wait to be told.
  int limit() const { return limit_; }

 private:
  static constexpr int kEnoughBuilt = 3;

  int limit_;
  const int least_, most_;
};

}  // namespace cupilot::service
