// Which of several models is asked next: the one that promises most accepted gain for its price. A
// pure function of what was tried and a random number.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cupilot::agents {

// What one model has done so far.
struct ModelArm {
  double requests = 0;  // asked for answers that were judged
  double gain = 0;      // accepted: sum of the logarithms of factors
  // Of one request on the average; where none was made what it is expected to be. Dollars.
  double price = 0;
};

struct BanditSettings {
  // Of requests, drawn evenly: no model is forgotten, since kernels differ, and a model that is
  // dear may be worth it.
  double explore = 0.1;
  // What a request costs besides money, in dollars: builds and time on the GPU that its answers
  // need. Keeps a free model that never helps from always being the best. More than 0.
  double other_price = 0.02;
  // What nothing was tried with is believed to gain, as if so many requests had.
  double believed_gain = 0.02;
  double believed_requests = 5;
};

// The index of an arm; there is at least one. Each arm is worth its gain a request over its price a
// request, both with the belief mixed in, plus what its uncertainty allows (UCB); `random` from
// [0, 1) decides whether, and what, is explored.
std::size_t ChooseModel(const std::vector<ModelArm>& arms, const BanditSettings& settings,
                        double random);

}  // namespace cupilot::agents
