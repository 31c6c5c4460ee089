#include "service/documents.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/file.h"

namespace cupilot::service {
namespace {

using records::Json;

bool InProject(Service& service, const ObjectState& state, const std::string& folder) {
  if (folder.empty()) return true;
  const auto it = service.projects().find(state.build_folder);
  if (it == service.projects().end()) return false;
  const Project& project = it->second;
  const auto contains = [&](const std::string& root) {
    return !root.empty() && (folder == root || folder.rfind(root + "/", 0) == 0);
  };
  return contains(project.build_folder) || contains(project.source_folder);
}

bool AnyProjectContains(Service& service, const std::string& folder) {
  return std::any_of(service.objects().begin(), service.objects().end(),
                     [&](const auto& entry) { return InProject(service, entry.second, folder); });
}

std::string Seconds(std::int64_t wall_ns) {
  return base::FormatDate(std::chrono::nanoseconds(wall_ns));
}

std::string StateOf(const records::Kernel& kernel, const KernelJob* job) {
  if (!kernel.declined.empty()) return "declined";
  if (kernel.cases.empty()) return "no workload";
  if (job == nullptr || (!job->busy() && job->search() == nullptr && !job->finished())) {
    return "waiting";
  }
  if (!job->failure().empty()) return "declined";
  return job->finished() ? "done" : "tuning";
}

std::string WhyOf(const records::Kernel& kernel, const KernelJob* job) {
  if (!kernel.declined.empty()) return kernel.declined;
  if (kernel.cases.empty()) {
    return kernel.file + ":" + std::to_string(kernel.line) +
           ": no workload: add a line '// cupilot: workload ...' above the kernel";
  }
  return job == nullptr ? "" : job->failure();
}

Json RowOf(Service& service, const ObjectState& state, const records::Kernel& kernel) {
  const KernelJob* job = service.FindJob(kernel);
  std::int64_t tried = 0, accepted = 0;
  if (job != nullptr && job->search() != nullptr) {
    for (const search::Idea& idea : job->search()->ideas()) {
      if (!idea.outcome) continue;
      ++tried;
      accepted += idea.outcome->kind == search::Outcome::Kind::kAccepted ? 1 : 0;
    }
  }
  const auto best = service.catalog().Best(kernel.key, WorkloadOf(kernel), "");
  Json row;
  row["kernel"] = kernel.name;
  row["file"] = kernel.file;
  row["line"] = kernel.line;
  row["project"] = state.build_folder;
  row["target"] = state.target.name;
  row["state"] = StateOf(kernel, job);
  row["tried"] = tried;
  row["accepted"] = accepted;
  row["speedup"] = best ? Json(best->evaluation.speedup.value_or(1.0)) : Json();
  row["strategy"] = best && best->variant.strategy ? best->variant.strategy->title : "";
  row["published"] = best.has_value() && !state.published.empty();
  row["why"] = WhyOf(kernel, job);
  return row;
}

Json DeviceJson(const evaluate::DeviceDescription& description) {
  Json device;
  device["name"] = description.device.name;
  device["arch"] = description.device.arch;
  device["sm_count"] = description.device.sm_count;
  device["memory_bytes"] = description.device.memory_bytes;
  const bool host = description.device.arch.rfind("host-", 0) == 0;
  device["times"] = host ? "CPU times" : "device times";
  return device;
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
    for (const auto& [name, state] : service.objects()) {
      if (state.build_folder != folder) continue;
      if (!state.problem.empty()) {
        warnings.push_back(state.object.command.source + ": " + state.problem);
      }
      if (state.scan == nullptr) continue;
      kernels += static_cast<std::int64_t>(state.scan->kernels.size());
      for (const std::string& warning : state.scan->warnings) warnings.push_back(warning);
    }
    projects.push_back({{"build_folder", folder},
                        {"source_folder", project.source_folder},
                        {"kernels", kernels},
                        {"warnings", warnings}});
  }
  return projects;
}

Json TriedJson(const KernelJob& job) {
  Json tried = Json::array();
  if (job.search() == nullptr) return tried;
  for (const search::Idea& idea : job.search()->ideas()) {
    if (!idea.outcome) continue;
    static constexpr const char* kVerdicts[] = {"declined", "rejected", "accepted", "failed"};
    Json entry;
    entry["title"] = idea.candidate.strategy.title;
    entry["steps"] = records::ToJson(idea.candidate.strategy)["steps"];
    entry["verdict"] = kVerdicts[static_cast<int>(idea.outcome->kind)];
    entry["reason"] = idea.outcome->reason;
    entry["speedup"] = idea.outcome->speedup ? Json(*idea.outcome->speedup) : Json();
    entry["expected_gain"] = idea.candidate.expected_gain;
    entry["variant"] = idea.outcome->variant;
    tried.push_back(std::move(entry));
  }
  return tried;
}

// One line for the table of what did not get faster.
std::string WhyNot(const records::Kernel& kernel, const KernelJob* job) {
  const std::string why = WhyOf(kernel, job);
  if (!why.empty()) return why;
  if (job == nullptr || job->search() == nullptr) return "not tried yet";
  const search::Idea* closest = nullptr;
  std::int64_t tried = 0;
  for (const search::Idea& idea : job->search()->ideas()) {
    if (!idea.outcome || idea.outcome->kind == search::Outcome::Kind::kDeclined) continue;
    ++tried;
    if (!idea.outcome->speedup) continue;
    if (closest == nullptr || *idea.outcome->speedup > *closest->outcome->speedup) closest = &idea;
  }
  std::string text = std::to_string(tried) + " tried, none proven faster";
  if (closest != nullptr) {
    char speedup[32];
    std::snprintf(speedup, sizeof speedup, "%.2f", *closest->outcome->speedup);
    text += "; closest: " + closest->candidate.strategy.title + " (" + speedup + ", " +
            closest->outcome->reason + ")";
  }
  return text;
}

const records::CaseResult* HeaviestResult(const records::Evaluation& evaluation) {
  return evaluation.cases.empty() ? nullptr : &evaluation.cases[0];
}

}  // namespace

Json StatusDocument(Service& service) {
  Json status;
  status["schema"] = "cupilot.status/1";
  status["version"] = CUPILOT_VERSION;
  status["pid"] = ::getpid();
  status["uptime_seconds"] = std::chrono::duration<double>(service.Uptime()).count();
  const std::string reason = service.IdleReason();
  const bool paused = reason == "snoozed" || reason == "build running";
  status["state"] = paused ? "paused" : reason.empty() ? "tuning" : "idle";
  status["idle_reason"] = reason;
  status["snoozed_until"] = reason == "snoozed" ? Json(Seconds(service.snoozed_until())) : Json();
  status["device"] = DeviceJson(service.device());
  status["projects"] = ProjectsJson(service);
  const Counters& counters = service.counters();
  status["counters"] = {{"scans", counters.scans},
                        {"evaluations", counters.evaluations},
                        {"accepted", counters.accepted},
                        {"published", counters.published}};
  status["workers"] = WorkersJson(service.worker_counters());
  status["now"] = Json::array();
  for (const KernelJob* job : service.BusyJobs()) {
    status["now"].push_back(
        {{"kernel", job->input().kernel.name}, {"stage", job->stage()}, {"title", job->title()}});
  }
  return status;
}

Json ListDocument(Service& service, const std::string& folder) {
  Json list;
  list["schema"] = "cupilot.list/1";
  list["kernels"] = Json::array();
  const std::string narrowed = AnyProjectContains(service, folder) ? folder : "";
  for (const auto& [name, state] : service.objects()) {
    if (state.scan == nullptr || !InProject(service, state, narrowed)) continue;
    for (const records::Kernel& kernel : state.scan->kernels) {
      list["kernels"].push_back(RowOf(service, state, kernel));
    }
  }
  return list;
}

base::Result<KernelPlace> FindKernel(Service& service, const std::string& name,
                                     const std::string& folder) {
  std::string file;
  std::int64_t line = 0;
  const std::size_t colon = name.rfind(':');
  if (colon != std::string::npos && colon + 1 < name.size()) {
    const char* end = name.data() + name.size();
    if (std::from_chars(name.data() + colon + 1, end, line).ptr == end) {
      file = base::AbsolutePath(name.substr(0, colon), folder);
    }
  }
  const std::string narrowed = AnyProjectContains(service, folder) ? folder : "";
  std::vector<KernelPlace> found;
  for (const auto& [object, state] : service.objects()) {
    if (state.scan == nullptr || !InProject(service, state, narrowed)) continue;
    for (const records::Kernel& kernel : state.scan->kernels) {
      const std::string& full = kernel.name;
      const bool suffix = full.size() > name.size() + 2 &&
                          full.compare(full.size() - name.size() - 2, 2, "::") == 0 &&
                          full.compare(full.size() - name.size(), name.size(), name) == 0;
      const bool place = !file.empty() && kernel.file == file && kernel.line >= line - 1 &&
                         kernel.line <= line + 1;
      if (full == name || suffix || place) found.push_back({&state, &kernel});
    }
  }
  if (found.empty()) {
    return base::Fail(base::NotFound("no tagged kernel '" + name +
                                     "' is known here; `cupilot list` shows those that are"));
  }
  const auto differs = [&](const KernelPlace& other) {
    return other.kernel->key != found[0].kernel->key || other.kernel->name != found[0].kernel->name;
  };
  if (std::any_of(found.begin(), found.end(), differs)) {
    std::string candidates;
    for (const KernelPlace& place : found) {
      candidates += "\n  " + place.kernel->name + " (" + place.kernel->file + ":" +
                    std::to_string(place.kernel->line) + ")";
    }
    return base::Fail(base::InvalidArgument("'" + name + "' is ambiguous:" + candidates));
  }
  return found[0];
}

Json ExplainDocument(Service& service, const KernelPlace& place) {
  const records::Kernel& kernel = *place.kernel;
  const KernelJob* job = service.FindJob(kernel);
  Json document = RowOf(service, *place.object, kernel);
  document["schema"] = "cupilot.explain/1";
  document["kernel_key"] = kernel.key;
  document["device"] = DeviceJson(service.device());
  const auto best = service.catalog().Best(kernel.key, WorkloadOf(kernel), "");
  document["verdict"] = best ? "accepted" : "original";
  document["why_not"] = best ? "" : WhyNot(kernel, job);
  for (const char* key :
       {"floor_us", "original_us", "variant_us", "interval", "guard", "evaluation"}) {
    document[key] = nullptr;
  }
  if (best) {
    document["guard"] = best->evaluation.guard;
    document["evaluation"] = records::ToJson(best->evaluation);
    if (best->evaluation.interval) document["interval"] = *best->evaluation.interval;
    if (const auto* result = HeaviestResult(best->evaluation)) {
      document["floor_us"] = result->floor_us > 0 ? Json(result->floor_us) : Json();
      document["original_us"] = result->original_us;
      document["variant_us"] = result->variant_us;
    }
  }
  document["tried"] = job == nullptr ? Json::array() : TriedJson(*job);
  document["declined"] = Json::array();
  if (job != nullptr) {
    for (const search::Opinion& opinion : job->opinions()) {
      if (opinion.applies) continue;
      document["declined"].push_back(
          {{"technique", opinion.technique}, {"reason", opinion.reason}});
    }
  }
  document["warnings"] = place.object->scan->warnings;
  return document;
}

base::Result<Json> BestDocument(Service& service, const KernelPlace& place,
                                const std::string& arch) {
  const records::Kernel& kernel = *place.kernel;
  const auto best = service.catalog().Best(kernel.key, WorkloadOf(kernel), "");
  if (!best || (!arch.empty() && best->evaluation.device.arch != arch)) {
    return base::Fail(base::NotFound("nothing is proven faster than the original of " +
                                     kernel.name + (arch.empty() ? "" : " on " + arch)));
  }
  return Json{{"schema", "cupilot.best/1"},
              {"variant", records::ToJson(best->variant)},
              {"evaluation", records::ToJson(best->evaluation)}};
}

Json HistoryDocument(Service& service, const KernelPlace& place) {
  Json document = {{"schema", "cupilot.history/1"},
                   {"kernel", place.kernel->name},
                   {"evaluations", Json::array()}};
  for (const records::Evaluation& evaluation : service.catalog().Evaluations(place.kernel->key)) {
    document["evaluations"].push_back(records::ToJson(evaluation));
  }
  return document;
}

}  // namespace cupilot::service
