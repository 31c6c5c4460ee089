#include "protocol/worker_messages.h"

#include "records/pool_parts.h"
#include "records/read_parts.h"
#include "records/reader.h"

namespace cupilot::protocol {

using records::ArrayJson;
using records::Json;
using records::NumberJson;
using records::ObjectReader;
using records::ReadDocument;
using records::Reading;
using records::Strictness;
using records::ToJson;

namespace {

template <class A, class B>
Json PairsJson(const std::vector<std::pair<A, B>>& pairs) {
  Json array = Json::array();
  for (const auto& [first, second] : pairs) array.push_back(Json::array({first, second}));
  return array;
}

}  // namespace

// Found by argument-dependent look-up from the templates of reader.h, hence in no unnamed
// namespace.
static void Read(const Json& json, const std::string& path, Proposal& value, Reading& reading);
static void Read(const Json& json, const std::string& path, TwinReply& value, Reading& reading);
static void Read(const Json& json, const std::string& path, CandidateSet& value, Reading& reading);
static Json ToJson(const Proposal& value);

static void Read(const Json& json, const std::string& path, ScanRequest& value, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("command", value.command)
      .Optional("source_text", value.source_text)
      .Optional("numerics", value.numerics)
      .Optional("kernels", value.kernels)
      .Optional("candidates_follow", value.candidates_follow)
      .Optional("passes", value.passes)
      .Optional("compiled", value.compiled)
      .Optional("entered", value.entered)
      .Optional("compiler_error", value.compiler_error);
}

Json ToJson(const ScanRequest& value) {
  Json json = Json::object();
  json["command"] = ToJson(value.command);
  json["source_text"] = value.source_text;
  json["numerics"] = value.numerics;
  json["kernels"] = value.kernels;
  json["candidates_follow"] = value.candidates_follow;
  if (!value.passes.empty()) json["passes"] = ArrayJson(value.passes);
  if (!value.compiled.empty()) json["compiled"] = ArrayJson(value.compiled);
  if (!value.entered.empty()) json["entered"] = value.entered;
  if (!value.compiler_error.empty()) json["compiler_error"] = value.compiler_error;
  return json;
}

base::Result<ScanRequest> ParseScanRequest(const Json& json) {
  return ReadDocument<ScanRequest>(json, Strictness::kLenient);
}

static void Read(const Json& json, const std::string& path, ScanReply& value, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("kernels", value.kernels)
      .Optional("warnings", value.warnings)
      .Optional("files", value.files)
      .Optional("untagged_kernels", value.untagged_kernels)
      .Optional("compiled", value.compiled)
      .Optional("seconds", value.seconds);
}

Json ToJson(const ScanReply& value) {
  Json json = Json::object();
  json["kernels"] = ArrayJson(value.kernels);
  json["warnings"] = value.warnings;
  json["files"] = value.files;
  json["untagged_kernels"] = value.untagged_kernels;
  json["compiled"] = ArrayJson(value.compiled);
  json["seconds"] = value.seconds;
  return json;
}

base::Result<ScanReply> ParseScanReply(const Json& json) {
  return ReadDocument<ScanReply>(json, Strictness::kLenient);
}

static void Read(const Json& json, const std::string& path, RewriteRequest& value,
                 Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("command", value.command)
      .Optional("kernel", value.kernel)
      .Optional("workload", value.workload)
      .Optional("strategy", value.strategy)
      .Optional("device", value.device);
}

Json ToJson(const RewriteRequest& value) {
  Json json = Json::object();
  json["command"] = ToJson(value.command);
  json["kernel"] = ToJson(value.kernel);
  json["workload"] = ToJson(value.workload);
  json["strategy"] = ToJson(value.strategy);
  json["device"] = value.device;
  return json;
}

base::Result<RewriteRequest> ParseRewriteRequest(const Json& json) {
  return ReadDocument<RewriteRequest>(json, Strictness::kLenient);
}

static void Read(const Json& json, const std::string& path, RewriteReply& value, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("declined", value.declined)
      .Optional("reason", value.reason)
      .Optional("variant", value.variant)
      .Optional("strategy", value.strategy);
}

Json ToJson(const RewriteReply& value) {
  Json json = Json::object();
  json["declined"] = value.declined;
  json["reason"] = value.reason;
  json["variant"] = ToJson(value.variant);
  json["strategy"] = ToJson(value.strategy);
  return json;
}

base::Result<RewriteReply> ParseRewriteReply(const Json& json) {
  return ReadDocument<RewriteReply>(json, Strictness::kLenient);
}

static void Read(const Json& json, const std::string& path, ProposeRequest& value,
                 Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("kernel", value.kernel)
      .Optional("workload", value.workload)
      .Optional("device", value.device);
}

Json ToJson(const ProposeRequest& value) {
  Json json = Json::object();
  json["kernel"] = ToJson(value.kernel);
  json["workload"] = ToJson(value.workload);
  json["device"] = value.device;
  return json;
}

base::Result<ProposeRequest> ParseProposeRequest(const Json& json) {
  return ReadDocument<ProposeRequest>(json, Strictness::kLenient);
}

static void Read(const Json& json, const std::string& path, Proposal& value, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("technique", value.technique)
      .Optional("applies", value.applies)
      .Optional("reason", value.reason)
      .Optional("parameters", value.parameters);
}

static Json ToJson(const Proposal& value) {
  Json json = Json::object();
  json["technique"] = value.technique;
  json["applies"] = value.applies;
  json["reason"] = value.reason;
  json["parameters"] = value.parameters;
  return json;
}

static void Read(const Json& json, const std::string& path, ProposeReply& value, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("proposals", value.proposals).Optional("features", value.features);
}

Json ToJson(const ProposeReply& value) {
  Json json = Json::object();
  json["proposals"] = ArrayJson(value.proposals);
  if (value.features) json["features"] = ToJson(*value.features);
  return json;
}

base::Result<ProposeReply> ParseProposeReply(const Json& json) {
  return ReadDocument<ProposeReply>(json, Strictness::kLenient);
}

static void Read(const Json& json, const std::string& path, RetuneRequest& value,
                 Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("command", value.command)
      .Optional("source_text", value.source_text)
      .Optional("kernel", value.kernel)
      .Optional("values", value.values);
}

Json ToJson(const RetuneRequest& value) {
  Json json = Json::object();
  json["command"] = ToJson(value.command);
  json["source_text"] = value.source_text;
  json["kernel"] = ToJson(value.kernel);
  json["values"] = PairsJson(value.values);
  return json;
}

base::Result<RetuneRequest> ParseRetuneRequest(const Json& json) {
  return ReadDocument<RetuneRequest>(json, Strictness::kLenient);
}

static void Read(const Json& json, const std::string& path, TwinRequest& value, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("kernel", value.kernel);
}

Json ToJson(const TwinRequest& value) {
  Json json = Json::object();
  json["kernel"] = ToJson(value.kernel);
  return json;
}

base::Result<TwinRequest> ParseTwinRequest(const Json& json) {
  return ReadDocument<TwinRequest>(json, Strictness::kLenient);
}

static void Read(const Json& json, const std::string& path, TwinMember& value, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("type", value.canonical)
      .Required("from", value.from)
      .Required("from_bytes", value.from_bytes)
      .Required("to", value.to)
      .Required("to_bytes", value.to_bytes);
}

static void Read(const Json& json, const std::string& path, TwinStructure& value,
                 Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Required("parameter", value.parameter)
      .Required("bytes", value.bytes)
      .Required("members", value.members);
}

static void Read(const Json& json, const std::string& path, TwinReply& value, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("declined", value.declined)
      .Optional("reason", value.reason)
      .Optional("source", value.source)
      .Optional("entry", value.entry)
      .Optional("widened", value.widened)
      .Optional("widened_globals", value.widened_globals)
      .Optional("structures", value.structures)
      .Optional("shared_growth", value.shared_growth)
      .Optional("significand_bits", value.significand_bits)
      .Optional("device", value.device);
}

Json ToJson(const TwinReply& value) {
  Json json = Json::object();
  json["declined"] = value.declined;
  json["reason"] = value.reason;
  json["source"] = value.source;
  json["entry"] = value.entry;
  json["widened"] = value.widened;
  json["widened_globals"] = value.widened_globals;
  json["structures"] = Json::array();
  for (const TwinStructure& structure : value.structures) {
    Json members = Json::array();
    for (const TwinMember& m : structure.members) {
      members.push_back({{"type", m.canonical},
                         {"from", m.from},
                         {"from_bytes", m.from_bytes},
                         {"to", m.to},
                         {"to_bytes", m.to_bytes}});
    }
    json["structures"].push_back({{"parameter", structure.parameter},
                                  {"bytes", structure.bytes},
                                  {"members", std::move(members)}});
  }
  json["shared_growth"] = value.shared_growth;
  json["significand_bits"] = value.significand_bits;
  json["device"] = value.device;
  return json;
}

base::Result<TwinReply> ParseTwinReply(const Json& json) {
  return ReadDocument<TwinReply>(json, Strictness::kLenient);
}

static void Read(const Json& json, const std::string& path, CheckVariantRequest& value,
                 Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("kernel", value.kernel).Optional("variant", value.variant);
}

Json ToJson(const CheckVariantRequest& value) {
  Json json = Json::object();
  json["kernel"] = ToJson(value.kernel);
  json["variant"] = ToJson(value.variant);
  return json;
}

base::Result<CheckVariantRequest> ParseCheckVariantRequest(const Json& json) {
  return ReadDocument<CheckVariantRequest>(json, Strictness::kLenient);
}

static void Read(const Json& json, const std::string& path, CheckVariantReply& value,
                 Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("passed", value.passed)
      .Optional("reason", value.reason)
      .Optional("detail", value.detail)
      .Optional("entries", value.entries)
      .Optional("bare_closure", value.bare_closure);
}

Json ToJson(const CheckVariantReply& value) {
  Json json = Json::object();
  json["passed"] = value.passed;
  json["reason"] = value.reason;
  json["detail"] = value.detail;
  json["entries"] = value.entries;
  json["bare_closure"] = value.bare_closure;
  return json;
}

base::Result<CheckVariantReply> ParseCheckVariantReply(const Json& json) {
  return ReadDocument<CheckVariantReply>(json, Strictness::kLenient);
}

static void Read(const Json& json, const std::string& path, BuildRequest& value, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("device", value.device)
      .Optional("target", value.target)
      .Optional("text", value.text)
      .Optional("command", value.command)
      .Optional("cache_folder", value.cache_folder)
      .Optional("timeout_ms", value.timeout_ms)
      .Optional("cpu_seconds", value.cpu_seconds)
      .Optional("as_compiled", value.as_compiled)
      .Optional("watched", value.watched);
}

Json ToJson(const BuildRequest& value) {
  Json json = Json::object();
  json["device"] = value.device;
  json["target"] = value.target;
  json["text"] = value.text;
  json["command"] = ToJson(value.command);
  json["cache_folder"] = value.cache_folder;
  json["timeout_ms"] = value.timeout_ms;
  if (value.cpu_seconds > 0) json["cpu_seconds"] = value.cpu_seconds;
  if (value.as_compiled) json["as_compiled"] = true;
  if (value.watched) json["watched"] = true;
  return json;
}

base::Result<BuildRequest> ParseBuildRequest(const Json& json) {
  return ReadDocument<BuildRequest>(json, Strictness::kLenient);
}

static void Read(const Json& json, const std::string& path, BuildReply& value, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("failed", value.failed)
      .Optional("timed_out", value.timed_out)
      .Optional("log", value.log)
      .Optional("artifact", value.artifact)
      .Optional("cached", value.cached)
      .Optional("target", value.target)
      .Optional("toolchain", value.toolchain)
      .Optional("seconds", value.seconds)
      .Optional("cpu_seconds", value.cpu_seconds)
      .Optional("text_hashes", value.text_hashes)
      .Optional("data_hash", value.data_hash)
      .Optional("losses", value.losses)
      .Optional("lacks", value.lacks);
}

Json ToJson(const BuildReply& value) {
  Json json = Json::object();
  json["failed"] = value.failed;
  json["timed_out"] = value.timed_out;
  json["log"] = value.log;
  json["artifact"] = value.artifact;
  json["cached"] = value.cached;
  json["target"] = value.target;
  json["toolchain"] = value.toolchain;
  json["seconds"] = NumberJson(value.seconds);
  if (value.cpu_seconds > 0) json["cpu_seconds"] = NumberJson(value.cpu_seconds);
  json["text_hashes"] = PairsJson(value.text_hashes);
  json["data_hash"] = value.data_hash;
  if (!value.losses.empty()) json["losses"] = PairsJson(value.losses);
  if (!value.lacks.empty()) json["lacks"] = value.lacks;
  return json;
}

base::Result<BuildReply> ParseBuildReply(const Json& json) {
  return ReadDocument<BuildReply>(json, Strictness::kLenient);
}

static void Read(const Json& json, const std::string& path, CandidateSet& value, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("kernel", value.kernel)
      .Optional("workload", value.workload)
      .Optional("variant", value.variant)
      .Optional("original_artifact", value.original_artifact)
      .Optional("candidate_artifact", value.candidate_artifact)
      .Optional("twin_artifact", value.twin_artifact)
      .Optional("twin", value.twin)
      .Optional("seed", value.seed)
      .Optional("device", value.device)
      .Optional("watched_original", value.watched_original)
      .Optional("watched_candidate", value.watched_candidate)
      .Optional("not_watched", value.not_watched)
      .Optional("lacks", value.lacks)
      .Optional("work_folder", value.work_folder);
}

Json ToJson(const CandidateSet& value) {
  Json json = Json::object();
  json["kernel"] = ToJson(value.kernel);
  json["workload"] = ToJson(value.workload);
  json["variant"] = ToJson(value.variant);
  json["original_artifact"] = value.original_artifact;
  json["candidate_artifact"] = value.candidate_artifact;
  json["twin_artifact"] = value.twin_artifact;
  json["twin"] = ToJson(value.twin);
  json["seed"] = NumberJson(value.seed);
  json["device"] = value.device;
  if (!value.watched_original.empty()) json["watched_original"] = value.watched_original;
  if (!value.watched_candidate.empty()) json["watched_candidate"] = value.watched_candidate;
  if (!value.not_watched.empty()) json["not_watched"] = value.not_watched;
  if (!value.lacks.empty()) json["lacks"] = value.lacks;
  json["work_folder"] = value.work_folder;
  return json;
}

base::Result<CandidateSet> ParseCandidateSet(const Json& json) {
  return ReadDocument<CandidateSet>(json, Strictness::kLenient);
}

static void Read(const Json& json, const std::string& path, VerifyRequest& value,
                 Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("set", value.set)
      .Optional("depth", value.depth)
      .Optional("left_out", value.left_out)
      .Optional("compiler", value.compiler)
      .Optional("compile_folder", value.compile_folder)
      .Optional("passed", value.passed);
}

Json ToJson(const VerifyRequest& value) {
  Json json = Json::object();
  json["set"] = ToJson(value.set);
  json["depth"] = value.depth;
  json["left_out"] = value.left_out;
  json["compiler"] = value.compiler;
  json["compile_folder"] = value.compile_folder;
  if (!value.passed.is_null()) json["passed"] = value.passed;
  return json;
}

base::Result<VerifyRequest> ParseVerifyRequest(const Json& json) {
  return ReadDocument<VerifyRequest>(json, Strictness::kLenient);
}

static void Read(const Json& json, const std::string& path, VerifyReply& value, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("passed", value.passed)
      .Optional("original_failed", value.original_failed)
      .Optional("reason", value.reason)
      .Optional("detail", value.detail)
      .Optional("checks", value.checks)
      .Optional("cases", value.cases)
      .Optional("guard", value.guard)
      .Optional("steps", value.steps);
}

Json ToJson(const VerifyReply& value) {
  Json json = Json::object();
  json["passed"] = value.passed;
  json["original_failed"] = value.original_failed;
  json["reason"] = value.reason;
  json["detail"] = value.detail;
  json["checks"] = ArrayJson(value.checks);
  json["cases"] = ArrayJson(value.cases);
  json["guard"] = value.guard;
  json["steps"] = value.steps;
  return json;
}

base::Result<VerifyReply> ParseVerifyReply(const Json& json) {
  return ReadDocument<VerifyReply>(json, Strictness::kLenient);
}

static void Read(const Json& json, const std::string& path, MeasureRequest& value,
                 Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("set", value.set)
      .Optional("max_seconds", value.max_seconds)
      .Optional("confirm", value.confirm)
      .Optional("probe_limit", value.probe_limit)
      .Optional("probe", value.probe)
      .Optional("promising", value.promising)
      .Optional("rival", value.rival);
}

Json ToJson(const MeasureRequest& value) {
  Json json = Json::object();
  json["set"] = ToJson(value.set);
  json["max_seconds"] = NumberJson(value.max_seconds);
  json["confirm"] = value.confirm;
  json["probe_limit"] = NumberJson(value.probe_limit);
  if (value.probe) json["probe"] = true;
  if (value.promising > 0) json["promising"] = NumberJson(value.promising);
  if (value.rival) json["rival"] = ToJson(*value.rival);
  return json;
}

base::Result<MeasureRequest> ParseMeasureRequest(const Json& json) {
  return ReadDocument<MeasureRequest>(json, Strictness::kLenient);
}

static void Read(const Json& json, const std::string& path, ProfileRequest& value,
                 Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("set", value.set)
      .Optional("cases", value.cases)
      .Optional("compiler", value.compiler)
      .Optional("compile_folder", value.compile_folder);
}

Json ToJson(const ProfileRequest& value) {
  return {{"set", ToJson(value.set)},
          {"cases", ArrayJson(value.cases)},
          {"compiler", value.compiler},
          {"compile_folder", value.compile_folder}};
}

base::Result<ProfileRequest> ParseProfileRequest(const Json& json) {
  return ReadDocument<ProfileRequest>(json, Strictness::kLenient);
}

static void Read(const Json& json, const std::string& path, ProfileReply& value, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("rooflines", value.rooflines);
}

Json ToJson(const ProfileReply& value) { return {{"rooflines", value.rooflines}}; }

base::Result<ProfileReply> ParseProfileReply(const Json& json) {
  return ReadDocument<ProfileReply>(json, Strictness::kLenient);
}

static void Read(const Json& json, const std::string& path, MeasureReply& value, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Optional("failed", value.failed)
      .Optional("reason", value.reason)
      .Optional("detail", value.detail)
      .Optional("stopped_early", value.stopped_early)
      .Optional("cases", value.cases)
      .Optional("device", value.device)
      .Optional("resources", value.resources)
      .Optional("metrics", value.metrics);
}

Json ToJson(const MeasureReply& value) {
  Json json = Json::object();
  json["failed"] = value.failed;
  json["reason"] = value.reason;
  json["detail"] = value.detail;
  json["stopped_early"] = value.stopped_early;
  json["cases"] = ArrayJson(value.cases);
  json["device"] = ToJson(value.device);
  json["resources"] = ToJson(value.resources);
  json["metrics"] = value.metrics;
  return json;
}

base::Result<MeasureReply> ParseMeasureReply(const Json& json) {
  return ReadDocument<MeasureReply>(json, Strictness::kLenient);
}

}  // namespace cupilot::protocol
