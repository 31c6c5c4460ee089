// How many candidates of a search are under way. Pure.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

namespace cupilot::service {

// Candidates under way: at first, at least, at most. The same thrice: always so many.
struct InFlightRange {
  int first = 1, least = 1, most = 1;
};
inline constexpr InFlightRange kInFlightOnGpu = {8, 4, 32};

// As few as keep the GPU busy: what is asked for later knows more. (Of 100 searches on
// `tests/data/spaces/h100/pnpoly.measured.json` half were within 5 % of the best after 16
// evaluations with one under way, 26 with eight, 31 with 12; on gemm.measured.json after 33, 38 and
// 41.) How many that are hangs on how long a build takes beside a look, a hundredth of a second to
// ten: where the GPU had nothing to do there are as many more as looks would have fitted into that
// time, and it is waited for what that brings, but where builds take so long that it cannot be
// enough. While builds wait for a processor more of them would only wait longer. Where some always
// waited, for the GPU or for a processor, while a few results came, all but one or two of them were
// too many. (Simulated by `replay_bench --builders 3`, medians of 40 searches: pnpoly is within 5 %
// after 1.6 s, with always 32 under way after 3.5; GEMM after 5.3 and 9.5, the convolution after
// 180 and 175. With `--builders 15 --looks 4`, where all wait for the GPU, pnpoly takes 3.5 s, with
// always eight 4.5.) In which order results came the search's record says. Times in seconds, of any
// clock.
class InFlight {
 public:
  explicit InFlight(InFlightRange range)
      : limit_(std::clamp(range.first, range.least, range.most)),
        least_(range.least),
        most_(range.most) {
    BeginRound();
  }

  // So many builds wait for a processor now: told in front of the following two.
  void SetBacklog(int builds) { backlog_ = builds; }
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
    always_built_ = std::min(always_built_, built);
    always_waiting_ = std::min(always_waiting_, backlog_);
    if (++results_ < kRound) return;
    limit_ = std::max(least_, limit_ - std::max({0, always_built_ - kSpare, always_waiting_ - 1}));
    BeginRound();
  }
  // Without those that have ended and wait to be told.
  int limit() const { return limit_; }

 private:
  void BeginRound() {
    results_ = 0;
    always_built_ = always_waiting_ = most_;
  }
  void Raise() {
    if (backlog_ > 0) return;
    const int half = std::max(1, limit_ / 2);
    limit_ = std::min(most_, limit_ + static_cast<int>(std::clamp<double>(missed_, 1, half)));
    BeginRound();
  }

  static constexpr int kRound = 4;          // results
  static constexpr int kSpare = 2;          // looks are not all as long
  static constexpr double kFarTooLong = 8;  // in looks that would have fitted
  static constexpr double kOfOld = 0.7;     // of a running mean

  int limit_;
  const int least_, most_;
  int raised_at_ = 0;  // who was asked for last then
  int backlog_ = 0;
  int results_ = 0;                            // of this round
  int always_built_ = 0, always_waiting_ = 0;  // throughout it
  double missed_ = 0;                          // looks that the last pause had room for
  std::optional<double> idle_since_;
  double busy_since_ = 0;
  double look_ = 0;  // how long one takes; 0: none has ended
};

}  // namespace cupilot::service
