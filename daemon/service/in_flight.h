// How many candidates of a search are under way. Pure.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

namespace cupilot::service {

// As few as keep the GPU busy: what is asked for later knows more. (Of 100 searches on
// `tests/data/spaces/h100/pnpoly.measured.json` half were within 5 % of the best after 16
// evaluations with one under way, 26 with eight, 31 with 12; on gemm.measured.json after 33, 38 and
// 41.) How many that are hangs on how long a build takes beside a look, a hundredth of a second to
// ten: where the GPU had nothing to do there are as many more as looks would have fitted into that
// time, and it is waited for what that brings, but where builds take so long that it cannot be
// enough; where much is built there is one less. In which order results came the search's record
// says. Times in seconds, of any clock.
class InFlight {
 public:
  InFlight(int first, int least, int most)
      : limit_(std::clamp(first, least, most)), least_(least), most_(most) {}

  // Candidate `id` waits for the GPU, `others` beside it or on it; `last` was asked for last. Ids
  // rise in the order of asking.
  void OnBuilt(double now, int id, int others, int last) {
    if (others > 0) return;
    busy_since_ = now;
    if (!idle_since_) return;
    missed_ = look_ > 0 ? std::ceil((now - *idle_since_) / look_) : kFarTooLong;
    if (id <= raised_at_ && missed_ < kFarTooLong) return;
    Raise();
    raised_at_ = last;
  }
  // A result has come; `built` others wait for the GPU, or are on it.
  void OnResult(double now, int built) {
    const double look = now - busy_since_;
    look_ = look_ > 0 ? kOfOld * look_ + (1 - kOfOld) * look : look;
    busy_since_ = now;
    idle_since_.reset();
    if (built == 0) idle_since_ = now;
    // The next pause will be no shorter.
    if (built == 0 && missed_ >= kFarTooLong) Raise();
    if (built > kEnoughBuilt) limit_ = std::max(least_, limit_ - 1);
  }
  // Without those that have ended and wait to be told.
  int limit() const { return limit_; }

 private:
  void Raise() {
    const int half = std::max(1, limit_ / 2);
    limit_ = std::min(most_, limit_ + static_cast<int>(std::clamp<double>(missed_, 1, half)));
  }

  static constexpr int kEnoughBuilt = 3;
  static constexpr double kFarTooLong = 8;  // in looks that would have fitted
  static constexpr double kOfOld = 0.7;     // of a running mean

  int limit_;
  const int least_, most_;
  int raised_at_ = 0;  // who was asked for last then
  double missed_ = 0;  // looks that the last pause had room for
  std::optional<double> idle_since_;
  double busy_since_ = 0;
  double look_ = 0;  // how long one takes; 0: none has ended
};

}  // namespace cupilot::service
