#include "records/evaluation.h"

#include "records/read_parts.h"
#include "records/reader.h"

namespace cupilot::records {
namespace {

Json IntervalJson(const std::array<double, 2>& interval) {
  return Json::array({NumberJson(interval[0]), NumberJson(interval[1])});
}

// null: there is no twin, so no error in units of the rule.
void ReadError(ObjectReader& object, const char* key, std::optional<double>& out) {
  const Json* value = object.Find(key);
  if (value == nullptr || value->is_null()) return;
  records::Read(*value, object.PathOf(key), out, object.reading());
}

Json ErrorJson(const std::optional<double>& error) {
  return error ? NumberJson(*error) : Json(nullptr);
}

bool IsReason(const std::string& reason) {
  for (const char* known : kReasons) {
    if (reason == known) return true;
  }
  return false;
}

}  // namespace

void Read(const Json& json, const std::string& path, Resources& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("registers", out.registers)
      .Optional("shared_bytes", out.shared_bytes)
      .Optional("local_bytes", out.local_bytes);
  object.Finish(out.others);
}

Json ToJson(const Resources& value) {
  return WithOthers({{"registers", value.registers},
                     {"shared_bytes", value.shared_bytes},
                     {"local_bytes", value.local_bytes}},
                    value.others);
}

void Read(const Json& json, const std::string& path, DeviceIdentity& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("name", out.name)
      .Required("arch", out.arch)
      .Required("sm_count", out.sm_count)
      .Required("memory_bytes", out.memory_bytes);
  object.Finish();
}

Json ToJson(const DeviceIdentity& value) {
  return {{"name", value.name},
          {"arch", value.arch},
          {"sm_count", value.sm_count},
          {"memory_bytes", NumberJson(value.memory_bytes)}};
}

void Read(const Json& json, const std::string& path, CaseResult& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("name", out.name)
      .Optional("original_us", out.original_us)
      .Optional("variant_us", out.variant_us)
      .Optional("speedup", out.speedup)
      .Optional("interval", out.interval)
      .Optional("samples", out.samples)
      .Optional("floor_us", out.floor_us)
      .Optional("l2", out.l2)
      .Optional("admitted", out.admitted);
  ReadError(object, "error", out.error);
  ReadError(object, "original_error", out.original_error);
  object.Finish(out.others);
}

Json ToJson(const CaseResult& value) {
  Json json = {{"name", value.name},
               {"original_us", NumberJson(value.original_us)},
               {"variant_us", NumberJson(value.variant_us)},
               {"speedup", NumberJson(value.speedup)},
               {"interval", IntervalJson(value.interval)},
               {"samples", value.samples},
               {"floor_us", NumberJson(value.floor_us)},
               {"l2", value.l2},
               {"error", ErrorJson(value.error)},
               {"original_error", ErrorJson(value.original_error)}};
  if (!value.admitted) json["admitted"] = false;
  return WithOthers(std::move(json), value.others);
}

void Read(const Json& json, const std::string& path, Check& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("name", out.name).Required("passed", out.passed).Optional("detail", out.detail);
  object.Finish(out.others);
}

Json ToJson(const Check& value) {
  return WithOthers({{"name", value.name}, {"passed", value.passed}, {"detail", value.detail}},
                    value.others);
}

void Read(const Json& json, const std::string& path, Evaluation& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Schema(Evaluation::kSchema);
  constexpr std::array<std::pair<std::string_view, bool>, 2> kVerdicts = {
      {{"accepted", true}, {"rejected", false}}};
  object.Required("variant", out.variant)
      .Optional("kernel_key", out.kernel_key)
      .Optional("target", out.target)
      .Optional("device", out.device)
      .Optional("toolchain", out.toolchain)
      .Optional("driver", out.driver)
      .Optional("workload", out.workload)
      .Optional("seed", out.seed)
      .Optional("date", out.date)
      .OptionalWord("verdict", kVerdicts, out.accepted)
      .Optional("reason", out.reason)
      .Optional("detail", out.detail)
      .Optional("guard", out.guard)
      .Optional("cases", out.cases)
      .Optional("speedup", out.speedup)
      .Optional("interval", out.interval)
      .Optional("checks", out.checks)
      .Optional("resources", out.resources)
      .Optional("text_hash", out.text_hash)
      .Optional("metrics", out.metrics);
  object.Finish(out.others);
  if (object.ok() && !out.accepted && !IsReason(out.reason)) {
    object.Fail("reason", "unknown reason '" + out.reason + "'");
  }
}

Json ToJson(const Evaluation& evaluation) {
  Json json = {{"schema", Evaluation::kSchema},
               {"variant", evaluation.variant},
               {"kernel_key", evaluation.kernel_key},
               {"target", evaluation.target},
               {"device", ToJson(evaluation.device)},
               {"toolchain", evaluation.toolchain},
               {"driver", evaluation.driver},
               {"workload", evaluation.workload},
               {"seed", NumberJson(evaluation.seed)},
               {"date", evaluation.date},
               {"verdict", evaluation.accepted ? "accepted" : "rejected"},
               {"reason", evaluation.reason},
               {"detail", evaluation.detail},
               {"guard", evaluation.guard},
               {"cases", ArrayJson(evaluation.cases)},
               {"checks", ArrayJson(evaluation.checks)},
               {"resources", ToJson(evaluation.resources)},
               {"text_hash", evaluation.text_hash},
               {"metrics", evaluation.metrics}};
  if (evaluation.speedup) json["speedup"] = NumberJson(*evaluation.speedup);
  if (evaluation.interval) json["interval"] = IntervalJson(*evaluation.interval);
  return WithOthers(std::move(json), evaluation.others);
}

CaseResult LeftToOriginal(const std::string& name) {
  CaseResult result;
  result.name = name;
  result.speedup = 1;
  result.interval = {1, 1};
  result.admitted = false;
  return result;
}

base::Result<Evaluation> ParseEvaluation(const Json& json) {
  return ReadDocument<Evaluation>(json, Strictness::kLenient);
}

}  // namespace cupilot::records
