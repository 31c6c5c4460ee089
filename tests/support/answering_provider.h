// A provider whose answers are a function of the test's, given when told to.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agents/provider.h"

namespace cupilot::test {

class AnsweringProvider final : public agents::Provider {
 public:
  using Answers = std::function<agents::ModelResult(const agents::ModelRequest& request)>;

  explicit AnsweringProvider(Answers answers, std::string name = "openai https://api.x.com")
      : answers_(std::move(answers)), name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  agents::ProviderTraits traits() const override { return traits_; }
  std::string Bytes(const agents::ModelRequest& request) const override {
    return request.system + "\n" + request.prompt;
  }
  std::unique_ptr<agents::ModelCall> Send(agents::ModelRequest request, agents::TextHandler,
                                          agents::AnswerHandler done) override {
    asked_.push_back(request);
    auto waiting = std::make_shared<Waiting>(Waiting{std::move(request), std::move(done)});
    queue_.push_back(waiting);
    return std::make_unique<Call>(std::move(waiting));
  }

  // Answers the oldest open request; false if there is none.
  bool AnswerOne() {
    while (!queue_.empty()) {
      const std::shared_ptr<Waiting> next = std::move(queue_.front());
      queue_.pop_front();
      if (!next->done) continue;  // cancelled
      auto done = std::move(next->done);
      next->done = nullptr;
      done(answers_(next->request));
      return true;
    }
    return false;
  }

  const std::vector<agents::ModelRequest>& asked() const { return asked_; }
  agents::ProviderTraits traits_{true, false};

 private:
  struct Waiting {
    agents::ModelRequest request;
    agents::AnswerHandler done;
  };
  struct Call final : agents::ModelCall {
    explicit Call(std::shared_ptr<Waiting> of) : waiting(std::move(of)) {}
    ~Call() override { waiting->done = nullptr; }
    std::shared_ptr<Waiting> waiting;
  };

  Answers answers_;
  std::string name_;
  std::vector<agents::ModelRequest> asked_;
  std::deque<std::shared_ptr<Waiting>> queue_;
};

}  // namespace cupilot::test
