#include "search/tuner_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "records/json.h"

namespace cupilot::search {
namespace {

using records::Json;

constexpr double kFailedTime = 1e19;  // Kernel Tuner once wrote 1e20 for what failed

// A row as a file has it.
struct ForeignRow {
  std::string name;  // for errors
  const Json* configuration = nullptr;
  MeasuredRow row;
  bool no_time = false;  // it is said to have run, and its time is none
};

struct ForeignFile {
  std::string name;
  std::string device;
  std::vector<SpaceParameter> parameters;
  std::vector<ForeignRow> rows;
};

const Json& Field(const Json& json, const char* key) {
  static const Json kNull;
  if (!json.is_object()) return kNull;
  const auto found = json.find(key);
  return found == json.end() ? kNull : *found;
}

std::optional<double> NumberOf(const Json& json) {
  if (!json.is_number()) return std::nullopt;
  return json.get<double>();
}

double SumOfRuns(const Json& numbers) {
  double sum = 0;
  for (const Json& number : numbers) sum += NumberOf(number).value_or(0);
  return sum;
}

// Null: one of them is no number. Nothing: there are none.
std::optional<Json> MeanOfRuns(const Json& numbers) {
  if (!numbers.is_array() || numbers.empty()) return std::nullopt;
  for (const Json& number : numbers) {
    if (!number.is_number()) return Json();
  }
  return SumOfRuns(numbers) / static_cast<double>(numbers.size());
}

// Each run in microseconds; none where one of them is no time.
std::vector<double> TimesOf(const Json& runs, double to_microseconds) {
  std::vector<double> times;
  if (!runs.is_array()) return times;
  for (const Json& run : runs) {
    const double time = NumberOf(run).value_or(0) * to_microseconds;
    if (!std::isfinite(time) || time <= 0) return {};
    times.push_back(time);
  }
  return times;
}

// A duration, scaled; what is no positive number is none.
double Scaled(const Json& json, double scale) {
  const double value = NumberOf(json).value_or(0);
  return std::isfinite(value) && value > 0 ? value * scale : 0;
}

std::string ReasonOf(const std::string& error) {
  static const std::map<std::string, std::string, std::less<>> kReasons = {
      {"InvalidConfig", "constraints"},
      {"CompilationFailedConfig", "compile"},
      {"RuntimeFailedConfig", "runtime"}};
  const auto found = kReasons.find(error);
  if (found != kReasons.end()) return found->second;
  return error.empty() ? "failed" : error;
}

// Sets the time, or why there is none.
void SetTime(const Json& value, double to_microseconds, ForeignRow& row) {
  const auto number = NumberOf(value);
  if (number && std::isfinite(*number) && *number > 0 && *number < kFailedTime) {
    row.row.microseconds = *number * to_microseconds;
    return;
  }
  row.row.reason = ReasonOf(value.is_string() ? value.get<std::string>() : "");
  row.no_time = !value.is_string() && !(number && *number >= kFailedTime);
}

// ---- Kernel Tuner ----

base::Result<ForeignFile> ReadKernelTuner(const Json& json) {
  ForeignFile file;
  file.name = records::TextAt(json, "kernel_name");
  file.device = records::TextAt(json, "device_name");
  const Json& values = Field(json, "tune_params");
  std::vector<std::string> names;
  for (const Json& key : Field(json, "tune_params_keys")) {
    if (key.is_string()) names.push_back(key.get<std::string>());
  }
  for (const std::string& name : names) {
    const Json& of_name = Field(values, name.c_str());
    if (!of_name.is_array()) {
      return base::Fail(base::InvalidArgument("tune_params." + name + ": expected an array"));
    }
    TRY_ASSIGN(SpaceParameter parameter,
               ParameterOf(name, of_name.get<std::vector<Json>>(), Json()));
    file.parameters.push_back(std::move(parameter));
  }
  if (file.parameters.empty()) return base::Fail(base::InvalidArgument("tune_params_keys: none"));
  constexpr double kMilliseconds = 1e-3;
  const Json& cache = Field(json, "cache");
  for (const auto& [key, entry] : cache.items()) {
    ForeignRow row{"row '" + key + "'", &entry, {}};
    if (!entry.is_object()) {
      return base::Fail(base::InvalidArgument(row.name + ": expected an object"));
    }
    const Json& error = Field(entry, "__error__");
    if (error.is_string()) {
      row.row.reason = ReasonOf(error.get<std::string>());
    } else if (entry.contains("time")) {
      SetTime(Field(entry, "time"), 1e3, row);
    } else {
      return base::Fail(base::InvalidArgument(row.name + ": has no 'time'"));
    }
    const Json& runs = Field(entry, "times");
    row.row.samples = runs.is_array() ? static_cast<std::int64_t>(runs.size()) : 0;
    if (row.row.microseconds) row.row.times = TimesOf(runs, 1e3);
    row.row.compile_seconds = Scaled(Field(entry, "compile_time"), kMilliseconds);
    row.row.measure_seconds = entry.contains("benchmark_time")
                                  ? Scaled(Field(entry, "benchmark_time"), kMilliseconds)
                                  : std::max(0.0, SumOfRuns(runs)) * kMilliseconds;
    row.row.measure_seconds += Scaled(Field(entry, "verification_time"), kMilliseconds);
    file.rows.push_back(std::move(row));
  }
  return file;
}

// ---- T4 ----

base::Result<double> SecondsOf(const std::string& unit) {
  if (unit.empty() || unit == "ms" || unit == "milliseconds") return 1e-3;
  if (unit == "us" || unit == "microseconds") return 1e-6;
  if (unit == "ns" || unit == "nanoseconds") return 1e-9;
  if (unit == "s" || unit == "seconds") return 1.0;
  return base::Fail(base::InvalidArgument("'" + unit + "' is no unit of time that is known"));
}

// What was measured under this name, or null.
const Json& Measurement(const Json& result, std::string_view name) {
  for (const Json& measurement : Field(result, "measurements")) {
    if (records::TextAt(measurement, "name") == name) return measurement;
  }
  return Field(result, "");
}

bool IsCorrect(const Json& correctness) {
  if (correctness.is_boolean()) return correctness.get<bool>();
  return NumberOf(correctness).value_or(1) > 0;
}

// Sets all but the configuration.
base::Result<> ReadT4Row(const Json& result, double unit, ForeignRow& foreign) {
  MeasuredRow& row = foreign.row;
  const Json& times = Field(result, "times");
  const Json& runs = Field(times, "runtimes");
  const Json& time = Measurement(result, "time");
  const std::string invalidity = records::TextAt(result, "invalidity");
  if (!invalidity.empty() && invalidity != "correct") {
    const std::string reason = records::TextAt(Measurement(result, "reason"), "value");
    row.reason = reason.empty() ? invalidity : reason;
  } else if (!IsCorrect(Field(result, "correctness"))) {
    row.reason = "correctness";
  } else if (time.is_object()) {
    const std::string its_unit = records::TextAt(time, "unit");
    double scale = unit;
    if (!its_unit.empty()) {
      TRY_ASSIGN(scale, SecondsOf(its_unit));
    }
    const Json& value = Field(time, "value");
    SetTime(MeanOfRuns(value).value_or(value), scale * 1e6, foreign);
  } else {
    const auto mean = MeanOfRuns(runs);
    if (!mean) return base::Fail(base::InvalidArgument("neither a time nor runs"));
    SetTime(*mean, unit * 1e6, foreign);
  }
  const auto samples = NumberOf(Field(Measurement(result, "samples"), "value"));
  row.samples = samples           ? static_cast<std::int64_t>(std::clamp(*samples, 0.0, 1e9))
                : runs.is_array() ? static_cast<std::int64_t>(runs.size())
                                  : 0;
  // Where there are fewer, they stand for what they were computed from.
  if (row.microseconds) row.times = TimesOf(runs, unit * 1e6);
  if (static_cast<std::int64_t>(row.times.size()) != row.samples) row.times.clear();
  // The published schema and the programs that write it differ in the name.
  row.compile_seconds = Scaled(
      Field(times, times.contains("compilation_time") ? "compilation_time" : "compilation"), unit);
  row.measure_seconds = times.contains("benchmark") ? Scaled(Field(times, "benchmark"), unit)
                                                    : std::max(0.0, SumOfRuns(runs)) * unit;
  row.measure_seconds += Scaled(Field(times, "validation"), unit);
  const auto built = [&result](std::string_view name) {
    const auto number = NumberOf(Field(Measurement(result, name), "value"));
    return number ? static_cast<std::int64_t>(std::clamp(*number, 0.0, 1e9)) : std::int64_t{0};
  };
  row.registers = built("registers");
  row.local_bytes = built("local_bytes");
  row.shared_bytes = built("shared_bytes");
  return {};
}

// Numbers before texts, each in their order.
void SortValues(std::vector<Json>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

base::Result<ForeignFile> ReadT4(const Json& json) {
  ForeignFile file;
  const Json& metadata = Field(json, "metadata");
  file.name = records::TextAt(metadata, "kernel");
  file.device = records::TextAt(metadata, "device");
  TRY_ASSIGN(const double unit, SecondsOf(records::TextAt(metadata, "timeunit")));
  std::map<std::string, std::vector<Json>> values;
  std::size_t index = 0;
  for (const Json& result : Field(json, "results")) {
    ForeignRow row{"results[" + std::to_string(index++) + "]", &Field(result, "configuration"), {}};
    if (!row.configuration->is_object() || !Field(result, "times").is_object()) {
      return base::Fail(
          base::InvalidArgument(row.name + ": 'configuration' and 'times' are objects"));
    }
    if (const auto read = ReadT4Row(result, unit, row); !read) {
      return base::Fail(read.error().In(row.name));
    }
    for (const auto& [name, value] : row.configuration->items()) values[name].push_back(value);
    file.rows.push_back(std::move(row));
  }
  for (auto& [name, all] : values) {
    SortValues(all);
    TRY_ASSIGN(SpaceParameter parameter, ParameterOf(name, all, Json()));
    file.parameters.push_back(std::move(parameter));
  }
  return file;
}

// ---- both ----

// `described`: the parameters are those of another file.
base::Result<Point> PointOfRow(const ForeignRow& row, const std::vector<SpaceParameter>& parameters,
                               bool described) {
  Point point;
  for (const SpaceParameter& parameter : parameters) {
    const Json& value = Field(*row.configuration, parameter.name.c_str());
    if (value.is_null() && described && parameter.values.size() == 1) {
      point.push_back(0);  // a constant that the file leaves out
      continue;
    }
    const auto place = PlaceOf(parameter, value);
    if (!place) {
      return base::Fail(base::InvalidArgument(
          row.name + ": " +
          (value.is_null() ? "no value" : records::CompactJson(value) + " is no value") + " of " +
          parameter.name));
    }
    point.push_back(*place);
  }
  return point;
}

std::string Count(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

base::Result<ImportedSpace> Assemble(ForeignFile file, const SpaceDescription* description) {
  ImportedSpace out;
  MeasuredSpace::Parts parts;
  parts.name = std::move(file.name);
  parts.device = std::move(file.device);
  parts.space.parameters = std::move(file.parameters);
  parts.valid = ValidPoints::kRows;
  std::optional<Space> space;
  if (description != nullptr) {
    parts.space = description->space;
    out.notes = description->untold;
    if (description->untold.empty()) {
      parts.valid = ValidPoints::kSolved;
      TRY_ASSIGN(space, SpaceOf(parts.space));
    } else {
      parts.space.require.clear();
      out.notes.emplace_back("not all constraints can be said: valid are the points of the file");
    }
  }
  std::map<Point, std::size_t> rows;
  std::size_t outside = 0, again = 0, no_time = 0;
  for (ForeignRow& row : file.rows) {
    TRY_ASSIGN(row.row.point, PointOfRow(row, parts.space.parameters, description != nullptr));
    no_time += row.no_time ? 1 : 0;
    if (space && !space->IsValid(row.row.point)) {
      if (!row.row.microseconds) {
        ++outside;
        continue;
      }
      return base::Fail(base::InvalidArgument(
          row.name + ": has a time, but is not valid by the description of the space"));
    }
    const auto [place, is_new] = rows.emplace(row.row.point, parts.rows.size());
    if (is_new) {
      parts.rows.push_back(std::move(row.row));
    } else {
      ++again;
      parts.rows[place->second] = std::move(row.row);
    }
  }
  if (parts.rows.empty()) return base::Fail(base::InvalidArgument("there is no measured point"));
  if (outside > 0) {
    out.notes.push_back(Count(outside, "failed point") + " outside the space left out");
  }
  if (no_time > 0) {
    out.notes.push_back(Count(no_time, "point") +
                        " ran by its row and has no time there that can "
                        "be one: kept as failed");
  }
  if (again > 0) {
    out.notes.push_back(Count(again, "point") + " measured again: the last result is kept");
  }
  TRY_ASSIGN(out.measured, MeasuredSpace::Make(std::move(parts)));
  return out;
}

// Our reasons and those of T4.
std::string InvalidityOf(const std::string& reason) {
  static const std::map<std::string, std::string, std::less<>> kWords = {
      {"compile", "compile"},
      {"build_failed", "compile"},
      {"timeout", "timeout"},
      {"timed_out", "timeout"},
      {"constraints", "constraints"},
      {"invalid_launch", "constraints"},
      {"correctness", "correctness"},
      {"wrong_values", "correctness"},
      {"precision_loss", "correctness"},
      {"unwritten_output", "correctness"},
      {"out_of_bounds", "correctness"},
      {"nondeterministic", "correctness"},
      {"race", "correctness"}};
  const auto found = kWords.find(reason);
  return found == kWords.end() ? "runtime" : found->second;
}

}  // namespace

std::string CompletedJson(std::string_view text, bool* cut) {
  std::string out, open;      // `open`: the closing brackets that are due, innermost last
  std::string due_at_entry;   // the same behind the last whole entry of the two outer levels
  std::size_t entry_end = 0;  // there, in `out`
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!in_text && (c == 'N' || c == 'I' || (c == '-' && text.substr(i, 2) == "-I"))) {
      static constexpr std::array<std::string_view, 3> kNotJson = {"NaN", "Infinity", "-Infinity"};
      const auto word = std::find_if(kNotJson.begin(), kNotJson.end(), [&](std::string_view one) {
        return text.substr(i, one.size()) == one;
      });
      if (word != kNotJson.end()) {
        out += "null";
        i += word->size() - 1;
        continue;
      }
    }
    out += c;
    if (in_text) {
      if (c == '\\' && i + 1 < text.size()) out += text[++i];
      in_text = c != '"';
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' || c == '[') {
      open += c == '{' ? '}' : ']';
      if (open.size() <= 2) {
        entry_end = out.size();
        due_at_entry = open;
      }
    } else if ((c == '}' || c == ']') && !open.empty()) {
      open.pop_back();
      if (open.size() <= 2) {
        entry_end = out.size();
        due_at_entry = open;
      }
    }
  }
  if (open.empty() || entry_end == 0) return out;
  if (cut != nullptr) *cut = true;
  out.resize(entry_end);
  return out.append(due_at_entry.rbegin(), due_at_entry.rend());
}

base::Result<ImportedSpace> ImportResults(std::string_view text,
                                          const SpaceDescription* description) {
  bool cut = false;
  const std::string completed = CompletedJson(text, &cut);
  TRY_ASSIGN(const Json json, records::ParseJson(completed));
  if (records::TextAt(json, "schema") == MeasuredSpace::kSchema) {
    if (description != nullptr) {
      return base::Fail(base::InvalidArgument("this file has a space of its own already"));
    }
    ImportedSpace out;
    TRY_ASSIGN(out.measured, ParseMeasured(text));
    return out;
  }
  const bool is_cache = Field(json, "cache").is_object();
  if (is_cache || Field(json, "results").is_array()) {
    TRY_ASSIGN(ForeignFile file, is_cache ? ReadKernelTuner(json) : ReadT4(json));
    TRY_ASSIGN(ImportedSpace space, Assemble(std::move(file), description));
    if (cut) {
      space.notes.emplace_back(
          "the file has no end, as one that is still being written or was cut off: what stands "
          "behind its last whole result is left out");
    }
    return space;
  }
  return base::Fail(base::InvalidArgument(
      "no results are in this: neither a cache of Kernel Tuner (cache), nor T4 (results), nor "
      "cupilot.measured/1"));
}

std::string T4Of(const MeasuredSpace& measured) {
  Json head = {{"autotuner", "cuPilot"}, {"timeunit", "milliseconds"}};
  if (!measured.device().empty()) head["device"] = measured.device();
  if (!measured.name().empty()) head["kernel"] = measured.name();
  std::string text = "{\"schema_version\":\"1.0.0\",\n\"metadata\":" + records::CompactJson(head) +
                     ",\n\"results\":[";
  const std::vector<SpaceParameter>& parameters = measured.file().parameters;
  const char* separator = "\n";
  for (const MeasuredRow& row : measured.rows()) {
    Json configuration = Json::object();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Json value = ValueJson(parameters[i], row.point[i]);
      // Fractions are texts in a space, and numbers in T4.
      const Json number =
          value.is_string() ? Json::parse(value.get<std::string>(), nullptr, false) : value;
      configuration[parameters[i].name] = number.is_number() ? number : value;
    }
    const double compile = row.compile_seconds * 1e3;
    Json times = {{"compilation_time", compile},
                  {"compilation", compile},
                  {"benchmark", row.measure_seconds * 1e3},
                  {"framework", 0},
                  {"search_algorithm", 0},
                  {"validation", 0},
                  {"runtimes", Json::array()}};
    Json measurements = Json::array();
    const auto add = [&measurements](const char* name, const Json& value, const char* unit_of) {
      measurements.push_back({{"name", name}, {"value", value}, {"unit", unit_of}});
    };
    if (row.microseconds) {
      for (const double time : row.times) times["runtimes"].push_back(time / 1e3);
      if (row.times.empty()) times["runtimes"].push_back(*row.microseconds / 1e3);
      add("time", *row.microseconds / 1e3, "ms");
    }
    add("samples", row.samples, "");
    // 0 is not known, or none.
    if (row.registers > 0) add("registers", row.registers, "");
    if (row.local_bytes > 0) add("local_bytes", row.local_bytes, "bytes");
    if (row.shared_bytes > 0) add("shared_bytes", row.shared_bytes, "bytes");
    const std::string invalidity = row.microseconds ? "correct" : InvalidityOf(row.reason);
    if (!row.microseconds) add("reason", row.reason, "");
    text += separator + records::CompactJson({{"configuration", std::move(configuration)},
                                              {"times", std::move(times)},
                                              {"invalidity", invalidity},
                                              {"correctness", invalidity == "correctness" ? 0 : 1},
                                              {"measurements", std::move(measurements)},
                                              {"objectives", Json::array({"time"})}});
    separator = ",\n";
  }
  return text + "\n]}\n";
}

}  // namespace cupilot::search
