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

  // What waits beside the candidate that a call tells of.
  struct Others {
    int built = 0;    // for the GPU, or is on it
    int backlog = 0;  // builds, for a processor
  };
  // Candidate `id` waits for the GPU; `last` was asked for last. Ids rise in the order of asking.
  void OnBuilt(double now, int id, int last, Others others) {
    if (others.built > 0) return;
    busy_since_ = now;
    if (!idle_since_) return;
    missed_ = look_ > 0 ? std::ceil((now - *idle_since_) / look_) : kFarTooLong;
    if (id <= raised_at_ && missed_ < kFarTooLong) return;
    Raise(others);
    raised_at_ = last;
  }
  // A result has come.
  void OnResult(double now, Others others) {
    const double look = now - busy_since_;
    look_ = look_ > 0 ? kOfOld * look_ + (1 - kOfOld) * look : look;
    busy_since_ = now;
    idle_since_.reset();
    if (others.built == 0) idle_since_ = now;
    // The next pause will be no shorter.
    if (others.built == 0 && missed_ >= kFarTooLong) Raise(others);
    always_.built = std::min(always_.built, others.built);
    always_.backlog = std::min(always_.backlog, others.backlog);
    if (++results_ < kRound) return;
    limit_ = std::max(least_, limit_ - std::max({0, always_.built - kSpare, always_.backlog - 1}));
    BeginRound();
  }
  // Without those that have ended and wait to be told.
  int limit() const { return limit_; }

 private:
  void BeginRound() {
    results_ = 0;
    always_ = {most_, most_};
  }
  void Raise(Others others) {
    if (others.backlog > 0) return;
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
  int results_ = 0;    // of this round
  Others always_;      // throughout it, at least
  double missed_ = 0;  // looks that the last pause had room for
  std::optional<double> idle_since_;
  double busy_since_ = 0;
  double look_ = 0;  // how long one takes; 0: none has ended
};

}  // namespace cupilot::service
