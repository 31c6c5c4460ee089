// One arm on one kernel: the daemon's own work on a kernel (service/kernel_job.h), told what was
// recorded. Everything that it decides follows from that and from the seed: the same recording
// gives the same curve, bit for bit.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "loop/loop.h"
#include "service/models.h"
#include "tests/bench/search/arms.h"
#include "tests/bench/search/curves.h"
#include "tests/bench/search/recording.h"

namespace cupilot::bench {

// Who is asked what is not recorded; all null: nobody. They must outlive the run.
struct LiveSide {
  evaluate::Workers* workers = nullptr;
  evaluate::Evaluator* evaluator = nullptr;
  const service::ModelSurroundings* models = nullptr;  // of its providers the first is asked
  records::CompileCommand command;
  std::string source_text;
  Facts facts;  // of the kernel's other arms; what this one adds to them is in it afterwards
};

struct ArmRun {
  Curve curve;
  std::string ended;      // why nothing more was tried; empty: requests are open
  int open_requests = 0;  // that wait for their answers
  Recording used;         // what it was told: with a live side, what to keep
};

// kNotFound with what is missing, the whole request of a model included, where the recording lacks
// something and nobody is asked; where a live side failed, kUnavailable with why. `used` keeps what
// a failed run was told.
base::Result<ArmRun> RunArm(loop::Loop& loop, const base::Clock& clock, const Arm& arm,
                            const Recording& recording, LiveSide* live, Recording* used = nullptr);

}  // namespace cupilot::bench
