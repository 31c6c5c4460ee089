#include "evaluate/finalists.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace cupilot::evaluate {

struct Finalists::State : std::enable_shared_from_this<State> {
  struct Waiting {
    double speedup = 0;
    std::function<void(Turn turn)> begin;
  };
  std::map<std::string, std::vector<Waiting>> groups;  // those of which one has its turn
  bool closed = false;

  void Begin(const std::string& group, const std::function<void(Turn turn)>& begin) {
    begin(Turn(this, [state = shared_from_this(), group](void*) { state->Leave(group); }));
  }

  void Leave(const std::string& group) {
    if (closed) return;
    std::vector<Waiting>& waiting = groups[group];
    if (waiting.empty()) {
      groups.erase(group);
      return;
    }
    const auto next =
        std::max_element(waiting.begin(), waiting.end(),
                         [](const Waiting& a, const Waiting& b) { return a.speedup < b.speedup; });
    const std::function<void(Turn turn)> begin = std::move(next->begin);
    waiting.erase(next);
    Begin(group, begin);
  }
};

Finalists::Finalists() : state_(std::make_shared<State>()) {}

Finalists::~Finalists() {
  state_->closed = true;
  // Whatever goes with them may give back a turn.
  const auto forgotten = std::exchange(state_->groups, {});
}

void Finalists::Enter(const std::string& group, double speedup,
                      std::function<void(Turn turn)> begin) {
  const auto [taken, is_free] = state_->groups.try_emplace(group);
  if (is_free) return state_->Begin(group, begin);
  taken->second.push_back({speedup, std::move(begin)});
}

}  // namespace cupilot::evaluate
