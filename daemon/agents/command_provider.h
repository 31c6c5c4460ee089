// A program of the user's that reads a prompt on its standard input and writes an answer on its
// standard output: agents of the command line, local models.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "agents/alarms.h"
#include "agents/provider.h"
#include "loop/loop.h"

namespace cupilot::agents {

// The program gets the system text, an empty line and the prompt, then the end of its input, and
// the model's name as CUPILOT_MODEL. It runs with the daemon's rights. An exit code other than 0
// means no answer; the last line of its standard error is then shown.
class CommandProvider final : public Provider {
 public:
  struct Settings {
    std::vector<std::string> arguments{};  // program first; found by PATH if it has no slash
    std::string folder{};                  // that it works in; empty: the daemon's
    std::chrono::milliseconds total{1'200'000};
    std::size_t max_bytes = 16u << 20;  // of what it writes
  };

  CommandProvider(loop::Loop& loop, Alarms& alarms, Settings settings);

  const std::string& name() const override { return name_; }
  ProviderTraits traits() const override { return {true, false}; }
  std::string Bytes(const ModelRequest& request) const override;
  std::unique_ptr<ModelCall> Send(ModelRequest request, TextHandler on_text,
                                  AnswerHandler done) override;

 private:
  class Call;
  loop::Loop& loop_;
  Alarms& alarms_;
  Settings settings_;
  std::string name_;
};

}  // namespace cupilot::agents
