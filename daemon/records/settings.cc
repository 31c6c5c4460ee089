#include "records/settings.h"

#include <algorithm>
#include <cmath>

#include "base/file.h"

namespace cupilot::records {
namespace {

std::string Shown(double number) { return CanonicalJson(Json(number)); }

const Setting* Find(const std::string& key) {
  for (const Setting& setting : Settings()) {
    if (key == setting.key) return &setting;
  }
  return nullptr;
}

std::string KnownKeys() {
  std::string keys;
  for (const Setting& setting : Settings())
    keys += (keys.empty() ? "" : ", ") + std::string(setting.key);
  return keys;
}

std::string WhyNot(const Setting& setting, const Json& value) {
  if (setting.otherwise.is_boolean()) return value.is_boolean() ? "" : "expected true or false";
  if (setting.otherwise.is_string()) {
    if (setting.one_of.empty()) {
      return value.is_string() && value != "" ? "" : "expected a text that is not empty";
    }
    std::string choices;
    for (const std::string& one : setting.one_of) {
      if (value == one) return "";
      choices += (choices.empty() ? "" : ", ") + one;
    }
    return "expected one of " + choices;
  }
  const bool whole = setting.otherwise.is_number_integer();
  if (value.is_number()) {
    const double number = value.get<double>();
    if (number >= setting.low && number <= setting.high &&
        (!whole || number == std::floor(number))) {
      return "";
    }
  }
  return std::string("expected ") + (whole ? "an integer" : "a number") + " from " +
         Shown(setting.low) + " to " + Shown(setting.high);
}

base::Result<Json> ReadObject(const std::string& path) {
  TRY_ASSIGN(const std::string text, base::ReadFile(path));
  auto json = ParseJson(text);
  if (!json) return base::Fail(json.error().In(path));
  if (!json->is_object()) {
    return base::Fail(base::InvalidArgument(path + ": expected an object {...}"));
  }
  return json;
}

}  // namespace

const std::vector<Setting>& Settings() {
  static const std::vector<Setting> settings = {
      {"seconds_per_kernel", 900.0, 1, 1e7, {}, "work on one kernel before it counts as done"},
      {"evaluations_per_kernel", 0, 0, 1e9, {}, "the same in verdicts; 0: any number"},
      {"until_gain_percent",
       0.0,
       0,
       100,
       {},
       "the same in what another minute is expected to gain; 0: that ends nothing"},
      {"measure_seconds", 1.5, 0.1, 600, {}, "at most, for one measurement"},
      {"parallel", 2, 1, 64, {}, "kernels in work at once: their builds overlap"},
      {"nice", 10, 0, 19, {}, "added to the priority of all workers"},
      {"seed", 1, 0, 9007199254740992.0, {}, "of the search and of generated values"},
      {"search_strategy",
       "portfolio",
       0,
       0,
       {},
       "what looks for values of tunables: a name that `cupilot search replay` takes"},
      {"captured_gigabytes", 16.0, 0.01, 1e6, {}, "captured contents that are kept, the newest"},
      {"pool_entries",
       2000,
       0,
       100000,
       {},
       "what strategies gained on kernels is kept of so many; old entries that say little go "
       "first"},
      {"store_megabytes",
       256.0,
       0,
       1e6,
       {},
       "what was measured is kept of so many, the newest, beside what is in use; 0: all"},
      {"store_days",
       365,
       0,
       36500,
       {},
       "what was measured and is not in use is kept so long; 0: for ever"},
      {"capture_tests",
       true,
       0,
       0,
       {},
       "tests that projects name (CAPTURE_TEST) are run after a build to capture workloads"},
      {"gpu_quiet_seconds", 60.0, 0, 86400, {}, "a GPU is quiet for so long before it is used"},
      {"gpu_pause_seconds",
       60.0,
       0,
       86400,
       {},
       "after others used a GPU it is left to them so long"},
      {"wake_gpu", false, 0, 0, {}, "a GPU that sleeps to save power may be woken"},
      {"require_sandbox",
       false,
       0,
       0,
       {},
       "nothing is parsed, built or run where files cannot be kept from it (see doctor)"},
      {"models",
       "none",
       0,
       0,
       {},
       "language models that are asked, with ', ' between them, such as anthropic:MODEL"},
      {"model_dollars_per_kernel", 1.0, 0, 1e6, {}, "spent on models for one kernel, at most"},
      {"model_dollars_per_day", 5.0, 0, 1e6, {}, "the same for all, a day (UTC)"},
      {"model_dollars_per_month", 50.0, 0, 1e6, {}, "and a month"},
      {"model_requests_per_kernel",
       60,
       0,
       1e6,
       {},
       "what models are asked for one kernel, at most"},
      {"model_begin_percent",
       50.0,
       0,
       100,
       {},
       "of a kernel's budget, at which models are asked at the latest"},
      {"model_votes",
       0,
       0,
       9,
       {},
       "opinions that models are asked for on a variant before it is evaluated; they order and "
       "drop, and the "
       "gate decides alone"},
      {"model_unknown_price",
       false,
       0,
       0,
       {},
       "a model is asked although its price is not known; it counts as free"},
      {"model_exchanges_gigabytes", 0.5, 0, 1e6, {}, "what models were asked is kept, the newest"},
      {"hints",
       false,
       0,
       0,
       {},
       "a build that makes kernels faster says so in a line, from the next configure on"},
      {"log_level",
       "info",
       0,
       0,
       {"debug", "info", "warning", "error", "off"},
       "of the daemon's log; debug has each request to a worker, with its time"},
      {"log_json", false, 0, 0, {}, "the log's lines are JSON"},
      {"log_megabytes", 1.0, 0.01, 1000, {}, "of the log's file, then a new one is begun"},
      {"log_files", 3, 0, 100, {}, "old files of the log that are kept"},
      {"threads",
       0,
       0,
       1024,
       {},
       "processors that reading and building sources may use; 0: all but one"},
      {"io_class",
       "low",
       0,
       0,
       {"idle", "low", "normal"},
       "of the daemon's and its workers' files; idle: only when nobody else reads and writes"},
      {"memory_gigabytes",
       0.0,
       0,
       1e6,
       {},
       "of the daemon and its workers together, where systemd runs it; 0: no limit"},
      {"idle_exit",
       "no project",
       0,
       0,
       {"no project", "done", "never"},
       "when the daemon ends by itself: no project is there; also all kernels are done (it then "
       "does not see builds until a command or a configure starts it again); never"},
      {"idle_exit_minutes", 60.0, 0.001, 1e6, {}, "and it was so for so long"},
  };
  return settings;
}

base::Result<Json> ReadSettingsFile(const std::string& path) {
  Json settings = Json::object();
  for (const Setting& setting : Settings()) settings[setting.key] = setting.otherwise;
  if (!base::FileExists(path)) return settings;
  TRY_ASSIGN(const Json file, ReadObject(path));
  for (const auto& [key, value] : file.items()) {
    if (key == "schema") continue;
    const Setting* setting = Find(key);
    if (setting == nullptr) {
      return base::Fail(
          base::InvalidArgument(path + ": " + key + ": unknown setting; there are " + KnownKeys()));
    }
    if (const std::string why = WhyNot(*setting, value); !why.empty()) {
      return base::Fail(base::InvalidArgument(path + ": " + key + ": " + why));
    }
    settings[key] = value;
  }
  return settings;
}

std::vector<std::string> KeysInFile(const std::string& path) {
  std::vector<std::string> keys;
  const auto file = ReadObject(path);
  if (!file) return keys;
  for (const auto& [key, value] : file->items()) keys.push_back(key);
  return keys;
}

}  // namespace cupilot::records
