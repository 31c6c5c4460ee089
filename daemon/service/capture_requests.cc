#include "service/capture_requests.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "base/file.h"
#include "service/documents.h"

namespace cupilot::service {
namespace {

using records::Json;
using workloads::Captured;

// What recording and replaying need, without the texts. Whether its tag has a workload is said
// beside it.
Json Outline(const records::Kernel& kernel, bool declared) {
  records::Kernel outline = kernel;
  outline.closure_source.clear();
  outline.closure_macros.clear();
  outline.closure.clear();
  outline.names.clear();
  outline.macros_back.clear();
  outline.cases.clear();
  for (records::MadeType& type : outline.made_types) type.text.clear();
  Json json = records::ToJson(outline);
  json["has_workload"] = declared;
  return json;
}

Json RowOf(const Captured& captured) {
  std::int64_t cases = static_cast<std::int64_t>(captured.cases.size());
  const workloads::CapturedReplays replays = captured.WeakestReplays();
  const auto not_reproducible =
      std::count_if(replays.begin(), replays.end(),
                    [](const auto& replay) { return !replay.second.reason.empty(); });
  return {{"kernel", captured.kernel},
          {"file", captured.file},
          {"program", captured.program},
          {"device", captured.device},
          {"date", captured.date},
          {"synthetic", captured.synthetic},
          {"calls", captured.Calls()},
          {"microseconds", captured.Microseconds()},
          {"geometries", captured.launches.size()},
          {"cases", cases},
          {"not_reproducible", not_reproducible}};
}

Json RowsOf(const std::vector<GoneWorkload>& all) {
  Json rows = Json::array();
  for (const GoneWorkload& gone : all) {
    rows.push_back({{"kernel", gone.kernel}, {"file", gone.file}, {"reason", gone.why}});
  }
  return rows;
}

// What had no room of the kernel that the project names so; null: nothing.
const GoneWorkload* FindGone(Service& service, const std::string& name, const std::string& folder) {
  const auto place = FindKernel(service, name, folder);
  if (!place) return nullptr;
  return service.captured().FindGone(place->kernel->file, records::LabelOf(*place->kernel));
}

// By a label, a suffix of one, or as the project names its kernels.
base::Result<const Captured*> FindCaptured(Service& service, const std::string& name,
                                           const std::string& folder) {
  if (const auto place = FindKernel(service, name, folder)) {
    const Captured* captured = service.captured().Find(*place->kernel);
    if (captured != nullptr) return captured;
  }
  const Captured* found = nullptr;
  for (const Captured* captured : service.captured().All()) {
    if (!records::NamesKernel(name, captured->kernel)) continue;
    // With other parameters in another target: the one that takes more time.
    if (found != nullptr && found->file == captured->file && found->kernel == captured->kernel) {
      if (captured->Microseconds() > found->Microseconds()) found = captured;
      continue;
    }
    if (found != nullptr) {
      return base::Fail(base::InvalidArgument("'" + name + "' is ambiguous: " + found->kernel +
                                              " (" + found->file + "), " + captured->kernel + " (" +
                                              captured->file + ")"));
    }
    found = captured;
  }
  if (found != nullptr) return found;
  if (const GoneWorkload* gone = FindGone(service, name, folder)) {
    return base::Fail(base::NotFound("the captured workload of " + gone->kernel + " " + gone->why));
  }
  return base::Fail(base::NotFound("nothing was captured of '" + name +
                                   "'; `cupilot workload list` shows what was"));
}

}  // namespace

base::Result<Json> CapturePlanDocument(Service& service, const Json& params) {
  const std::string folder = records::TextAt(params, "folder");
  const std::string wanted = records::TextAt(params, "kernel");
  Json document = {{"schema", "cupilot.capture_plan/1"}, {"kernels", Json::array()}};
  bool complete = true;
  bool project = false;
  // Targets with other macros may give other parameters to a kernel.
  std::set<std::tuple<std::string, std::string, std::string>> listed;
  for (const auto& [object, state] : service.objects()) {
    if (!InProject(service, state, folder)) continue;
    project = true;
    complete = complete && !state.stale && !state.scanning;
    if (state.scan == nullptr) continue;
    for (const records::Kernel& kernel : state.scan->kernels) {
      const std::string& label = records::LabelOf(kernel);
      if (!wanted.empty() && !records::NamesKernel(wanted, kernel)) continue;
      if (!listed.emplace(kernel.file, label, kernel.signature).second) continue;
      document["kernels"].push_back(
          Outline(kernel, state.scan->declared.count(records::LabelOf(kernel)) != 0));
    }
  }
  if (!project) {
    return base::Fail(base::NotFound("no tuned project contains " + folder +
                                     "; configure and build it once, and run this in its folder"));
  }
  document["complete"] = complete;
  return document;
}

base::Result<Json> AddCaptures(Service& service, const Json& params) {
  TRY_ASSIGN(const std::string text, base::ReadFile(records::TextAt(params, "file")));
  TRY_ASSIGN(const Json document, records::ParseJson(text));
  const auto list = document.find("captures");
  if (list == document.end() || !list->is_array()) {
    return base::Fail(
        base::InvalidArgument(records::TextAt(params, "file") + ": captures: missing"));
  }
  if (const auto untagged = document.find("untagged");
      untagged != document.end() && untagged->is_array()) {
    TRY(service.captured().SaveUntagged(SourceFolderOf(service, records::TextAt(params, "folder")),
                                        *untagged));
  }
  std::vector<std::string> labels;
  Json problems = Json::array();
  std::vector<Captured> all;
  for (const Json& entry : *list) {
    auto captured = workloads::ParseCaptured(entry);
    if (captured) {
      labels.push_back(captured->kernel);
      all.push_back(std::move(*captured));
    } else {
      // The others' are as good as before.
      problems.push_back(records::TextAt(entry, "kernel") + ": " + captured.error().message);
    }
  }
  TRY_ASSIGN(const CapturesTaken taken, service.AddCaptured(all));
  for (const auto* some : {&taken.not_kept, &taken.dropped}) {
    for (const GoneWorkload& gone : *some) {
      problems.push_back("the captured workload of " + gone.kernel + " " + gone.why);
    }
  }
  for (const GoneWorkload& gone : taken.not_kept) {
    std::erase(labels, gone.kernel);
  }
  return Json{{"schema", "cupilot.workloads_added/1"},
              {"kernels", labels},
              {"not_kept", RowsOf(taken.not_kept)},
              {"dropped", RowsOf(taken.dropped)},
              {"problems", std::move(problems)}};
}

base::Result<Json> WorkloadListDocument(Service& service, const Json& params) {
  const std::string folder = records::TextAt(params, "folder");
  // Where the user stands in a project, what was captured of its kernels; else all.
  std::set<std::pair<std::string, std::string>> wanted;
  bool project = false;
  for (const auto& [object, state] : service.objects()) {
    if (!InProject(service, state, folder)) continue;
    project = true;
    if (state.scan == nullptr) continue;
    for (const records::Kernel& kernel : state.scan->kernels) {
      wanted.emplace(kernel.file, records::LabelOf(kernel));
    }
  }
  Json document = {{"schema", "cupilot.workload_list/1"}, {"workloads", Json::array()}};
  for (const Captured* captured : service.captured().All()) {
    if (project && wanted.count({captured->file, captured->kernel}) == 0) continue;
    document["workloads"].push_back(RowOf(*captured));
  }
  return document;
}

base::Result<Json> WorkloadDocument(Service& service, const Json& params) {
  TRY_ASSIGN(const Captured* captured, FindCaptured(service, records::TextAt(params, "kernel"),
                                                    records::TextAt(params, "folder")));
  return workloads::ToJson(*captured);
}

base::Result<Json> DropWorkload(Service& service, const Json& params) {
  const std::string name = records::TextAt(params, "kernel");
  const std::string folder = records::TextAt(params, "folder");
  const auto found = FindCaptured(service, name, folder);
  // That it had no room need not be said any more.
  const GoneWorkload* gone = found ? nullptr : FindGone(service, name, folder);
  if (!found && gone == nullptr) return base::Fail(found.error());
  const std::string file = found ? (*found)->file : gone->file;
  const std::string label = found ? (*found)->kernel : gone->kernel;
  TRY(service.DropCaptured(file, label));
  return Json{{"schema", "cupilot.workload_dropped/1"}, {"kernel", label}};
}

}  // namespace cupilot::service
