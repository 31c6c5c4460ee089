#include "service/status_document.h"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "service/job_text.h"
#include "service/models.h"

namespace cupilot::service {
namespace {

using records::Json;

std::string Seconds(std::int64_t wall_ns) {
  return base::FormatDate(std::chrono::nanoseconds(wall_ns));
}

// With who uses it, and how well we do: a GPU should not wait for builds.
Json GpuJson(const Service& service, const evaluate::DeviceDescription& gpu,
             const evaluate::WorkerCounters& counters) {
  Json json = DeviceJson(gpu);
  const GpuJudgement* activity = service.Activity(gpu.name);
  json["state"] = activity == nullptr ? "not needed" : Name(activity->state);
  json["why"] = activity == nullptr ? "" : activity->reason;
  const auto found = counters.devices.find(gpu.name);
  const auto of =
      found == counters.devices.end() ? evaluate::WorkerCounters::PerDevice() : found->second;
  const GpuLoad* load = service.LoadOf(gpu.name);
  const bool sampled = load != nullptr && load->sampled.count() > 0;
  const double share = sampled ? load->share : of.BusyShare();
  const std::chrono::duration<double> tuning = sampled ? load->sampled : of.open;
  json["busy_share"] = share;
  json["busy_seconds"] = share * tuning.count();
  json["tuning_seconds"] = tuning.count();
  json["waiting"] = of.waiting;
  json["builds_waiting"] = of.builds_waiting;
  json["spent_seconds"] = Json::object();
  for (const char* purpose : {evaluate::kLooking, evaluate::kProving, evaluate::kBuilding,
                              evaluate::kInterrupted, evaluate::kForTurn}) {
    const auto spent = of.spent.find(purpose);
    const std::chrono::duration<double> seconds =
        spent == of.spent.end() ? std::chrono::nanoseconds(0) : spent->second;
    json["spent_seconds"][purpose] = seconds.count();
  }
  json["left_seconds"] = Json::object();
  if (load != nullptr) {
    for (const auto& [state, time] : load->left) {
      json["left_seconds"][Name(state)] = std::chrono::duration<double>(time).count();
    }
  }
  return json;
}

Json WorkersJson(const evaluate::WorkerCounters& counters) {
  Json workers;
  for (const auto kind : {evaluate::WorkerKind::kSource, evaluate::WorkerKind::kBuild,
                          evaluate::WorkerKind::kDevice}) {
    const auto& of = counters.Of(kind);
    workers[evaluate::Name(kind)] = {
        {"started", of.started}, {"requests", of.requests},
        {"crashed", of.crashed}, {"timed_out", of.timed_out},
        {"garbled", of.garbled}, {"waiting", of.waiting},
        {"running", of.running}, {"busy_seconds", std::chrono::duration<double>(of.busy).count()}};
  }
  workers["measuring_seconds"] = std::chrono::duration<double>(counters.exclusive_busy).count();
  return workers;
}

Json ProjectsJson(Service& service) {
  Json projects = Json::array();
  for (const auto& [folder, project] : service.projects()) {
    std::int64_t kernels = 0;
    Json warnings = Json::array();
    std::set<std::string> code;  // what builds lack for this machine's GPUs
    const ObjectScan* slowest = nullptr;
    for (const auto& [name, state] : service.objects()) {
      if (state.build_folder != folder) continue;
      for (const Place& place : state.places.places) {
        if (!place.note.empty()) code.insert(place.identity.name + ": " + place.note);
      }
      if (!state.places.why_none.empty()) code.insert(state.places.why_none);
      if (!state.problem.empty()) {
        warnings.push_back(state.object.command.source + ": " + state.problem);
      }
      if (state.scan == nullptr) continue;
      kernels += static_cast<std::int64_t>(state.scan->kernels.size());
      if (slowest == nullptr || state.scan->seconds > slowest->seconds) slowest = state.scan.get();
      for (const std::string& warning : state.scan->warnings) warnings.push_back(warning);
      for (const records::Kernel& kernel : state.scan->kernels) {
        const std::string why = WhyNotTuned(service, state, kernel);
        const auto& said = state.scan->warnings;
        const auto is_said = [&](const std::string& one) { return why.starts_with(one); };
        if (why.empty() || std::any_of(said.begin(), said.end(), is_said)) continue;
        warnings.push_back(records::LabelOf(kernel) + ": " + why);
      }
    }
    projects.push_back(
        {{"build_folder", folder},
         {"source_folder", project.source_folder},
         {"kernels", kernels},
         {"code", code},
         {"slowest_read", slowest == nullptr ? Json()
                                             : Json{{"source", slowest->object.command.source},
                                                    {"seconds", slowest->seconds}}},
         {"warnings", warnings}});
  }
  return projects;
}

}  // namespace

std::string WhyNotTuned(const Service& service, const ObjectState& state,
                        const records::Kernel& kernel) {
  if (kernel.declined.empty() && kernel.cases.empty()) {
    const std::string note =
        service.capture_tests().Note({state.build_folder, state.target.capture_test});
    const auto dropped = state.scan->dropped.find(records::LabelOf(kernel));
    if (dropped != state.scan->dropped.end() && !dropped->second.empty()) {
      return dropped->second + (note.empty() ? "" : "; " + note);
    }
    if (!note.empty()) {
      return kernel.file + ":" + std::to_string(kernel.line) + ": no workload: " + note;
    }
  }
  return WhyUntuned(kernel, service.FindJob(state, kernel), state.places.why_none);
}

Json DeviceJson(const evaluate::DeviceDescription& description) {
  Json device;
  device["device"] = description.name;
  device["name"] = description.device.name;
  device["arch"] = description.device.arch;
  device["sm_count"] = description.device.sm_count;
  device["memory_bytes"] = description.device.memory_bytes;
  const bool host = evaluate::DeviceKind(description.name) == "host";
  device["times"] = host ? "CPU times" : "device times";
  return device;
}

Json StatusDocument(Service& service) {
  Json status;
  status["schema"] = "cupilot.status/1";
  status["version"] = CUPILOT_VERSION;
  status["pid"] = ::getpid();
  status["uptime_seconds"] = std::chrono::duration<double>(service.Uptime()).count();
  const std::string reason = service.IdleReason();
  const bool paused = reason == kSnoozed || reason == "build running" || reason == "gpu in use";
  status["state"] = paused ? "paused" : reason.empty() ? "tuning" : "idle";
  status["idle_reason"] = reason;
  status["snoozed_until"] = reason == kSnoozed ? Json(Seconds(service.snoozed_until())) : Json();
  const auto& gpus = service.gpus().gpus;
  const evaluate::WorkerCounters worker_counters = service.worker_counters();
  status["device"] = DeviceJson(gpus.empty() ? service.host() : gpus[0]);
  status["devices"] = Json::array({DeviceJson(service.host())});
  for (const evaluate::DeviceDescription& gpu : gpus) {
    status["devices"].push_back(GpuJson(service, gpu, worker_counters));
  }
  status["no_gpu"] = service.gpus().reason;
  status["projects"] = ProjectsJson(service);
  status["unread"] = service.Unread();
  const Counters& counters = service.counters();
  status["counters"] = {{"scans", counters.scans},
                        {"evaluations", counters.evaluations},
                        {"accepted", counters.accepted},
                        {"published", counters.published}};
  const CaptureId* capture = service.capture_tests().running();
  status["capturing"] =
      capture == nullptr ? Json()
                         : Json{{"test", capture->test}, {"build_folder", capture->build_folder}};
  status["models"] = ModelsStatusJson(service);
  status["workers"] = WorkersJson(worker_counters);
  status["now"] = Json::array();
  for (const KernelJob* job : service.BusyJobs()) {
    status["now"].push_back({{"kernel", records::LabelOf(job->input().kernel)},
                             {"stage", job->stage()},
                             {"title", job->title()}});
  }
  return status;
}

}  // namespace cupilot::service
