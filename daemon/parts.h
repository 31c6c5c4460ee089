// What both ways of running, as a service and once, are made of, from folders and settings.
#pragma once

#include <string>

#include "base/paths.h"
#include "evaluate/process_workers.h"
#include "evaluate/worker_evaluator.h"
#include "log/log.h"
#include "service/process_capture_runner.h"
#include "service/settings.h"

namespace cupilot {

inline constexpr int kEnvironment = 3;  // the exit code where the machine is what is wrong

// `file` empty: to standard error.
log::Settings LogSettings(const service::Settings& settings, const std::string& file);
// `log_file`: of the workers; empty: our standard error.
evaluate::ProcessWorkers::Settings WorkerSettings(const service::Settings& settings, int nice,
                                                  const std::string& log_file);
evaluate::WorkerEvaluator::Settings EvaluatorSettings(const base::UserFolders& folders);
service::ProcessCaptureRunner::Settings CaptureSettings(int nice, const base::UserFolders& folders);

}  // namespace cupilot
