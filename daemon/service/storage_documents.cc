#include "service/storage_documents.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "cache/keys.h"
#include "cache/record.h"
#include "records/export_file.h"
#include "service/documents.h"

namespace cupilot::service {
namespace {

using cache::Table;
using records::Json;

constexpr std::uint64_t kLargestExport = std::uint64_t{1} << 30;  // bytes of a file
constexpr std::size_t kMostPruneRows = 500;                       // a message holds 1 MiB

base::Result<double> PositiveAt(const Json& params, const char* key) {
  const Json value = params.value(key, Json());
  if (!value.is_number() || !(value.get<double>() >= 0)) {
    return base::Fail(
        base::InvalidArgument(std::string("prune: ") + key + " must be a number and not negative"));
  }
  return value.get<double>();
}

// The project's folders of builds that are meant; none: there is no such project.
std::set<std::string> ProjectsNamed(Service& service, const std::string& name) {
  std::set<std::string> found, by_name, sources;
  for (const auto& [folder, project] : service.projects()) {
    if (folder == name || project.source_folder == name) found.insert(folder);
    if (std::filesystem::path(project.source_folder).filename() == name) {
      by_name.insert(folder);
      sources.insert(project.source_folder);
    }
  }
  return found.empty() && sources.size() == 1 ? by_name : found;
}

std::string ListOfProjects(Service& service) {
  std::string text;
  for (const auto& [folder, project] : service.projects()) {
    text += "\n  " + project.source_folder + " (built in " + folder + ")";
  }
  return text.empty() ? "; none is known" : "; known are:" + text;
}

bool IsPartOf(const Project& project, const std::string& folder) {
  const auto below = [&](const std::string& root) {
    return !root.empty() && (folder == root || folder.starts_with(root + "/"));
  };
  return below(project.build_folder) || below(project.source_folder);
}

// The kernels whose records are to be exported, by key, and what their paths are relative to.
base::Result<std::map<std::string, std::string>> KernelsToExport(Service& service,
                                                                 const std::string& folder,
                                                                 bool all) {
  std::map<std::string, std::string> kernels;
  std::set<std::string> sources;
  bool known = all;
  for (const auto& [build, project] : service.projects()) {
    if (!all && !IsPartOf(project, folder)) continue;
    known = true;
    TRY_ASSIGN(const auto keys, KernelKeysIn(service.store(), {project.source_folder}));
    for (const std::string& key : keys) kernels.emplace(key, project.source_folder);
    for (const auto& [object, state] : service.objects()) {
      if (state.scan == nullptr || state.build_folder != build) continue;
      for (const records::Kernel& kernel : state.scan->kernels) {
        kernels.emplace(kernel.key, project.source_folder);
      }
    }
  }
  if (!known) {
    return base::Fail(base::NotFound("no tuned project contains " + folder +
                                     "; `cupilot export --all` takes everything"));
  }
  if (all) {
    TRY(service.store().Scan(Table::kKernels, "", [&](std::string_view key, std::string_view) {
      kernels.emplace(key, "");
      return true;
    }));
  }
  return kernels;
}

// Below the project relative to it, else its name alone: no path of this machine leaves it.
std::string PortablePath(const std::string& file, const std::string& source_folder) {
  if (!source_folder.empty() && file.starts_with(source_folder + "/")) {
    return file.substr(source_folder.size() + 1);
  }
  return std::filesystem::path(file).filename().string();
}

base::Result<Json> KernelJson(Service& service, const std::string& key,
                              const std::string& source_folder,
                              std::map<std::string, std::string>& workloads) {
  std::map<std::string, Json> variants;
  for (const records::Evaluation& evaluation : service.catalog().Evaluations(key)) {
    Json& entry = variants[evaluation.variant];
    if (entry.is_null()) {
      const auto variant = service.catalog().FindVariant(key, evaluation.variant);
      if (!variant) continue;
      entry = {{"variant", records::ToJson(*variant)}, {"evaluations", Json::array()}};
    }
    workloads.emplace(evaluation.workload, key);
    entry["evaluations"].push_back(records::ToJson(service.outbound().Of(evaluation)));
  }
  Json json = {{"kernel_key", key}, {"variants", Json::array()}};
  for (auto& [id, entry] : variants) {
    if (!entry.is_null()) json["variants"].push_back(std::move(entry));
  }
  TRY_ASSIGN(const auto bytes, service.store().Get(Table::kKernels, key));
  if (bytes) {
    if (const auto record = cache::Unseal(*bytes)) {
      const std::string label = records::TextAt(record->value, "label");
      json["kernel"] = label.empty() ? records::TextAt(record->value, "name") : label;
      json["file"] = PortablePath(records::TextAt(record->value, "file"), source_folder);
      json["line"] = record->value.value("line", Json(0));
    }
  }
  json["marks"] = Json::array();
  for (const Mark& mark : service.catalog().marks().Of(key)) {
    json["marks"].push_back(ToJson(mark));
  }
  return json;
}

// A record of the store.
base::Result<Json> RecordOf(Service& service, Table table, const std::string& key) {
  TRY_ASSIGN(const auto bytes, service.store().Get(table, key));
  if (!bytes) return base::Fail(base::NotFound(key));
  TRY_ASSIGN(cache::Record record, cache::Unseal(*bytes));
  return std::move(record.value);
}

base::Result<records::Workload> WorkloadToExport(Service& service, const std::string& hash,
                                                 const std::string& kernel_key) {
  TRY_ASSIGN(const Json json, RecordOf(service, Table::kWorkloads, hash));
  TRY_ASSIGN(records::Workload workload, records::ParseWorkload(json));
  const auto kernel_json = RecordOf(service, Table::kKernels, kernel_key);
  const auto kernel = kernel_json ? records::ParseKernel(*kernel_json)
                                  : base::Result<records::Kernel>(records::Kernel());
  // Of a kernel that cannot be read the types are not known, and contents become any bits.
  return service.outbound().Of(std::move(workload), kernel ? *kernel : records::Kernel());
}

// What can be proposed: what was rejected there says nothing about here, and helps nobody.
std::optional<Catalog::Proposal> ProposalOf(const records::ExportFile::Tried& tried) {
  Catalog::Proposal proposal{tried.variant, 0, "", ""};
  for (const records::Evaluation& evaluation : tried.evaluations) {
    if (!evaluation.accepted || evaluation.speedup.value_or(0) <= proposal.speedup) continue;
    proposal.speedup = *evaluation.speedup;
    proposal.arch = evaluation.device.arch;
    proposal.date = evaluation.date;
  }
  if (!(proposal.speedup > 0)) return std::nullopt;
  return proposal;
}

Mark MarkOf(const std::string& kernel_key, const records::ExportFile::Decision& decision) {
  Mark mark;
  mark.kind = decision.pinned ? Mark::Kind::kPinned : Mark::Kind::kRejected;
  mark.kernel_key = kernel_key;
  mark.variant = decision.variant;
  mark.kernel = decision.kernel;
  mark.title = decision.title;
  mark.date = decision.date;
  return mark;
}

base::Result<records::ExportFile> ReadExport(const std::string& path) {
  TRY_ASSIGN(const base::FileIdentity identity, base::IdentifyFile(path));
  if (identity.size > kLargestExport) {
    return base::Fail(base::InvalidArgument(path + ": larger than 1 GiB"));
  }
  TRY_ASSIGN(const std::string text, base::ReadFile(path));
  const auto json = records::ParseJson(text);
  if (!json) return base::Fail(json.error().In(path));
  auto file = records::ParseExportFile(*json);
  if (!file) return base::Fail(file.error().In(path));
  return file;
}

}  // namespace

base::Result<Json> PruneDocument(Service& service, const Json& params) {
  PruneLimits limits = service.StoreLimits();
  const bool dry_run = params.value("dry_run", Json()) == true;
  if (params.contains("older_seconds") || params.contains("max_bytes")) limits = {};
  if (params.contains("older_seconds")) {
    TRY_ASSIGN(const double seconds, PositiveAt(params, "older_seconds"));
    constexpr double kLongest = 3e9;  // a century
    limits.before = service.DateBefore(std::min(seconds, kLongest));
  }
  if (params.contains("max_bytes")) {
    TRY_ASSIGN(const double bytes, PositiveAt(params, "max_bytes"));
    // 0 is "none" here, and "any" in the limits.
    limits.most_bytes = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(bytes));
  }
  TRY_ASSIGN(PruneReport report, service.Prune(limits, dry_run));
  std::stable_sort(report.kernels.begin(), report.kernels.end(),
                   [](const PrunedKernel& a, const PrunedKernel& b) { return a.bytes > b.bytes; });
  const std::size_t shown = std::min(report.kernels.size(), kMostPruneRows);
  Json document = {{"schema", "cupilot.pruned/1"},
                   {"dry_run", dry_run},
                   {"before", limits.before},
                   {"max_bytes", limits.most_bytes},
                   {"evaluations", report.evaluations},
                   {"variants", report.variants},
                   {"jobs", report.jobs},
                   {"bytes_before", report.bytes_before},
                   {"bytes_after", report.bytes_after},
                   {"kernels", Json::array()},
                   {"left_out", report.kernels.size() - shown}};
  for (std::size_t i = 0; i < shown; ++i) {
    const PrunedKernel& one = report.kernels[i];
    document["kernels"].push_back({{"kernel", one.kernel},
                                   {"evaluations", one.evaluations},
                                   {"bytes", one.bytes},
                                   {"newest", one.newest},
                                   {"whole", one.whole}});
  }
  return document;
}

base::Result<Json> ForgetDocument(Service& service, const Json& params) {
  const bool all = params.value("all", Json()) == true;
  const std::string name = records::TextAt(params, "project");
  std::set<std::string> folders;
  if (all) {
    for (const auto& [folder, project] : service.projects()) folders.insert(folder);
  } else {
    folders = ProjectsNamed(service, name);
    if (folders.empty()) {
      return base::Fail(
          base::NotFound("there is no project '" + name + "'" + ListOfProjects(service)));
    }
  }
  const bool dry_run = params.value("dry_run", Json()) == true;
  TRY_ASSIGN(const ForgetReport report, service.Forget(folders, dry_run));
  return Json{{"schema", "cupilot.forgotten/1"}, {"dry_run", dry_run},
              {"projects", report.projects},     {"sources", report.sources},
              {"kernels", report.kernels},       {"evaluations", report.evaluations},
              {"variants", report.variants},     {"captured", report.captured},
              {"marks", report.marks},           {"objects", report.objects},
              {"bytes", report.bytes},           {"problems", report.problems}};
}

base::Result<Json> ExportDocument(Service& service, const Json& params,
                                  const std::string& reply_folder) {
  const bool all = params.value("all", Json()) == true;
  TRY_ASSIGN(const auto kernels, KernelsToExport(service, records::TextAt(params, "folder"), all));
  Json file = {{"schema", records::kExportSchema},
               {"tool", cache::ToolVersion()},
               {"date", service.Date()},
               {"kernels", Json::array()},
               {"workloads", Json::object()}};
  std::map<std::string, std::string> workloads;  // hash, and the kernel's key
  std::size_t variants = 0, evaluations = 0;
  for (const auto& [key, source_folder] : kernels) {
    TRY_ASSIGN(Json json, KernelJson(service, key, source_folder, workloads));
    variants += json["variants"].size();
    for (const Json& entry : json["variants"]) evaluations += entry["evaluations"].size();
    file["kernels"].push_back(std::move(json));
  }
  for (const auto& [hash, key] : workloads) {
    const auto workload = WorkloadToExport(service, hash, key);
    if (workload) file["workloads"][hash] = records::ToJson(*workload);
  }
  if (all) {
    TRY_ASSIGN(const records::PoolFile pool, service.pool().Export(true));
    file["strategies"] = records::ToJson(pool);
  }
  const std::string text = records::PrettyJson(file);
  const std::string path = reply_folder + "/" + base::HashHex(text) + ".json";
  TRY(base::WriteFileAtomically(path, text));
  return Json{{"schema", "cupilot.exported/1"},
              {"document", path},
              {"kernels", kernels.size()},
              {"variants", variants},
              {"evaluations", evaluations}};
}

base::Result<Json> ImportDocument(Service& service, const Json& params) {
  const std::string path = records::TextAt(params, "file");
  if (path.empty()) return base::Fail(base::InvalidArgument("no file is named"));
  TRY_ASSIGN(const records::ExportFile file, ReadExport(path));
  const bool with_marks = params.value("marks", Json()) == true;
  std::set<std::string> present, begun, keys;
  for (const auto& [folder, state] : service.objects()) {
    if (state.scan == nullptr) continue;
    for (const records::Kernel& kernel : state.scan->kernels) present.insert(kernel.key);
  }
  std::size_t variants = 0, fresh = 0, waiting = 0;
  std::vector<Mark> marks;
  for (const records::ExportFile::OfKernel& kernel : file.kernels) {
    const std::string& key = kernel.kernel_key;
    for (const records::ExportFile::Tried& tried : kernel.variants) {
      const auto proposal = ProposalOf(tried);
      if (!proposal) continue;
      TRY_ASSIGN(const bool is_new, service.catalog().SaveProposal(key, *proposal));
      keys.insert(key);
      variants += 1;
      fresh += is_new ? 1 : 0;
      waiting += is_new && !present.contains(key) ? 1 : 0;
      if (is_new && present.contains(key)) begun.insert(key);
    }
    for (const auto& decision : kernel.marks) marks.push_back(MarkOf(key, decision));
  }
  std::size_t strategies = 0, taken = 0;
  if (file.strategies) {
    TRY_ASSIGN(strategies, service.pool().Import(*file.strategies));
  }
  if (with_marks) {
    TRY_ASSIGN(taken, service.TakeMarks(marks));
  }
  service.OnProposals(begun);
  return Json{{"schema", "cupilot.imported/1"},
              {"kernels", keys.size()},
              {"variants", variants},
              {"proposals", fresh},
              {"waiting", waiting},
              {"strategies", strategies},
              {"marks", taken},
              {"marks_left", marks.size() - taken}};
}

}  // namespace cupilot::service
