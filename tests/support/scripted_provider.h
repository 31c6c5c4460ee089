// A provider that answers when the test says so, and remembers what it was asked.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agents/provider.h"

namespace cupilot::test {

class ScriptedProvider final : public agents::Provider {
 public:
  const std::string& name() const override { return name_; }
  agents::ProviderTraits traits() const override { return traits_; }
  std::string Bytes(const agents::ModelRequest& request) const override {
    return "bytes of: " + request.system + "|" + request.prompt;
  }
  std::unique_ptr<agents::ModelCall> Send(agents::ModelRequest request, agents::TextHandler on_text,
                                          agents::AnswerHandler done) override {
    requests_.push_back(std::move(request));
    on_text_ = std::move(on_text);
    done_ = std::move(done);
    ++open_;
    return std::make_unique<Call>(*this);
  }

  // Of the latest request.
  void Say(const std::string& text) {
    auto handler = std::move(on_text_);
    handler(text);
    on_text_ = std::move(handler);
  }
  void Answer(agents::ModelResult result) {
    auto done = std::move(done_);
    done(std::move(result));
  }

  std::string name_ = "openai https://api.x.com";
  agents::ProviderTraits traits_;
  std::vector<agents::ModelRequest> requests_;
  int open_ = 0;  // calls that were neither answered nor cancelled, by their destruction

 private:
  struct Call final : agents::ModelCall {
    explicit Call(ScriptedProvider& all) : owner(all) {}
    ~Call() override { --owner.open_; }
    ScriptedProvider& owner;
  };
  agents::TextHandler on_text_;
  agents::AnswerHandler done_;
};

}  // namespace cupilot::test
