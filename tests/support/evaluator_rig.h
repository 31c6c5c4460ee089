// Kernels scanned and candidates evaluated by worker processes, as the daemon does it: for tests of
// what comes out.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "evaluate/process_workers.h"
#include "evaluate/worker_evaluator.h"
#include "loop/loop.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::test {

// On the test's thread, which runs the loop while it waits.
class EvaluatorRig {
 public:
  EvaluatorRig();
  EvaluatorRig(const EvaluatorRig&) = delete;
  EvaluatorRig& operator=(const EvaluatorRig&) = delete;
  ~EvaluatorRig();

  loop::Loop& loop() { return loop_; }
  evaluate::ProcessWorkers& workers() { return workers_; }
  // From now on calls go to `front`, which may pass them on to workers(); it must live as long.
  void PutInFront(evaluate::Workers& front);

  // `start` gets the callback.
  template <class T, class Start>
  base::Result<T> Wait(const Start& start) {
    std::optional<base::Result<T>> got;
    start([&got](auto reply) { got = std::move(reply); });
    while (!got) loop_.RunOnce(true);
    return *std::move(got);
  }

  // Writes `text` to a file of that name and scans it for the kernel of that name, the one that is
  // tagged where it is empty. A request without variant, with the tag's workload; nothing and a
  // failure of the test if there is no such kernel.
  std::optional<evaluate::EvaluateRequest> RequestFor(const std::string& file,
                                                      const std::string& text,
                                                      const std::string& kernel = "");
  base::Result<records::Evaluation> Evaluate(evaluate::EvaluateRequest request);
  base::Result<protocol::ReplayReply> Replay(evaluate::EvaluateRequest request,
                                             protocol::LeftBehind after);

 private:
  TemporaryFolder folder_;
  loop::Loop loop_;
  base::SystemClock clock_;
  evaluate::ProcessWorkers workers_;
  evaluate::Workers* front_ = &workers_;
  std::optional<evaluate::WorkerEvaluator> evaluator_;
};

}  // namespace cupilot::test
