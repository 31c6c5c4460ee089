// The user's settings: $XDG_CONFIG_HOME/cupilot/config.json. Every key may be left out.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "agents/model_settings.h"
#include "base/result.h"
#include "log/log.h"
#include "service/gpu_policy.h"
#include "service/idle_exit.h"

namespace cupilot::service {

// Of what the daemon and its workers read and write: idle: only when nobody else does.
enum class IoClass { kIdle, kLow, kNormal };

struct Settings {
  double seconds_per_kernel = 900;          // work on one kernel before it counts as done
  std::int64_t evaluations_per_kernel = 0;  // at most, too; 0: any number
  double until_gain = 0;  // expected of another minute, at which work on a kernel ends; 0: none
  double measure_seconds = 1.5;    // at most, for one measurement
  std::int64_t parallel = 2;       // kernels in work at once: their builds overlap
  std::int64_t object_checks = 1;  // objects that are compared at once
  std::int64_t nice = 10;          // added to the priority of all workers
  std::uint64_t seed = 1;
  std::string search_strategy = "portfolio";  // for numbers: a row of search/strategy.h
  std::uint64_t captured_bytes = std::uint64_t{16} << 30;  // of captured contents on disk
  std::int64_t pool_entries = 2000;                        // of the strategy pool, at most
  std::uint64_t store_bytes = std::uint64_t{256} << 20;    // of evidence, at most; 0: any
  std::int64_t store_days = 365;  // so long evidence is kept that nothing uses; 0: for ever
  PolicySettings gpu;
  agents::ModelSettings models;
  bool capture_tests = true;     // the tests that projects name are run to capture workloads
  bool require_sandbox = false;  // no work without Landlock or bubblewrap
  log::Level log_level = log::Level::kInfo;
  bool log_json = false;
  double log_megabytes = 1;    // of one file, then it is rotated
  std::int64_t log_files = 3;  // rotated ones that are kept
  std::int64_t threads = 0;    // processors that reading and building may use; 0: all but one
  IoClass io_class = IoClass::kLow;
  IdleExitRule idle_exit = IdleExitRule::kNoProject;
  std::chrono::nanoseconds idle_exit_after = std::chrono::hours(1);
  // No key of the file: of all its values, defaults among them (HashJson); `status` tells it.
  std::string hash;
  // Neither: events of files this close together belong to one save.
  std::chrono::milliseconds quiet{250};
  // Verdicts this close together are published in one go: kernels are often proven in pairs, and
  // each time files are written and the disk is waited for.
  std::chrono::milliseconds publish_pause{100};
};

// Strict: an unknown key or a wrong type is an error that names it. No file: the defaults.
base::Result<Settings> ReadSettings(const std::string& config_folder);

}  // namespace cupilot::service
