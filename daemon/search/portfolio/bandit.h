// Which member gets the next evaluation: the one whose last evaluations gained most, and now and
// then one that had no turn for long. Pure.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

namespace cupilot::search {

class Bandit {
 public:
  // Each arm begins as if its evaluations had gained as much as this.
  explicit Bandit(std::vector<double> first_gains);

  // Of the arms that are not `barred`; at least one is not.
  std::size_t Choose(const std::vector<bool>& barred, std::mt19937_64& random);
  // An evaluation that the arm was given has gained so much, 0 or more.
  void Reward(std::size_t arm, double gain);
  // What it expects of the arm's next one.
  double GainOf(std::size_t arm) const { return arms_[arm].gain / arms_[arm].weight; }

 private:
  struct Arm {
    double gain = 0, weight = 0;  // faded sums
    std::size_t last = 0;         // when it was chosen
  };

  std::vector<Arm> arms_;
  std::size_t turn_ = 0;
};

}  // namespace cupilot::search
