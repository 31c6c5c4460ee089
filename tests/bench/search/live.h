// The live side of a comparison: this machine's worker processes, and the model that the user
// named.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/paths.h"
#include "base/result.h"
#include "evaluate/process_workers.h"
#include "evaluate/worker_evaluator.h"
#include "loop/loop.h"
#include "model_providers.h"
#include "service/settings.h"
#include "tests/bench/search/run_arm.h"

namespace cupilot::bench {

// On one thread, which runs the loop while it waits.
class LiveMachine {
 public:
  // `root`: of the repository. kUnavailable without a worker or such a device.
  static base::Result<std::unique_ptr<LiveMachine>> Make(loop::Loop& loop, const base::Clock& clock,
                                                         const std::string& root,
                                                         const std::string& device);
  ~LiveMachine();

  // Reads the example of this name. What its arms begin with: its kernel, workload and device.
  base::Result<Recording> Begin(const std::string& kernel);
  // The side for the kernel of the last Begin(). `provider`: as `cupilot tune` takes it, "{}" being
  // the kernel's name (of `exchange:DIR` alone, DIR/{} is meant); empty: no model.
  base::Result<LiveSide> Side(const std::string& kernel, const std::string& provider);

 private:
  LiveMachine(loop::Loop& loop, const base::Clock& clock, std::string root,
              base::UserFolders folders);

  loop::Loop& loop_;
  const base::Clock& clock_;
  const std::string root_;
  const base::UserFolders folders_;
  const service::Settings settings_;
  evaluate::ProcessWorkers workers_;
  evaluate::WorkerEvaluator evaluator_;
  evaluate::DeviceDescription device_;
  records::CompileCommand command_;  // of the last kernel
  std::string source_text_;
  std::unique_ptr<ModelProviders> providers_;
};

// The provider's text for one kernel.
std::string ProviderFor(const std::string& provider, const std::string& kernel);

}  // namespace cupilot::bench
