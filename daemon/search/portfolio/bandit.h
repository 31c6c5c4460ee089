// Which member gets the next evaluation: shares of the turns that go with what the members' last
// evaluations gained, of which none falls below a minimum. Pure.
#pragma once

#include <cstddef>
#include <vector>

namespace cupilot::search {

struct BanditSettings {
  double floor = 0.1;       // that each arm's gain counts besides its own: exploration
  double first_weight = 4;  // evaluations that the first gains stand for
};

class Bandit {
 public:
  // Each arm begins as if its evaluations had gained as much as this.
  explicit Bandit(const std::vector<double>& first_gains, const BanditSettings& settings = {});

  // Of the arms that are not `barred`; at least one is not.
  std::size_t Choose(const std::vector<bool>& barred);
  // An evaluation that the arm was given has gained so much, 0 or more.
  void Reward(std::size_t arm, double gain);
  // What it expects of the arm's next one.
  double GainOf(std::size_t arm) const { return arms_[arm].gain / arms_[arm].weight; }

 private:
  struct Arm {
    double gain = 0, weight = 0;  // faded sums
    double due = 0;               // turns that it should have had and had not
  };

  double floor_;
  std::vector<Arm> arms_;
};

}  // namespace cupilot::search
