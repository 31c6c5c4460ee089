// An evaluator that knows its verdicts: by variant id, else by a function. Answers when told to.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evaluate/evaluator.h"

namespace cupilot::test {

class FakeEvaluator final : public evaluate::Evaluator {
 public:
  using Judge =
      std::function<base::Result<records::Evaluation>(const evaluate::EvaluateRequest& request)>;

  explicit FakeEvaluator(Judge judge) : judge_(std::move(judge)) {}

  void Evaluate(evaluate::EvaluateRequest request,
                base::Callback<records::Evaluation> done) override {
    evaluated_.push_back(request.variant.id);
    queue_.push_back({std::move(request), std::move(done)});
  }

  // Answers at once.
  void Profile(evaluate::EvaluateRequest request, records::Evaluation evaluation,
               base::Callback<records::Evaluation> done) override {
    profiled_.push_back(request.variant.id);
    for (const records::CaseResult& result : evaluation.cases) {
      evaluation.metrics["case " + result.name]["roofline"] = {{"source", "static"}};
    }
    done(std::move(evaluation));
  }

  // Answers at once: all as in the program, but for what `replayed` says.
  void Replay(evaluate::EvaluateRequest request, protocol::LeftBehind after,
              base::Callback<protocol::ReplayReply> done) override {
    protocol::ReplayReply reply;
    if (replay_error) return done(base::Fail(*replay_error));
    for (const records::Case& one : request.workload.cases) {
      const auto known = replayed.find(one.name);
      reply.cases.push_back(known != replayed.end()
                                ? known->second
                                : protocol::ReplayedCase{one.name, 100, "", false});
    }
    replays.push_back(std::move(after));
    if (on_replay) on_replay();
    done(std::move(reply));
  }
  std::optional<base::Error> replay_error;  // instead
  std::map<std::string, protocol::ReplayedCase> replayed;
  std::vector<protocol::LeftBehind> replays;  // that were asked for
  std::function<void()> on_replay;            // before it is answered

  // Answers at once, unless it is to wait for AnswerChecks().
  void CheckObject(const evaluate::EvaluateRequest& request, const std::string& object,
                   base::Callback<evaluate::ObjectCheck> done) override {
    checked_objects.push_back(request.kernel.name + " " + object);
    if (holds_checks) {
      held_checks_.push_back(std::move(done));
      return;
    }
    if (object_error) return done(base::Fail(*object_error));
    done(object_check);
  }
  void AnswerChecks() {
    auto held = std::move(held_checks_);
    held_checks_.clear();
    for (auto& done : held) done(object_check);
  }
  bool holds_checks = false;
  evaluate::ObjectCheck object_check;
  std::optional<base::Error> object_error;  // instead
  std::vector<std::string> checked_objects;

  // Answers the oldest open request; false if there is none.
  bool AnswerOne() {
    if (queue_.empty()) return false;
    auto [request, done] = std::move(queue_.front());
    queue_.pop_front();
    done(judge_(request));
    return true;
  }

  // The oldest open request is never answered; false if there is none.
  bool DropOne() {
    if (queue_.empty()) return false;
    queue_.pop_front();
    return true;
  }

  const std::vector<std::string>& evaluated() const { return evaluated_; }
  const std::vector<std::string>& profiled() const { return profiled_; }
  std::size_t open() const { return queue_.size(); }

 private:
  Judge judge_;
  std::deque<std::pair<evaluate::EvaluateRequest, base::Callback<records::Evaluation>>> queue_;
  std::vector<std::string> evaluated_, profiled_;
  std::vector<base::Callback<evaluate::ObjectCheck>> held_checks_;
};

}  // namespace cupilot::test
