// How long a search waits for one candidate's build. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <vector>

namespace cupilot::service {

// Tuning can be compiling for the most part: of 459 points of a convolution
// (`tests/data/spaces/h100`) 37 that take more than four times the median to compile have 37 % of
// the whole time, and the best of them is the 79th. So what takes so many times as much of the
// processor as the kernel's other candidates is stopped, and is to this search as what does not
// compile.
class BuildPatience {
 public:
  // What one took, also that of which the result was kept; of one that was stopped its limit, so
  // that where most take long the limit rises. 0: not known.
  void OnBuilt(double cpu_seconds) {
    if (cpu_seconds <= 0) return;
    last_.push_back(cpu_seconds);
    if (last_.size() > kLast) last_.pop_front();
  }

  // Seconds of the processor; 0: any number.
  double limit() const {
    if (last_.size() < kEnough) return 0;
    std::vector<double> sorted(last_.begin(), last_.end());
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return std::max(kLeast, kTimes * *middle);
  }

 private:
  static constexpr std::size_t kEnough = 12, kLast = 64;
  static constexpr double kTimes = 4;
  static constexpr double kLeast = 4;  // nobody waits long for less

  std::deque<double> last_;
};

}  // namespace cupilot::service
