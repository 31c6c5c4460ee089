// Workers that pass everything on: what a test wants otherwise, it overrides.
#pragma once

#include <utility>

#include "evaluate/workers.h"

namespace cupilot::test {

class ForwardingWorkers : public evaluate::Workers {
 public:
  explicit ForwardingWorkers(evaluate::Workers& workers) : workers_(workers) {}

  void Call(evaluate::WorkerCall call, base::Callback<records::Json> done) override {
    workers_.Call(std::move(call), std::move(done));
  }
  void Pause() override { workers_.Pause(); }
  void Resume() override { workers_.Resume(); }
  void Stop() override { workers_.Stop(); }
  evaluate::WorkerCounters counters() const override { return workers_.counters(); }

 protected:
  evaluate::Workers& workers_;
};

}  // namespace cupilot::test
