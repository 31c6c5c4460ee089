// Workers without processes: answers are functions by op; calls are recorded. Answers when told to.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "evaluate/workers.h"

namespace cupilot::test {

class FakeWorkers final : public evaluate::Workers {
 public:
  using Answer = std::function<base::Result<records::Json>(const records::Json& params)>;

  void On(const std::string& op, Answer answer) { answers_[op] = std::move(answer); }

  // Takes its time: is answered when nothing else waits.
  void Delay(const std::string& op) { slow_.insert(op); }

  void Call(evaluate::WorkerCall call, base::Callback<records::Json> done) override {
    calls_.push_back(call.op);
    lanes_[call.op].insert(call.lane);
    queue_.push_back({std::move(call), std::move(done)});
  }
  void Pause() override { paused_ = true; }
  void Resume() override { paused_ = false; }
  void Hold(const std::string& device) override { held_.insert(device); }
  void Release(const std::string& device) override { held_.erase(device); }
  // What is asked in the course of it is never answered.
  void Stop() override {
    auto open = std::move(queue_);
    queue_.clear();
    for (auto& [call, done] : open) done(base::Fail(base::Cancelled("stopped")));
    queue_.clear();
  }
  evaluate::WorkerCounters counters() const override { return {}; }
  Spent SpentOn(const std::string& /*kernel*/) const override {
    using namespace evaluate;
    Spent spent;
    for (const char* purpose :
         {kLooking, kProving, kBuilding, kInterrupted, kForTurn, kForDevice, kForOthers}) {
      spent[purpose] = std::chrono::seconds(2);
    }
    return spent;
  }

  // Answers the oldest call (while paused, of those that begin then, too); false if there is none.
  bool RunOne() {
    const auto may_begin = [this](const auto& waiting) {
      return !paused_ || waiting.first.answers_questions;
    };
    auto next = std::find_if(queue_.begin(), queue_.end(), [&](const auto& waiting) {
      return may_begin(waiting) && !slow_.contains(waiting.first.op);
    });
    if (next == queue_.end()) next = std::find_if(queue_.begin(), queue_.end(), may_begin);
    if (next == queue_.end()) return false;
    auto [call, done] = std::move(*next);
    queue_.erase(next);
    const auto answer = answers_.find(call.op);
    if (answer == answers_.end()) {
      done(base::Fail(base::Internal("no answer for " + call.op)));
    } else {
      done(answer->second(call.params));
    }
    return true;
  }
  // Answers until nobody asks any more.
  void RunAll() {
    while (RunOne()) {
    }
  }

  bool paused() const { return paused_; }
  const std::set<std::string>& held() const { return held_; }
  std::size_t open() const { return queue_.size(); }

  const std::vector<std::string>& calls() const { return calls_; }
  const std::set<int>& LanesOf(const std::string& op) { return lanes_[op]; }
  int Count(const std::string& op) const {
    int count = 0;
    for (const std::string& call : calls_) count += call == op ? 1 : 0;
    return count;
  }

 private:
  std::map<std::string, Answer> answers_;
  std::deque<std::pair<evaluate::WorkerCall, base::Callback<records::Json>>> queue_;
  std::vector<std::string> calls_;
  std::map<std::string, std::set<int>> lanes_;
  std::set<std::string> held_, slow_;
  bool paused_ = false;
};

}  // namespace cupilot::test
