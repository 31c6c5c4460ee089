#include "parts.h"

#include <algorithm>

#include "base/file.h"
#include "base/install_layout.h"
#include "base/processors.h"

namespace cupilot {

log::Settings LogSettings(const service::Settings& settings, const std::string& file) {
  return {settings.log_level, settings.log_json, file,
          static_cast<std::size_t>(settings.log_megabytes * 0x1p20),
          static_cast<std::size_t>(settings.log_files)};
}

evaluate::ProcessWorkers::Settings WorkerSettings(const service::Settings& settings, int nice,
                                                  const std::string& log_file) {
  evaluate::ProcessWorkers::Settings made;
  made.program = base::LibexecFolder() + "/cupilot-worker";
  made.nice = nice;
  made.log_file = log_file;
  int cores = base::UsableProcessors();
  if (settings.threads > 0) {
    cores = std::min(cores, static_cast<int>(settings.threads) + evaluate::kCoresLeftToOthers);
  }
  made.limits = evaluate::LimitsFor(cores);
  return made;
}

evaluate::WorkerEvaluator::Settings EvaluatorSettings(const base::UserFolders& folders) {
  evaluate::WorkerEvaluator::Settings settings;
  settings.build.artifact_folder = folders.cache + "/artifacts";
  settings.work_folder = folders.cache + "/work";
  settings.proof_lanes = evaluate::ProofLanesFor(base::UsableProcessors());
  return settings;
}

service::ProcessCaptureRunner::Settings CaptureSettings(int nice,
                                                        const base::UserFolders& folders) {
  service::ProcessCaptureRunner::Settings settings;
  settings.program = base::ExecutableFolder() + "/cupilot";
  settings.cache_folder = folders.cache;
  settings.nice = nice;
  return settings;
}

}  // namespace cupilot
