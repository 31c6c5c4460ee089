#include "service/settings.h"

#include "base/processors.h"
#include "evaluate/work_order.h"
#include "records/settings.h"
#include "search/strategy.h"

namespace cupilot::service {

base::Result<Settings> ReadSettings(const std::string& config_folder) {
  TRY_ASSIGN(const records::Json json, records::ReadSettingsFile(config_folder + "/config.json"));
  Settings settings;
  settings.hash = records::HashJson(json);
  settings.seconds_per_kernel = json["seconds_per_kernel"].get<double>();
  settings.evaluations_per_kernel =
      static_cast<std::int64_t>(json["evaluations_per_kernel"].get<double>());
  settings.until_gain = json["until_gain_percent"].get<double>() / 100;
  settings.measure_seconds = json["measure_seconds"].get<double>();
  settings.parallel = static_cast<std::int64_t>(json["parallel"].get<double>());
  settings.object_checks = evaluate::ProofLanesFor(base::UsableProcessors());
  settings.nice = static_cast<std::int64_t>(json["nice"].get<double>());
  settings.seed = static_cast<std::uint64_t>(json["seed"].get<double>());
  settings.search_strategy = json["search_strategy"].get<std::string>();
  if (const auto known = search::FindStrategy(settings.search_strategy); !known) {
    return base::Fail(known.error().In(config_folder + "/config.json: search_strategy"));
  }
  settings.captured_bytes =
      static_cast<std::uint64_t>(json["captured_gigabytes"].get<double>() * 0x1p30);
  settings.pool_entries = static_cast<std::int64_t>(json["pool_entries"].get<double>());
  settings.store_bytes = static_cast<std::uint64_t>(json["store_megabytes"].get<double>() * 0x1p20);
  settings.store_days = static_cast<std::int64_t>(json["store_days"].get<double>());
  const auto seconds = [&json](const char* key) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(json[key].get<double>()));
  };
  settings.gpu.quiet = seconds("gpu_quiet_seconds");
  settings.gpu.pause = seconds("gpu_pause_seconds");
  settings.gpu.wake = json["wake_gpu"].get<bool>();
  settings.models = agents::ReadModelSettings(json);
  settings.capture_tests = json["capture_tests"].get<bool>();
  settings.require_sandbox = json["require_sandbox"].get<bool>();
  settings.log_json = json["log_json"].get<bool>();
  settings.log_megabytes = json["log_megabytes"].get<double>();
  settings.log_files = static_cast<std::int64_t>(json["log_files"].get<double>());
  settings.threads = static_cast<std::int64_t>(json["threads"].get<double>());
  const auto io = json["io_class"].get<std::string>();
  settings.io_class = io == "idle"  ? IoClass::kIdle
                      : io == "low" ? IoClass::kLow
                                    : IoClass::kNormal;
  const auto idle_exit = json["idle_exit"].get<std::string>();
  settings.idle_exit = idle_exit == "never"  ? IdleExitRule::kNever
                       : idle_exit == "done" ? IdleExitRule::kDone
                                             : IdleExitRule::kNoProject;
  settings.idle_exit_after = seconds("idle_exit_minutes") * 60;
  TRY_ASSIGN(settings.log_level, log::LevelOf(json["log_level"].get<std::string>()));
  return settings;
}

}  // namespace cupilot::service
