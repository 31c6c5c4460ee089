// cupilot-worker --kind source|build|device|monitor|run: answers requests, one JSON line each
// (protocol/worker_messages.h), until its input ends.
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <iostream>
#include <limits>
#include <string>

#include "device/cuda/nvrtc.h"
#include "device/describe.h"
#include "protocol/compare_object.h"
#include "protocol/replay.h"
#include "protocol/worker_messages.h"
#include "source/ahead.h"
#include "source/rewrite/techniques.h"
#include "source/scan.h"
#include "source/syntax/file_snapshot.h"
#include "source/twin.h"
#include "source/whitelist.h"
#include "worker/build_cuda.h"
#include "worker/build_host.h"
#include "worker/compare_object.h"
#include "worker/device_turn.h"
#include "worker/error_reply.h"
#include "worker/lease.h"
#include "worker/measure.h"
#include "worker/monitor.h"
#include "worker/profile.h"
#include "worker/replay.h"
#include "worker/runner.h"
#include "worker/sandbox/inner.h"
#include "worker/sandbox/sandbox.h"
#include "worker/verify.h"

namespace cupilot::worker {
namespace {

using records::Json;

struct Row {
  const char* kind;
  const char* op;
  base::Result<Json> (*handle)(const Json& params);
};

template <class Request, class Reply, base::Result<Request> (*Parse)(const Json&),
          base::Result<Reply> (*Run)(const Request&)>
base::Result<Json> Handle(const Json& params) {
  TRY_ASSIGN(const Request request, Parse(params));
  TRY_ASSIGN(const Reply reply, Run(request));
  return protocol::ToJson(reply);
}

// The request that is worked on.
Json current_id;

base::Result<Json> HandleVerify(const Json& params) {
  TRY_ASSIGN(const protocol::VerifyRequest request, protocol::ParseVerifyRequest(params));
  TRY_ASSIGN(const protocol::VerifyReply reply, Verify(request, [](const Json& passed) {
               std::cout << LineOf({{"id", current_id}, {"passed", passed}}) << std::endl;
             }));
  return protocol::ToJson(reply);
}

Json ToJson(const device::Properties& p) {
  return {{"name", p.name},         {"arch", p.architecture},
          {"sm_count", p.sm_count}, {"memory_bytes", p.memory_bytes},
          {"driver", p.driver},     {"uuid", p.uuid}};
}

base::Result<Json> DescribeDevice(const Json& params) {
  TRY_ASSIGN(const device::Properties p, device::DescribeDevice(params.value("device", "host")));
  Json json = ToJson(p);
  json["sandbox"] = DescribeSandbox();
  json["sandbox_lacks"] = WhatSandboxLacks();
  return json;
}

base::Result<Json> ListDevices(const Json&) {
  Json reply = {{"devices", Json::array()}, {"reason", ""}};
  const auto gpus = device::ListGpus();
  if (!gpus) {
    reply["reason"] = gpus.error().message;
    return reply;
  }
  for (const device::Gpu& gpu : *gpus) {
    Json json = ToJson(gpu.properties);
    json["device"] = gpu.device;
    reply["devices"].push_back(std::move(json));
  }
  return reply;
}

// {"toolkits": [folders]}: the NVRTC that builds for a GPU would use.
base::Result<Json> DescribeNvrtc(const Json& params) {
  std::string missing;
  Json toolkits = params.value("toolkits", Json::array());
  toolkits.push_back("");  // on the loader's path
  for (const Json& toolkit : toolkits) {
    const auto nvrtc = device::cuda::OpenNvrtc(toolkit.get<std::string>());
    if (nvrtc) return Json{{"version", nvrtc->version}};
    if (missing.empty()) missing = nvrtc.error().message;
  }
  return base::Fail(base::Unavailable(missing));
}

// {"command": ...}: of which sources will be scanned; their architecture does not matter.
base::Result<Json> BeginSource(const Json& params) {
  TRY_ASSIGN(const records::CompileCommand command,
             records::ParseCompileCommand(params.value("command", Json())));
  TRY_ASSIGN(const source::CommandFlags flags, source::TranslateCommand(command));
  source::BeginClosureHeaders(flags);
  return Json::object();
}

base::Result<Json> KeepUnit(const Json& params) {
  TRY_ASSIGN(const protocol::ScanRequest request, protocol::ParseScanRequest(params));
  TRY(source::KeepForCandidates(request));
  return Json::object();
}

base::Result<Json> BeginBuilds(const Json& params) {
  TRY_ASSIGN(const protocol::BuildRequest request, protocol::ParseBuildRequest(params));
  if (request.device != "host") TRY(BeginCuda(request));
  return Json::object();
}

base::Result<protocol::BuildReply> Build(const protocol::BuildRequest& request) {
  return request.device == "host" ? BuildHost(request) : BuildCuda(request);
}

const Row kRows[] = {
    {"source", "scan",
     &Handle<protocol::ScanRequest, protocol::ScanReply, protocol::ParseScanRequest, source::Scan>},
    {"source", "begin", &BeginSource},
    {"source", "keep_unit", &KeepUnit},
    {"source", "rewrite",
     &Handle<protocol::RewriteRequest, protocol::RewriteReply, protocol::ParseRewriteRequest,
             source::Rewrite>},
    {"source", "propose",
     &Handle<protocol::ProposeRequest, protocol::ProposeReply, protocol::ParseProposeRequest,
             source::Propose>},
    {"source", "retune",
     &Handle<protocol::RetuneRequest, protocol::RewriteReply, protocol::ParseRetuneRequest,
             source::Retune>},
    {"source", "twin",
     &Handle<protocol::TwinRequest, protocol::TwinReply, protocol::ParseTwinRequest, source::Twin>},
    {"source", "check_variant",
     &Handle<protocol::CheckVariantRequest, protocol::CheckVariantReply,
             protocol::ParseCheckVariantRequest, source::CheckVariant>},
    {"build", "build",
     &Handle<protocol::BuildRequest, protocol::BuildReply, protocol::ParseBuildRequest, Build>},
    {"build", "compare_object",
     &Handle<protocol::CompareObjectRequest, protocol::CompareObjectReply,
             protocol::ParseCompareObjectRequest, CompareObject>},
    {"build", "begin", &BeginBuilds},
    {"build", "describe_nvrtc", &DescribeNvrtc},
    {"device", "verify", &HandleVerify},
    {"device", "measure",
     &Handle<protocol::MeasureRequest, protocol::MeasureReply, protocol::ParseMeasureRequest,
             Measure>},
    {"device", "begin", &BeginDevice},
    {"device", "prepare", &PrepareDevice},
    {"device", "profile",
     &Handle<protocol::ProfileRequest, protocol::ProfileReply, protocol::ParseProfileRequest,
             Profile>},
    {"device", "replay",
     &Handle<protocol::ReplayRequest, protocol::ReplayReply, protocol::ParseReplayRequest, Replay>},
    {"device", "describe_device", &DescribeDevice},
    {"device", "list_devices", &ListDevices},
    {"monitor", "sample", &Sample},
    {"monitor", "architectures", &Architectures},
};

// Whether an operation of a device worker leaves a context that is being made alone.
bool MakesOrAsks(const std::string& op) {
  return op == "begin" || op == "prepare" || op == "describe_device" || op == "list_devices";
}

base::Result<Json> Dispatch(const std::string& kind, const Json& request) {
  const std::string op = request.value("op", "");
  if (kind == "device" && !MakesOrAsks(op)) Lease::AwaitContexts();
  for (const Row& row : kRows) {
    if (kind == row.kind && op == row.op)
      return row.handle(request.value("params", Json::object()));
  }
  return base::Fail(base::Unsupported("a " + kind + " worker has no operation '" + op + "'"));
}

// Buffers of a case come and go, and what a compiler or a parser allocates, and pages that the
// kernel has to clear cost more than much of what is done with them: what is freed is kept for the
// next one, until nothing is asked for a while.
void KeepFreedMemory() {
  constexpr int kGrowth = 4 << 20;
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  ::mallopt(M_TOP_PAD, kGrowth);  // asked for in few calls
}
// What one large unit took is not kept for small ones by each of many processes.
void FreeMuchMemory() {
  constexpr std::size_t kMostKept = std::size_t{256} << 20;
  if (::mallinfo2().fordblks > kMostKept) ::malloc_trim(0);
}
void FreeMemoryWhenIdle() {
  constexpr int kIdleMs = 2000;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (std::cin.rdbuf()->in_avail() <= 0 && ::poll(&input, 1, kIdleMs) == 0) ::malloc_trim(0);
}

int Serve(const std::string& kind) {
  ::signal(SIGPIPE, SIG_IGN);        // a runner that has died is an error of the write to it
  std::ios::sync_with_stdio(false);  // so that what is buffered is known
  const bool device = kind == "device";
  const bool monitor = kind == "monitor";  // lives long, and does little
  if (!monitor) KeepFreedMemory();
  for (std::string line;;) {
    if (!monitor && !device) FreeMuchMemory();
    if (!monitor) FreeMemoryWhenIdle();
    if (!std::getline(std::cin, line)) break;
    const auto worked = Runner::AtWork(), waited = WaitedForTurns();
    const auto request = records::ParseJson(line);
    const source::FileSnapshot files;
    current_id = request && request->is_object() ? request->value("id", Json()) : Json();
    auto result =
        request ? Dispatch(kind, *request) : base::Result<Json>(base::Fail(request.error()));
    Json reply;
    if (result) {
      reply["id"] = request->value("id", Json());
      reply["result"] = std::move(*result);
    } else {
      reply = ErrorReply(request, result.error());
    }
    if (device) {
      const auto seconds = [](std::chrono::nanoseconds time) {
        return std::chrono::duration<double>(time).count();
      };
      reply["at_work"] = seconds(Runner::AtWork() - worked);
      reply["waited"] = seconds(WaitedForTurns() - waited);
    }
    std::cout << LineOf(reply) << std::endl;
  }
  return 0;
}

// A worker that cannot be confined does nothing, and says why.
int RefuseAll(const base::Error& error) {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << LineOf(ErrorReply(records::ParseJson(line), error)) << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace cupilot::worker

int main(int argc, char** argv) {
  const bool inner = argc == 5 && std::strcmp(argv[3], "--access") == 0;
  if ((argc != 3 && !inner) || std::strcmp(argv[1], "--kind") != 0) {
    std::fprintf(stderr, "usage: cupilot-worker --kind source|build|device|monitor|run\n");
    return 2;
  }
  const std::string kind = argv[2];
  // What it says on a standard error that is a file meets its limit for files, which is no crash of
  // a kernel.
  if (kind == "run") {
    ::signal(SIGXFSZ, SIG_IGN);
    return cupilot::worker::ServeRuns(inner ? argv[4] : "");
  }
  if (kind == "source" || kind == "build") {
    if (!inner) return cupilot::worker::ServeFromInside(kind);
    if (const auto confined = cupilot::worker::BecomeInner(kind, argv[4]); !confined) {
      return cupilot::worker::RefuseAll(confined.error());
    }
    // Not by way of destructors: they, and a leak checker, would ask for what it may not do.
    std::cout.flush();
    ::_exit(cupilot::worker::Serve(kind));
  }
  for (const char* known : {"device", "monitor"}) {
    if (kind == known) return cupilot::worker::Serve(kind);
  }
  std::fprintf(stderr, "cupilot-worker: there is no kind '%s'\n", kind.c_str());
  return 2;
}
