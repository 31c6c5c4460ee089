#include "evaluate/calls.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

namespace cupilot::evaluate {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSourceLimit{60000};  // a heavy translation unit parses in seconds
constexpr milliseconds kBuildGrace{5000};    // over the compiler's own limit
// Of a case, many runs; each has a limit of its own inside.
constexpr milliseconds kVerifyLimit{240000};
constexpr milliseconds kMeasureGrace{240000};  // likewise; warm-up, and the wait for the device
constexpr milliseconds kDescribeLimit{20000};

WorkerCall MakeCall(WorkerKind kind, const char* op, records::Json params, milliseconds limit,
                    std::string device = "host") {
  WorkerCall call;
  call.kind = kind;
  call.device = std::move(device);
  call.op = op;
  call.params = std::move(params);
  call.limit = limit;
  return call;
}

WorkerCall AnsweringQuestions(WorkerCall call) {
  call.answers_questions = true;
  return call;
}

// The device is gone, or nobody waits any more: what was asked about is as good as before.
bool SaysNothing(const base::Error& error) {
  return error.code == base::ErrorCode::kUnavailable || error.code == base::ErrorCode::kCancelled;
}

template <class Reply>
void CallTyped(Workers& workers, WorkerCall call,
               base::Result<Reply> (*parse)(const records::Json&), base::Callback<Reply> done) {
  std::string op = call.op;
  workers.Call(std::move(call), [parse, op = std::move(op), done = std::move(done)](
                                    base::Result<records::Json> reply) mutable {
    if (!reply) return done(base::Fail(std::move(reply.error())));
    base::Result<Reply> parsed = parse(*reply);
    if (!parsed) {
      return done(base::Fail(
          base::ProtocolError("the worker's reply to '" + op + "': " + parsed.error().message)));
    }
    done(std::move(parsed));
  });
}

base::Result<DeviceDescription> ParseDescription(const records::Json& json) {
  DeviceDescription description;
  if (!json.is_object() || !json.contains("name") || !json["name"].is_string() ||
      !json.contains("arch") || !json["arch"].is_string()) {
    return base::Fail(base::ProtocolError("no name and arch of a device"));
  }
  description.device.name = json["name"].get<std::string>();
  description.device.arch = json["arch"].get<std::string>();
  if (json.contains("sm_count") && json["sm_count"].is_number_integer()) {
    description.device.sm_count = json["sm_count"].get<std::int64_t>();
  }
  if (json.contains("memory_bytes") && json["memory_bytes"].is_number_integer()) {
    description.device.memory_bytes = json["memory_bytes"].get<std::int64_t>();
  }
  description.driver = records::TextAt(json, "driver");
  description.uuid = records::TextAt(json, "uuid");
  description.name = records::TextAt(json, "device");
  return description;
}

base::Result<std::string> ParseOneArchitecture(const records::Json& json) {
  const records::Json found =
      json.is_object() ? json.value("architectures", records::Json()) : records::Json();
  if (!found.is_array() || found.size() != 1 || !found[0].is_string()) {
    return base::Fail(base::Unavailable("the GPUs here have no architecture in common"));
  }
  return found[0].get<std::string>();
}

base::Result<GpuList> ParseGpuList(const records::Json& json) {
  if (!json.is_object() || !json.contains("devices") || !json["devices"].is_array()) {
    return base::Fail(base::ProtocolError("no list of devices"));
  }
  GpuList list;
  for (const records::Json& entry : json["devices"]) {
    TRY_ASSIGN(DeviceDescription gpu, ParseDescription(entry));
    if (DeviceKind(gpu.name) != "cuda") return base::Fail(base::ProtocolError("a GPU has no name"));
    list.gpus.push_back(std::move(gpu));
  }
  list.reason = json.value("reason", "");
  return list;
}

}  // namespace

void Scan(Workers& workers, const protocol::ScanRequest& request, const std::string& device,
          base::Callback<protocol::ScanReply> done) {
  CallTyped<protocol::ScanReply>(
      workers,
      AnsweringQuestions(
          MakeCall(WorkerKind::kSource, "scan", protocol::ToJson(request), kSourceLimit, device)),
      &protocol::ParseScanReply, std::move(done));
}

// Of so many processes, or as many as are free, for what comes later: nobody waits for it.
static void AskFree(Workers& workers, WorkerCall call, int processes) {
  call.only_if_free = true;
  for (int i = 0; i < processes; ++i) {
    workers.Call(call, [](const base::Result<records::Json>&) {});
  }
}

void BeginSource(Workers& workers, const records::CompileCommand& command,
                 const std::string& device) {
  AskFree(workers,
          MakeCall(WorkerKind::kSource, "begin", {{"command", records::ToJson(command)}},
                   kSourceLimit, device),
          1);
}

void KeepUnits(Workers& workers, const protocol::ScanRequest& request, const std::string& device,
               int processes) {
  AskFree(
      workers,
      MakeCall(WorkerKind::kSource, "keep_unit", protocol::ToJson(request), kSourceLimit, device),
      processes);
}

void Rewrite(Workers& workers, const protocol::RewriteRequest& request, const std::string& device,
             base::Callback<protocol::RewriteReply> done) {
  CallTyped<protocol::RewriteReply>(
      workers,
      MakeCall(WorkerKind::kSource, "rewrite", protocol::ToJson(request), kSourceLimit, device),
      &protocol::ParseRewriteReply, std::move(done));
}

void Propose(Workers& workers, const protocol::ProposeRequest& request, const std::string& device,
             base::Callback<protocol::ProposeReply> done) {
  CallTyped<protocol::ProposeReply>(
      workers,
      MakeCall(WorkerKind::kSource, "propose", protocol::ToJson(request), kSourceLimit, device),
      &protocol::ParseProposeReply, std::move(done));
}

void Retune(Workers& workers, const protocol::RetuneRequest& request, const std::string& device,
            base::Callback<protocol::RewriteReply> done) {
  CallTyped<protocol::RewriteReply>(
      workers,
      MakeCall(WorkerKind::kSource, "retune", protocol::ToJson(request), kSourceLimit, device),
      &protocol::ParseRewriteReply, std::move(done));
}

void Twin(Workers& workers, const protocol::TwinRequest& request, const std::string& device,
          base::Callback<protocol::TwinReply> done) {
  CallTyped<protocol::TwinReply>(
      workers,
      MakeCall(WorkerKind::kSource, "twin", protocol::ToJson(request), kSourceLimit, device),
      &protocol::ParseTwinReply, std::move(done));
}

void CheckVariant(Workers& workers, const protocol::CheckVariantRequest& request,
                  const std::string& device, base::Callback<protocol::CheckVariantReply> done) {
  CallTyped<protocol::CheckVariantReply>(workers,
                                         MakeCall(WorkerKind::kSource, "check_variant",
                                                  protocol::ToJson(request), kSourceLimit, device),
                                         &protocol::ParseCheckVariantReply, std::move(done));
}

void Build(Workers& workers, const protocol::BuildRequest& request, const std::string& device,
           base::Callback<protocol::BuildReply> done) {
  CallTyped<protocol::BuildReply>(workers,
                                  MakeCall(WorkerKind::kBuild, "build", protocol::ToJson(request),
                                           milliseconds(request.timeout_ms) + kBuildGrace, device),
                                  &protocol::ParseBuildReply, std::move(done));
}

void CompareObject(Workers& workers, const protocol::CompareObjectRequest& request,
                   const std::string& device, base::Callback<protocol::CompareObjectReply> done) {
  // The compiler, the assembler and the linker, each within the limit.
  constexpr int kTools = 3;
  CallTyped<protocol::CompareObjectReply>(
      workers,
      MakeCall(WorkerKind::kBuild, "compare_object", protocol::ToJson(request),
               kTools * milliseconds(request.original.timeout_ms) + kBuildGrace, device),
      &protocol::ParseCompareObjectReply, std::move(done));
}

void BeginBuilds(Workers& workers, const protocol::BuildRequest& request, const std::string& device,
                 int processes) {
  AskFree(workers,
          MakeCall(WorkerKind::kBuild, "begin", protocol::ToJson(request),
                   milliseconds(request.timeout_ms), device),
          processes);
}

// Limits of a whole request are for a device that hangs: what a candidate may take is limited
// inside.
static std::int64_t CasesOf(const protocol::CandidateSet& set) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(set.workload.cases.size()));
}

void Verify(Workers& workers, const protocol::VerifyRequest& request, int lane,
            base::Callback<protocol::VerifyReply> done) {
  WorkerCall call = MakeCall(WorkerKind::kDevice, "verify", protocol::ToJson(request),
                             kVerifyLimit * CasesOf(request.set), request.set.device);
  call.lane = lane;
  CallTyped<protocol::VerifyReply>(workers, std::move(call), &protocol::ParseVerifyReply,
                                   std::move(done));
}

void Measure(Workers& workers, const protocol::MeasureRequest& request, int lane,
             base::Callback<protocol::MeasureReply> done) {
  WorkerCall call = MakeCall(
      WorkerKind::kDevice, "measure", protocol::ToJson(request),
      (milliseconds(static_cast<std::int64_t>(request.max_seconds * 1000)) + kMeasureGrace) *
              CasesOf(request.set) +
          kMeasureGrace,
      request.set.device);
  call.exclusive = DeviceKind(request.set.device) == "host";
  call.lane = lane;
  CallTyped<protocol::MeasureReply>(workers, std::move(call), &protocol::ParseMeasureReply,
                                    std::move(done));
}

// For each case two programs, each as often as there are counters, after the GPU was waited for.
static milliseconds ProfileLimit(const protocol::ProfileRequest& request) {
  constexpr double kPasses = 200;
  double us = 0;
  for (const records::CaseResult& result : request.cases) {
    us += kPasses * (result.original_us + result.variant_us);
  }
  const auto cases = static_cast<std::int64_t>(request.set.workload.cases.size());
  return kMeasureGrace * (1 + cases) + milliseconds(static_cast<std::int64_t>(us / 1000));
}

void Profile(Workers& workers, const protocol::ProfileRequest& request, int lane, bool passing,
             base::Callback<protocol::ProfileReply> done) {
  WorkerCall call = MakeCall(WorkerKind::kDevice, "profile", protocol::ToJson(request),
                             ProfileLimit(request), request.set.device);
  call.lane = lane;
  call.passing = passing;
  CallTyped<protocol::ProfileReply>(workers, std::move(call), &protocol::ParseProfileReply,
                                    std::move(done));
}

namespace {

void CallReplay(Workers& workers, const protocol::ReplayRequest& request, int lane,
                base::Callback<protocol::ReplayReply> done) {
  WorkerCall call = MakeCall(
      WorkerKind::kDevice, "replay", protocol::ToJson(request),
      (milliseconds(static_cast<std::int64_t>(request.max_seconds * 1000)) + kVerifyLimit) *
          CasesOf(request.set),
      request.set.device);
  call.lane = lane;
  call.passing = lane > 0;
  call.kernel = request.set.kernel.key;
  CallTyped<protocol::ReplayReply>(workers, std::move(call), &protocol::ParseReplayReply,
                                   std::move(done));
}

// Cases that are replayed in calls of their own, one after another.
struct LoneReplays {
  Workers& workers;
  protocol::ReplayRequest request;
  int lane;
  std::vector<records::Case> cases;  // that are left, the next one last
  base::Callback<protocol::ReplayReply> done;
  protocol::ReplayReply reply = {};
};

void ReplayNext(std::unique_ptr<LoneReplays> lone) {
  if (lone->cases.empty()) return lone->done(std::move(lone->reply));
  lone->request.set.workload.cases = {std::move(lone->cases.back())};
  lone->cases.pop_back();
  const protocol::ReplayRequest request = lone->request;
  Workers& workers = lone->workers;
  const int lane = lone->lane;
  CallReplay(workers, request, lane,
             [lone = std::move(lone)](base::Result<protocol::ReplayReply> reply) mutable {
               if (!reply && SaysNothing(reply.error())) {
                 return lone->done(base::Fail(std::move(reply.error())));
               }
               const std::string& name = lone->request.set.workload.cases.at(0).name;
               if (!reply) {
                 lone->reply.cases.push_back(protocol::NotReplayed(name, reply.error()));
               } else {
                 for (auto& one : reply->cases) lone->reply.cases.push_back(std::move(one));
               }
               ReplayNext(std::move(lone));
             });
}

}  // namespace

void Replay(Workers& workers, const protocol::ReplayRequest& request, int lane,
            base::Callback<protocol::ReplayReply> done) {
  CallReplay(workers, request, lane,
             [&workers, request = request, lane,
              done = std::move(done)](base::Result<protocol::ReplayReply> reply) mutable {
               if (reply || SaysNothing(reply.error())) return done(std::move(reply));
               std::vector<records::Case> cases = request.set.workload.cases;
               if (cases.size() == 1) {
                 protocol::ReplayReply one;
                 one.cases.push_back(protocol::NotReplayed(cases[0].name, reply.error()));
                 return done(std::move(one));
               }
               std::reverse(cases.begin(), cases.end());
               ReplayNext(std::make_unique<LoneReplays>(LoneReplays{
                   workers, std::move(request), lane, std::move(cases), std::move(done)}));
             });
}

void BeginDevice(Workers& workers, const std::string& device, const std::string& artifact_folder) {
  workers.Call(
      MakeCall(WorkerKind::kDevice, "begin", {{"device", device}, {"artifacts", artifact_folder}},
               kDescribeLimit, device),
      [](const base::Result<records::Json>&) {});
}

void PrepareDevice(Workers& workers, const protocol::CandidateSet& set) {
  WorkerCall call =
      MakeCall(WorkerKind::kDevice, "prepare", protocol::ToJson(set), kMeasureGrace, set.device);
  call.kernel = set.kernel.key;
  workers.Call(std::move(call), [](const base::Result<records::Json>&) {});
}

void DescribeDevice(Workers& workers, const std::string& device,
                    base::Callback<DeviceDescription> done) {
  CallTyped<DeviceDescription>(
      workers,
      AnsweringQuestions(MakeCall(WorkerKind::kDevice, "describe_device",
                                  records::Json{{"device", device}}, kDescribeLimit, device)),
      &ParseDescription,
      [device, done = std::move(done)](base::Result<DeviceDescription> reply) mutable {
        if (reply) reply->name = device;
        const bool is_host = reply && reply->device.arch.rfind("host-", 0) == 0;
        if (is_host && DeviceKind(device) != "host") {
          return done(base::Fail(base::Unavailable("there is no device '" + device + "' here")));
        }
        done(std::move(reply));
      });
}

void FindArchitecture(Workers& workers, base::Callback<std::string> done) {
  CallTyped<std::string>(workers,
                         AnsweringQuestions(MakeCall(WorkerKind::kMonitor, "architectures",
                                                     records::Json::object(), kDescribeLimit)),
                         &ParseOneArchitecture, std::move(done));
}

void ListGpus(Workers& workers, base::Callback<GpuList> done) {
  // A process of its own, so that the host's has no driver in it.
  CallTyped<GpuList>(workers,
                     AnsweringQuestions(MakeCall(WorkerKind::kDevice, "list_devices",
                                                 records::Json::object(), kDescribeLimit, "cuda")),
                     &ParseGpuList, std::move(done));
}

std::string DeviceKind(const std::string& device) {
  return device.rfind("cuda", 0) == 0 ? "cuda" : "host";
}

}  // namespace cupilot::evaluate
