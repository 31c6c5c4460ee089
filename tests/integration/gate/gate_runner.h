// Candidates of the collection through the gate's stages, by worker processes as the daemon uses
// them. Nothing is timed: the stopwatch is an invention that calls each candidate twice as fast, so
// that those which pass are asked all that finalists are asked.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "evaluate/process_workers.h"
#include "evaluate/worker_evaluator.h"
#include "loop/loop.h"
#include "tests/integration/gate/gate_collection.h"

namespace cupilot::gate {

struct RunnerSettings {
  std::string worker;    // path of cupilot-worker
  std::string compiler;  // of the recorded compiles: host device or toolkit
  std::string device = "host";
  std::string work_folder;  // absolute; artifacts and scratch
  int builders = 2;
  int at_once = 6;  // evaluations under way
};

struct Outcome {
  bool accepted = false;
  std::string reason;  // of the rejection; "invalid_document"; "error" where there is no verdict
  std::string detail;
  std::string guard;  // the published one
  std::vector<records::Check> checks;
  records::Json steps = records::Json::object();  // of the verification: launches, seconds, caught
  std::map<std::string, double> seconds;          // of the device's workers, by their operation

  // Speed is no question here.
  bool passed() const { return accepted || reason == "not_faster" || reason == "unstable_timing"; }
};

// What is wrong with the outcome, empty if it is as expected.
std::string Misjudged(const Candidate& candidate, const Outcome& outcome);

struct Trial {
  const Candidate* candidate = nullptr;
  std::uint64_t seed = 1;
};

// On one thread, which runs the loop inside Run().
class Runner {
 public:
  Runner(const Collection& collection, RunnerSettings settings);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  ~Runner();

  // Scans each kernel once. `done` is called as outcomes come, which is not the trials' order. No
  // trial starts any more once `enough` says so; it may be empty.
  void Run(const std::vector<Trial>& trials,
           const std::function<void(const Trial&, const Outcome&)>& done,
           const std::function<bool()>& enough = {});

 private:
  class Front;

  const base::Result<evaluate::EvaluateRequest>& RequestOf(const std::string& kernel);
  base::Result<evaluate::EvaluateRequest> Scan(const std::string& kernel);
  void Start(const Trial& trial);

  const Collection& collection_;
  const RunnerSettings settings_;
  loop::Loop loop_;
  base::SystemClock clock_;
  std::unique_ptr<evaluate::ProcessWorkers> workers_;
  std::unique_ptr<Front> front_;
  std::unique_ptr<evaluate::WorkerEvaluator> evaluator_;
  std::map<std::string, base::Result<evaluate::EvaluateRequest>> requests_;
  std::function<void(const Trial&, const Outcome&)> done_;
  int under_way_ = 0;
};

}  // namespace cupilot::gate
