#include "service/report_document.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "records/element_values.h"
#include "records/private_data.h"
#include "service/models.h"
#include "service/report_rows.h"

namespace cupilot::service {
namespace {

using records::Json;

// Of one reply with evidence: the loop must not stand still, and a message holds 1 MiB.
constexpr std::size_t kRowsAPage = 50;
constexpr std::size_t kBytesAPage = std::size_t{256} << 10;

// A kernel and the CMake targets that have it.
struct Entry {
  KernelPlace place;
  std::set<std::string> targets;
};

// The same kernel of several objects once, the first of which stands for it.
std::vector<Entry> EntriesOf(Service& service, const std::string& folder) {
  std::vector<Entry> entries;
  for (const auto& [name, state] : service.objects()) {
    if (state.scan == nullptr || !InProject(service, state, folder)) continue;
    for (const records::Kernel& kernel : state.scan->kernels) {
      const auto same = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
        const records::Kernel& there = *entry.place.kernel;
        return there.key == kernel.key && there.file == kernel.file &&
               records::LabelOf(there) == records::LabelOf(kernel) &&
               entry.place.object->build_folder == state.build_folder;
      });
      Entry& entry =
          same != entries.end() ? *same : entries.emplace_back(Entry{{&state, &kernel}, {}});
      entry.targets.insert(state.target.name);
    }
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    const auto order = [](const Entry& entry) {
      const records::Kernel& kernel = *entry.place.kernel;
      return std::tie(kernel.file, kernel.line, records::LabelOf(kernel));
    };
    return order(a) < order(b);
  });
  return entries;
}

// Where a line begins, by offset; the text's end if it has fewer.
std::size_t OffsetOfLine(const std::string& text, std::int64_t line) {
  std::size_t at = 0;
  for (std::int64_t i = 1; i < line && at < text.size(); ++i) {
    const std::size_t end = text.find('\n', at);
    at = end == std::string::npos ? text.size() : end + 1;
  }
  return at;
}

Json WinnersOf(Outbound& outbound, const ProvenSet& set) {
  Json winners = Json::array();
  for (const auto& one : set) {
    winners.push_back({{"id", one->variant.id},
                       {"title", one->variant.strategy ? one->variant.strategy->title : ""},
                       {"source", one->variant.source},
                       {"launches", records::ToJson(one->variant).value("launches", Json::array())},
                       {"guard", one->evaluation.guard},
                       {"evaluation", records::ToJson(outbound.Of(one->evaluation))}});
  }
  return winners;
}

// Tried, and never evaluated: what a rewrite declined, what failed, what was built to code that was
// measured before.
Json UnmeasuredOf(const Json& tried) {
  Json rows = Json::array();
  for (const Json& one : tried) {
    const Json& verdict = one["verdict"];
    if (verdict != "declined" && verdict != "failed" && verdict != "same code") continue;
    rows.push_back({{"title", one["title"]}, {"verdict", verdict}, {"reason", one["reason"]}});
  }
  return rows;
}

// Of the best where something won, else of what was measured last: the original's place at least.
Json RooflineOf(Catalog& catalog, const std::string& kernel_key, const ProvenSet& best,
                const std::string& workload_hash) {
  for (const auto& one : best) {
    Json rows = RooflineRows(one->evaluation);
    if (!rows.empty()) return rows;
  }
  constexpr std::size_t kMostLookedAt = 200;
  std::size_t looked_at = 0;
  for (std::size_t i = catalog.CountEvaluations(kernel_key); i-- > 0;) {
    if (++looked_at > kMostLookedAt) break;
    for (const records::Evaluation& evaluation : catalog.EvaluationsFrom(kernel_key, i, 1)) {
      if (evaluation.workload != workload_hash) continue;
      Json rows = RooflineRows(evaluation);
      if (rows.empty()) continue;
      // What lost is no part of this picture.
      if (best.empty()) {
        for (Json& row : rows) row["variant"] = nullptr;
      }
      return rows;
    }
  }
  return Json::array();
}

// Why a chart has nothing to show of the kernel.
std::string WhyNoRoofline(const Json& kernel) {
  if (kernel["verdicts"] == 0) {
    const std::string why = records::TextAt(kernel, "why_not");
    return "nothing was measured" + (why.empty() ? "" : ": " + why);
  }
  return "the memory traffic that its workload needs was not measured";
}

bool WasCaptured(Service& service, const records::Kernel& kernel) {
  return records::HoldsData(WorkloadOf(kernel)) ||
         service.captured().Find(kernel.file, records::LabelOf(kernel)) != nullptr;
}

base::Result<Json> KernelJson(Service& service, const Entry& entry) {
  const records::Kernel& kernel = *entry.place.kernel;
  const ObjectState& state = *entry.place.object;
  Json document = ExplainDocument(service, entry.place);
  const Json tried = document["tried"];
  for (const char* key : {"schema", "evaluation", "tried", "target"}) document.erase(key);
  document["targets"] = entry.targets;
  document["original"] = OriginalOf(kernel);
  document["not_measured"] = UnmeasuredOf(tried);
  const ProvenSet best = service.BestSet(state, kernel);
  document["winners"] = WinnersOf(service.outbound(), best);

  const std::vector<Place>& places = state.places.places;
  const std::string workload =
      WorkloadHash(places.empty() ? WorkloadOf(kernel) : WorkloadAt(kernel, places[0]));
  document["workload"] = workload;
  document["verdicts"] = service.catalog().CountEvaluations(kernel.key);
  document["roofline"] = RooflineOf(service.catalog(), kernel.key, best, workload);
  document["no_roofline"] = document["roofline"].empty() ? WhyNoRoofline(document) : "";
  TRY_ASSIGN(const agents::SpentSums sums, service.models().budget().Sums(kernel.key));
  document["model_dollars"] = static_cast<double>(sums.kernel) / 1e9;
  // Whatever is said of the kernel: also why a case was left out, and why a try failed.
  if (WasCaptured(service, kernel)) records::LeaveOutElementValues(document);
  return document;
}

}  // namespace

Json OriginalOf(const records::Kernel& kernel) {
  Json otherwise = {{"text", kernel.closure_source},
                    {"as_written", false},
                    {"line", 1},
                    {"note",
                     "as the compiler sees it, with all that the kernel reaches: the file "
                     "is not what was read"}};
  const auto text = base::ReadFile(kernel.file);
  if (!text) return otherwise;
  const std::size_t begin_of_line = OffsetOfLine(*text, kernel.line);
  const std::size_t end_of_line = std::min(text->find('\n', begin_of_line), text->size());
  for (const records::ClosureRange& range : kernel.closure) {
    if (range.file != kernel.file || range.begin < 0 || range.end <= range.begin) continue;
    const auto begin = static_cast<std::size_t>(range.begin);
    const auto end = static_cast<std::size_t>(range.end);
    if (end > text->size() || begin > end_of_line || end <= begin_of_line) continue;
    const std::string_view part = std::string_view(*text).substr(begin, end - begin);
    if (base::HashHex(part) != range.hash) continue;
    return {{"text", part},
            {"as_written", true},
            {"line", 1 + std::count(text->begin(), text->begin() + range.begin, '\n')},
            {"note", ""}};
  }
  return otherwise;
}

base::Result<std::string> ReportText(Service& service, const std::string& folder) {
  const auto contains = [&](const auto& entry) { return InProject(service, entry.second, folder); };
  if (folder.empty() ||
      std::none_of(service.objects().begin(), service.objects().end(), contains)) {
    return base::Fail(base::NotFound("no tuned project contains " + folder +
                                     "; configure and build it once, so that the daemon knows it"));
  }
  Json head = {{"schema", "cupilot.report/1"},
               {"version", CUPILOT_VERSION},
               {"date", service.Date()},
               {"project", SourceFolderOf(service, folder)}};
  TRY_ASSIGN(head["models"], ModelsDocument(service, folder));
  const Json status = StatusDocument(service);
  head["devices"] = status["devices"];
  // What passes while one looks is none of a report's business.
  for (Json& device : head["devices"]) {
    for (const char* key : {"state", "why", "busy_share", "busy_seconds", "tuning_seconds",
                            "waiting", "builds_waiting"}) {
      device.erase(key);
    }
  }
  head["no_gpu"] = status["no_gpu"];
  // One kernel at a time: a tree of all values takes several times the memory of its text.
  std::string text = records::CompactJson(head);
  text.back() = ',';
  text += "\"kernels\":[";
  bool first = true;
  for (const Entry& entry : EntriesOf(service, folder)) {
    TRY_ASSIGN(const Json kernel, KernelJson(service, entry));
    text += (first ? "\n" : ",\n") + records::CompactJson(kernel);
    first = false;
  }
  return text + "]}\n";
}

base::Result<Json> EvidenceDocument(Service& service, const Json& params) {
  const std::string kernel_key = records::TextAt(params, "kernel_key");
  const Json asked = params.value("from", Json(0));
  if (kernel_key.empty() || !asked.is_number_unsigned()) {
    return base::Fail(
        base::InvalidArgument("report_evidence needs kernel_key, and from as a number"));
  }
  const std::string workload = records::TextAt(params, "workload");
  Catalog& catalog = service.catalog();
  const std::size_t count = catalog.CountEvaluations(kernel_key);
  std::size_t at = std::min(asked.get<std::size_t>(), count);
  const std::size_t end = std::min(count, at + kRowsAPage);
  Json document = {{"schema", "cupilot.report_evidence/1"},
                   {"evaluations", Json::array()},
                   {"variants", Json::array()}};
  std::set<std::string> seen;
  for (std::size_t bytes = 0; at < end && bytes < kBytesAPage; ++at) {
    for (const records::Evaluation& evaluation : catalog.EvaluationsFrom(kernel_key, at, 1)) {
      Json row = EvidenceRow(service.outbound().Of(evaluation), evaluation.workload == workload);
      bytes += records::CompactJson(row).size();
      document["evaluations"].push_back(std::move(row));
      if (!seen.insert(evaluation.variant).second) continue;
      const auto variant = catalog.FindVariant(kernel_key, evaluation.variant);
      if (!variant) continue;
      row = VariantRow(*variant);
      bytes += records::CompactJson(row).size();
      document["variants"].push_back(std::move(row));
    }
  }
  document["next"] = at < count ? Json(at) : Json();
  return document;
}

base::Result<Json> ReportReply(Service& service, const std::string& folder,
                               const std::string& reply_folder) {
  TRY_ASSIGN(const std::string text, ReportText(service, folder));
  const std::string path = reply_folder + "/" + base::HashHex(text) + ".json";
  TRY(base::WriteFileAtomically(path, text));
  return Json{{"schema", "cupilot.reported/1"}, {"document", path}};
}

}  // namespace cupilot::service
