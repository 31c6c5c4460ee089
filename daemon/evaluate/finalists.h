// Whose turn it is to be proven: a verification to the end and a second measurement take many times
// what made a candidate a finalist, and of a kernel's candidates that are faster than the original
// only those count that are faster than each other. So one of a group is proven at a time, the
// fastest of those that wait first; what it beats need not be proven any more. On the loop thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace cupilot::evaluate {

class Finalists {
 public:
  // Held by whom it is given to until all is said of it; then the next one begins. Not null.
  using Turn = std::shared_ptr<void>;

  Finalists();
  Finalists(const Finalists&) = delete;
  Finalists& operator=(const Finalists&) = delete;
  ~Finalists();  // who waits is forgotten, and whoever gives back a turn later begins nobody

  // `begin` is called at once, or when the turn has come. `speedup`: as measured so far. Of equal
  // ones the first.
  void Enter(const std::string& group, double speedup, std::function<void(Turn turn)> begin);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace cupilot::evaluate
