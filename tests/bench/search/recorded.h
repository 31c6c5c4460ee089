// What a search asks of workers, of the evaluator and of models, answered from a recording. With a
// live one behind, what is not recorded is asked there, and recorded; without one it is a miss,
// which says what is missing. All on the loop thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agents/alarms.h"
#include "agents/provider.h"
#include "base/clock.h"
#include "evaluate/evaluator.h"
#include "evaluate/workers.h"
#include "loop/loop.h"
#include "tests/bench/search/recording.h"

namespace cupilot::bench {

// What a run found in the recording, or added to it; what it lacked.
struct Desk {
  loop::Loop& loop;
  const Recording& recording;
  Facts& shared;     // of the kernel's other arms; looked at while one is live only
  Recording used;    // what the run was told: the new recording
  std::string miss;  // the first; empty: none
  void Miss(const std::string& what) {
    if (miss.empty()) miss = what;
  }
};

// What a call is known by: nothing of the machine, and nothing that all calls share.
std::string ReplyKey(const evaluate::WorkerCall& call);

class RecordedWorkers final : public evaluate::Workers {
 public:
  // `live` may be null.
  RecordedWorkers(Desk& desk, evaluate::Workers* live) : desk_(desk), live_(live) {}
  void Call(evaluate::WorkerCall call, base::Callback<records::Json> done) override;
  void Pause() override {}
  void Resume() override {}
  void Stop() override {}
  evaluate::WorkerCounters counters() const override { return {}; }

 private:
  Desk& desk_;
  evaluate::Workers* live_;
};

// A verdict is one of the variant alone: what is proven beside it does not end an evaluation early,
// so that it holds for each arm.
class RecordedEvaluator final : public evaluate::Evaluator {
 public:
  RecordedEvaluator(Desk& desk, evaluate::Evaluator* live) : desk_(desk), live_(live) {}
  void Evaluate(evaluate::EvaluateRequest request,
                base::Callback<records::Evaluation> done) override;
  void Profile(evaluate::EvaluateRequest request, records::Evaluation evaluation,
               base::Callback<records::Evaluation> done) override;
  void Replay(evaluate::EvaluateRequest request, protocol::LeftBehind after,
              base::Callback<protocol::ReplayReply> done) override;

 private:
  Desk& desk_;
  evaluate::Evaluator* live_;
};

// Matches role, system text, prompt (byte by byte) and sample, as the provider `replay` does; what
// was recorded several times for one is given in that order. Only answers are recorded, and errors
// that are one (a refusal), never that a service could not be reached.
class RecordedProvider final : public agents::Provider {
 public:
  RecordedProvider(Desk& desk, agents::Alarms& alarms, const base::Clock& clock,
                   agents::Provider* live);
  const std::string& name() const override { return name_; }
  agents::ProviderTraits traits() const override;
  std::string Bytes(const agents::ModelRequest& request) const override;
  std::unique_ptr<agents::ModelCall> Send(agents::ModelRequest request, agents::TextHandler on_text,
                                          agents::AnswerHandler done) override;

 private:
  void Keep(const agents::ModelRequest& request, const std::string& time,
            const agents::ModelResult& result);

  Desk& desk_;
  agents::Alarms& alarms_;
  const base::Clock& clock_;
  agents::Provider* live_;
  std::string name_ = "recorded";
  std::map<std::string, std::vector<std::size_t>> recorded_;  // places, by what is matched
  std::map<std::string, std::size_t> asked_;
};

}  // namespace cupilot::bench
