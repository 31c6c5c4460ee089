// Workers on a simulated clock: what starts next is decided as in the daemon, how long it takes is
// the test's. Nothing here waits.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "evaluate/work_order.h"
#include "tests/support/manual_clock.h"

namespace cupilot::test {

class SimulatedWorkers final : public evaluate::Workers {
 public:
  using Answer = std::function<base::Result<records::Json>(const records::Json& params)>;
  using Duration = std::chrono::milliseconds;

  struct Event {
    evaluate::WorkerKind kind;
    std::string op;
    std::chrono::nanoseconds asked, began, ended;
  };

  SimulatedWorkers(ManualClock& clock, evaluate::WorkerLimits limits)
      : clock_(clock), limits_(limits) {}

  void On(const std::string& op, Duration takes, Answer answer) {
    ops_[op] = {takes, std::move(answer)};
  }

  // A request that takes so much longer than others of its op; not set: none does.
  std::function<Duration(const evaluate::WorkerCall& call)> longer;

  void Call(evaluate::WorkerCall call, base::Callback<records::Json> done) override {
    waiting_.push_back({std::move(call), std::move(done), clock_.Now(), {}, {}});
    StartAll();
  }
  void Pause() override {}
  void Resume() override {}
  void Stop() override {}
  evaluate::WorkerCounters counters() const override {
    evaluate::WorkerCounters counters;
    for (const Request& request : waiting_) {
      if (request.call.kind != evaluate::WorkerKind::kBuild) continue;
      ++counters.devices[request.call.device].builds_waiting;
    }
    return counters;
  }

  // Goes on to the end of the next request; false if none runs.
  bool Advance() {
    auto next = running_.end();
    for (auto it = running_.begin(); it != running_.end(); ++it) {
      if (next == running_.end() || it->ends < next->ends) next = it;
    }
    if (next == running_.end()) return false;
    clock_.Advance(next->ends - clock_.Now());
    Request request = std::move(*next);
    running_.erase(next);
    events_.push_back(
        {request.call.kind, request.call.op, request.asked, request.began, clock_.Now()});
    auto answer = ops_.at(request.call.op).second(request.call.params);
    request.done(std::move(answer));
    StartAll();
    return true;
  }

  // In the order of their ends.
  const std::vector<Event>& events() const { return events_; }
  // Whether another build could have begun in this moment, had it been asked for.
  bool CouldBuild() const {
    const auto builds = std::count_if(running_.begin(), running_.end(), [](const Request& request) {
      return request.call.kind == evaluate::WorkerKind::kBuild;
    });
    return builds < limits_.gpu[static_cast<std::size_t>(evaluate::WorkerKind::kBuild)];
  }
  bool DeviceIdle() const {
    return std::none_of(running_.begin(), running_.end(), [](const Request& request) {
      return request.call.kind == evaluate::WorkerKind::kDevice;
    });
  }
  std::size_t WaitingFor(evaluate::WorkerKind kind) const {
    return static_cast<std::size_t>(
        std::count_if(waiting_.begin(), waiting_.end(),
                      [kind](const Request& request) { return request.call.kind == kind; }));
  }

 private:
  struct Request {
    evaluate::WorkerCall call;
    base::Callback<records::Json> done;
    std::chrono::nanoseconds asked, began, ends;
  };

  void StartAll() {
    for (;;) {
      std::vector<const evaluate::WorkerCall*> waiting, running;
      for (const Request& request : waiting_) waiting.push_back(&request.call);
      for (const Request& request : running_) running.push_back(&request.call);
      const auto next = evaluate::NextToStart(waiting, running, limits_);
      if (!next) return;
      auto it = waiting_.begin() + static_cast<std::ptrdiff_t>(*next);
      it->began = clock_.Now();
      it->ends = it->began + ops_.at(it->call.op).first;
      if (longer) it->ends += longer(it->call);
      running_.push_back(std::move(*it));
      waiting_.erase(it);
    }
  }

  ManualClock& clock_;
  const evaluate::WorkerLimits limits_;
  std::map<std::string, std::pair<Duration, Answer>> ops_;
  std::deque<Request> waiting_;
  std::list<Request> running_;
  std::vector<Event> events_;
};

}  // namespace cupilot::test
