#include "service/settings.h"

#include "base/file.h"
#include "records/json.h"

namespace cupilot::service {
namespace {

using records::Json;

base::Result<double> Number(const std::string& key, const Json& value, double low, double high) {
  if (!value.is_number() || value.get<double>() < low || value.get<double>() > high) {
    return base::Fail(base::InvalidArgument(key + ": expected a number from " +
                                            std::to_string(low) + " to " + std::to_string(high)));
  }
  return value.get<double>();
}

base::Result<> ReadKey(const std::string& key, const Json& value, Settings& settings) {
  if (key == "seconds_per_kernel") {
    TRY_ASSIGN(settings.seconds_per_kernel, Number(key, value, 1, 1e7));
  } else if (key == "measure_seconds") {
    TRY_ASSIGN(settings.measure_seconds, Number(key, value, 0.1, 600));
  } else if (key == "parallel") {
    TRY_ASSIGN(const double number, Number(key, value, 1, 64));
    settings.parallel = static_cast<std::int64_t>(number);
  } else if (key == "nice") {
    TRY_ASSIGN(const double number, Number(key, value, 0, 19));
    settings.nice = static_cast<std::int64_t>(number);
  } else if (key == "seed") {
    TRY_ASSIGN(const double number, Number(key, value, 0, 9007199254740992.0));
    settings.seed = static_cast<std::uint64_t>(number);
  } else if (key == "log_level") {
    if (!value.is_string()) return base::Fail(base::InvalidArgument(key + ": expected a string"));
    TRY_ASSIGN(settings.log_level, log::LevelOf(value.get<std::string>()));
  } else if (key == "log_json") {
    if (!value.is_boolean()) return base::Fail(base::InvalidArgument(key + ": true or false"));
    settings.log_json = value.get<bool>();
  } else {
    return base::Fail(base::InvalidArgument(
        key +
        ": unknown setting; there are seconds_per_kernel, measure_seconds, parallel, nice, "
        "seed, log_level, log_json"));
  }
  return {};
}

}  // namespace

base::Result<Settings> ReadSettings(const std::string& config_folder) {
  Settings settings;
  const std::string path = config_folder + "/config.json";
  if (!base::FileExists(path)) return settings;
  TRY_ASSIGN(const std::string text, base::ReadFile(path));
  auto json = records::ParseJson(text);
  if (!json) return base::Fail(json.error().In(path));
  if (!json->is_object()) {
    return base::Fail(base::InvalidArgument(path + ": expected an object {...}"));
  }
  for (const auto& [key, value] : json->items()) {
    if (key == "schema") continue;
    auto read = ReadKey(key, value, settings);
    if (!read) return base::Fail(read.error().In(path));
  }
  return settings;
}

}  // namespace cupilot::service
