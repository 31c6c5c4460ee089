#include "service/documents.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "base/file.h"
#include "service/decisions.h"
#include "service/demotion.h"
#include "service/job_text.h"
#include "service/models.h"
#include "service/outlook.h"
#include "service/untagged.h"
#include "service/winnable.h"

namespace cupilot::service {

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

std::string SourceFolderOf(Service& service, const std::string& folder) {
  for (const auto& [object, state] : service.objects()) {
    if (!folder.empty() && InProject(service, state, folder)) {
      return service.projects().at(state.build_folder).source_folder;
    }
  }
  return folder;
}

namespace {

bool AnyProjectContains(Service& service, const std::string& folder) {
  return std::any_of(service.objects().begin(), service.objects().end(),
                     [&](const auto& entry) { return InProject(service, entry.second, folder); });
}

// Whether all of them are in `ids`.
template <class Contains>
bool AllOf(const ProvenSet& set, Contains contains) {
  return std::all_of(set.begin(), set.end(),
                     [&](const auto& one) { return contains(one->variant.id); });
}

// Why what is proven is not in the next build; empty if it is, or nothing is.
std::string WhyUnpublished(const ObjectState& state, const records::Kernel& kernel,
                           const ProvenSet& set) {
  if (set.empty()) return {};
  // A lock file decides alone.
  if (!state.target.lock.empty()) {
    if (const auto lock = base::ReadFile(state.target.lock)) {
      const bool named = AllOf(set, [&](const std::string& id) {
        return lock->find("\"" + id + "\"") != std::string::npos;
      });
      return named ? "" : "the lock file does not name it: `cupilot lock` pins it";
    }
  }
  const auto it = state.published.variants.find(records::LabelOf(kernel));
  const bool published = it != state.published.variants.end() &&
                         AllOf(set, [&](const std::string& id) { return it->second.contains(id); });
  if (published) return {};
  const auto problem = state.published.problems.find(records::LabelOf(kernel));
  if (problem != state.published.problems.end()) return "not published: " + problem->second;
  return state.target.apply == "manual" ? "`cupilot apply` puts it into the next build"
                                        : "it is published when no build runs";
}

// What a launch asks, in this order, each with the cases that its guard admits.
Json VariantsJson(const ProvenSet& set) {
  Json variants = Json::array();
  for (const auto& one : set) {
    std::set<std::string> cases;
    for (const records::CaseResult& result : one->evaluation.cases) {
      if (result.admitted) cases.insert(result.name);
    }
    variants.push_back({{"id", one->variant.id},
                        {"strategy", one->variant.strategy ? one->variant.strategy->title : ""},
                        {"speedup", one->evaluation.speedup.value_or(1.0)},
                        {"cases", cases}});
  }
  return variants;
}

records::Workload WorkloadHere(const ObjectState& state, const records::Kernel& kernel) {
  const std::vector<Place>& places = state.places.places;
  return places.empty() ? WorkloadOf(kernel) : WorkloadAt(kernel, places[0]);
}

// Of a kernel that is tuned without some of its cases; empty: it is tuned on all.
std::string WhyFewerCases(const ObjectState& state, const records::Kernel& kernel) {
  const std::vector<Place>& places = state.places.places;
  if (places.empty() || !places[0].too_long.contains(kernel.key)) return {};
  std::string names;
  for (const std::string& name : places[0].too_long.at(kernel.key)) {
    names += (names.empty() ? "'" : ", '") + name + "'";
  }
  return "it is tuned without " + names +
         ": it would run for more than 50 ms, and the display that is attached to the GPU would "
         "stand still";
}

std::string ReasonOf(const Refusal& refusal) {
  return "refused: " +
         (refusal.reason.empty() ? "the swapped source does not compile" : refusal.reason);
}

// Why a kernel for which something is proven does without it; empty: nothing was refused.
std::string WhyRefused(Service& service, const ObjectState& state, const records::Kernel& kernel) {
  const std::vector<Place>& places = state.places.places;
  if (places.empty()) return {};
  const auto best = service.catalog().Best(kernel.key, WorkloadAt(kernel, places[0]), places[0]);
  if (!best) return {};
  for (const Refusal& refusal : service.RefusedOf(state, kernel)) {
    if (refusal.variant != best->variant.id) continue;
    const auto published = state.published.variants.find(records::LabelOf(kernel));
    const bool waits = state.target.apply == "manual" &&
                       published != state.published.variants.end() &&
                       published->second.contains(refusal.variant);
    return ReasonOf(refusal) + (waits ? "; `cupilot apply` takes it out of the next build" : "");
  }
  return {};
}

// Of a kernel that does without what the user rejected, though nothing else is proven.
std::string WhyRejected(Service& service, const records::Kernel& kernel) {
  std::string titles;
  for (const Mark& mark : service.catalog().marks().Of(kernel.key)) {
    if (mark.kind != Mark::Kind::kRejected) continue;
    titles += (titles.empty() ? "'" : ", '") + mark.title + "'";
  }
  return titles.empty() ? "" : "you rejected " + titles + ", and nothing else is proven yet";
}

// What is asked of a kernel more than once.
struct Known {
  const KernelJob* job = nullptr;
  records::Workload workload;
  ProvenSet set;
  std::shared_ptr<const Proven> best;  // of the set
  std::optional<records::Evaluation> together;
};

Known KnownOf(Service& service, const ObjectState& state, const records::Kernel& kernel) {
  Known known;
  known.job = service.FindJob(state, kernel);
  known.workload = WorkloadHere(state, kernel);
  known.set = service.BestSet(state, kernel);
  known.best = FastestOf(known.set);
  known.together = Together(known.set, known.workload);
  return known;
}

Json RowOf(Service& service, const ObjectState& state, const records::Kernel& kernel,
           const Known& known) {
  const KernelJob* job = known.job;
  const Proven* best = known.best.get();
  const Tally tally = job == nullptr ? Tally() : CountIdeas(*job);
  const std::string refused = best != nullptr ? "" : WhyRefused(service, state, kernel);
  const std::string unpublished = WhyUnpublished(state, kernel, known.set);
  Json row;
  row["kernel"] = records::LabelOf(kernel);
  row["file"] = kernel.file;
  row["line"] = kernel.line;
  row["project"] = state.build_folder;
  row["target"] = state.target.name;
  row["state"] = StateOf(kernel, job, state.places.why_none);
  row["tried"] = tally.tried;
  row["accepted"] = tally.accepted;
  row["curve"] = job == nullptr ? Json::array() : CurveJson(*job);
  row["budget"] = job == nullptr ? Json() : BudgetJson(*job);
  row["speedup"] = known.together ? Json(known.together->speedup.value_or(1.0)) : Json();
  row["strategy"] = best != nullptr && best->variant.strategy ? best->variant.strategy->title : "";
  row["variants"] = VariantsJson(known.set);
  row["published"] = best != nullptr && unpublished.empty();
  row["marks"] = MarksJson(service, kernel);
  row["why"] = !refused.empty()       ? refused
               : !unpublished.empty() ? unpublished
                                      : WhyNotTuned(service, state, kernel);
  row["program_us"] = row["winnable_us"] = nullptr;
  if (const workloads::Captured* captured = service.captured().Find(kernel)) {
    row["program_us"] = captured->Microseconds();
    row["winnable_us"] =
        WinnableMicroseconds(*captured, known.together ? &*known.together : nullptr,
                             FloorsOfOriginal(service.catalog(), kernel.key, known.workload));
  }
  if (best == nullptr && row["why"] == "") row["why"] = WhyRejected(service, kernel);
  if (best == nullptr && row["why"] == "") row["why"] = WhyFewerCases(state, kernel);
  return row;
}

// What the object's kernels run on first.
const evaluate::DeviceDescription& DeviceOf(const Service& service, const ObjectState& state) {
  for (const evaluate::DeviceDescription& gpu : service.gpus().gpus) {
    if (!state.places.places.empty() && gpu.name == state.places.places[0].device) return gpu;
  }
  return service.host();
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
    const bool beaten =
        idea.outcome->kind == search::Outcome::Kind::kAccepted && !idea.outcome->reason.empty();
    entry["verdict"] = !idea.outcome->same_code.empty() ? "same code"
                       : idea.unproven                  ? "not proven"
                       : beaten                         ? "beaten"
                                : kVerdicts[static_cast<int>(idea.outcome->kind)];
    entry["reason"] = idea.outcome->reason;
    entry["speedup"] = idea.outcome->speedup ? Json(*idea.outcome->speedup) : Json();
    entry["expected_gain"] = idea.candidate.expected_gain;
    entry["variant"] = idea.outcome->variant;
    tried.push_back(std::move(entry));
  }
  return tried;
}

// The heaviest case of the workload, as the evaluation saw it: cold before warm.
const records::CaseResult* HeaviestResult(const records::Evaluation& evaluation,
                                          const records::Workload& workload) {
  const auto heaviest = std::max_element(
      workload.cases.begin(), workload.cases.end(),
      [](const records::Case& a, const records::Case& b) { return a.weight < b.weight; });
  if (heaviest == workload.cases.end()) return nullptr;
  for (const records::CaseResult& result : evaluation.cases) {
    if (result.name == heaviest->name) return &result;
  }
  return nullptr;
}

// Floor and time of the original are known from whatever was measured last, accepted or not.
void PutOriginal(Json& document, Catalog& catalog, const std::string& kernel_key,
                 const records::Workload& workload) {
  if (workload.cases.empty()) return;
  const OriginalTimes::Times times =
      catalog.TimesOfOriginal(kernel_key, WorkloadHash(workload), HeaviestCase(workload).name);
  if (times.floor_us > 0) document["floor_us"] = times.floor_us;
  if (times.original_us > 0) document["original_us"] = times.original_us;
}

// Captured cases of which less is known than that they come out as in the program, a hundred times.
std::vector<std::string> ReplayWarnings(Service& service, const records::Kernel& kernel) {
  std::vector<std::string> warnings;
  const workloads::Captured* captured = service.captured().Find(kernel);
  if (captured == nullptr) return warnings;
  for (const records::Case& one : captured->cases) {
    const workloads::CapturedReplay* replay = captured->FindReplay(kernel.key, one.name);
    if (replay == nullptr || (replay->reason.empty() && !replay->cut_short())) continue;
    warnings.push_back("the captured case '" + one.name + "'" +
                       (replay->usable() ? ": " : " is not used: ") +
                       workloads::ReplayText(*replay));
  }
  return warnings;
}

// How surely a name means a kernel. What is meant exactly is not ambiguous beside the rest.
enum class Match { kNone, kLoose, kExact };

Match MatchOf(const records::Kernel& kernel, const std::string& name, const std::string& file,
              std::int64_t line) {
  const bool in_file = !file.empty() && kernel.file == file;
  const std::string& label = records::LabelOf(kernel);
  if (label == name || kernel.name == name || (in_file && kernel.line == line)) {
    return Match::kExact;
  }
  // A head may be of several lines: the tag, the template, the name.
  if (in_file && kernel.line >= line - 1 && kernel.line <= line + 1) return Match::kLoose;
  return records::NamesKernel(name, kernel) ? Match::kLoose : Match::kNone;
}

bool IsSameText(const KernelPlace& a, const KernelPlace& b) {
  return a.kernel->file == b.kernel->file && a.kernel->line == b.kernel->line &&
         records::LabelOf(*a.kernel) == records::LabelOf(*b.kernel);
}

// Of the same kernel in several build trees (Debug and Release of one source): the tree that holds
// `folder`, else the one that was built last.
void KeepOneBuild(const std::string& folder, std::vector<KernelPlace>& found) {
  const auto keep = [&](const std::string& build_folder) {
    std::erase_if(found, [&](const KernelPlace& place) {
      return place.object->build_folder != build_folder;
    });
  };
  for (const KernelPlace& place : found) {
    const std::string& build = place.object->build_folder;
    if (folder == build || folder.starts_with(build + "/")) return keep(std::string(build));
  }
  if (found.size() < 2 || !std::all_of(found.begin(), found.end(), [&](const KernelPlace& other) {
        return IsSameText(found[0], other);
      })) {
    return;
  }
  const auto built = [](const KernelPlace& place) {
    const records::CompileCommand& command = place.object->object.command;
    const auto object = base::IdentifyFile(base::AbsolutePath(command.object, command.directory));
    return object ? object->mtime_ns : std::int64_t{0};
  };
  const auto newest = std::max_element(
      found.begin(), found.end(),
      [&](const KernelPlace& a, const KernelPlace& b) { return built(a) < built(b); });
  keep(std::string(newest->object->build_folder));
}

bool IsOneOfSeveralTargets(const KernelPlace& place, const std::vector<KernelPlace>& found) {
  return std::any_of(found.begin(), found.end(), [&](const KernelPlace& other) {
    return IsSameText(place, other) && other.object->target.name != place.object->target.name;
  });
}

base::Error Ambiguous(const std::string& name, const std::vector<KernelPlace>& found) {
  std::set<std::string> candidates;  // a kernel may be in several objects
  for (const KernelPlace& place : found) {
    candidates.insert("\n  " + records::LabelOf(*place.kernel) + " (" + place.kernel->file + ":" +
                      std::to_string(place.kernel->line) + ")" +
                      (IsOneOfSeveralTargets(place, found)
                           ? ", target '" + place.object->target.name + "'"
                           : ""));
  }
  std::string text;
  for (const std::string& candidate : candidates) text += candidate;
  return base::InvalidArgument("'" + name + "' is ambiguous:" + text);
}

// Build folders of other trees that have the kernel, with text or flags of their own.
Json OtherBuildsOf(Service& service, const KernelPlace& place) {
  std::set<std::string> folders;
  for (const auto& [object, state] : service.objects()) {
    if (state.scan == nullptr || state.build_folder == place.object->build_folder) continue;
    for (const records::Kernel& kernel : state.scan->kernels) {
      if (IsSameText(place, {&state, &kernel})) folders.insert(state.build_folder);
    }
  }
  return folders;
}

}  // namespace

Json ListDocument(Service& service, const std::string& folder) {
  std::vector<Json> rows;
  const std::string narrowed = AnyProjectContains(service, folder) ? folder : "";
  for (const auto& [name, state] : service.objects()) {
    if (state.scan == nullptr || !InProject(service, state, narrowed)) continue;
    for (const records::Kernel& kernel : state.scan->kernels) {
      rows.push_back(RowOf(service, state, kernel, KnownOf(service, state, kernel)));
    }
  }
  // What a program spends most time on that can still be won, first; then what nobody captured.
  std::stable_sort(rows.begin(), rows.end(), [](const Json& a, const Json& b) {
    const auto winnable = [](const Json& row) {
      const Json& value = row["winnable_us"];
      return value.is_number() ? value.get<double>() : -1.0;
    };
    return winnable(a) > winnable(b);
  });
  Json list;
  list["schema"] = "cupilot.list/1";
  list["kernels"] = std::move(rows);
  list["untagged"] = service.captured().Untagged(SourceFolderOf(service, folder));
  return list;
}

base::Result<KernelPlace> FindKernel(Service& service, const std::string& name,
                                     const std::string& folder) {
  std::string file;
  std::int64_t line = 0;
  const std::size_t colon = name.rfind(':');
  if (colon != std::string::npos && colon + 1 < name.size()) {
    const char* end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + colon + 1, end, line);
    if (rest == end && error == std::errc()) {
      file = base::AbsolutePath(name.substr(0, colon), folder);
    }
  }
  const std::string narrowed = AnyProjectContains(service, folder) ? folder : "";
  std::vector<KernelPlace> found;
  Match surest = Match::kLoose;
  for (const auto& [object, state] : service.objects()) {
    if (state.scan == nullptr || !InProject(service, state, narrowed)) continue;
    for (const records::Kernel& kernel : state.scan->kernels) {
      const Match match = MatchOf(kernel, name, file, line);
      if (match > surest) found.clear();
      if (match < surest) continue;
      surest = match;
      found.push_back({&state, &kernel});
    }
  }
  if (found.empty()) {
    return base::Fail(base::NotFound(WhyNoKernel(service, name, {file, line}, narrowed)));
  }
  KeepOneBuild(folder, found);
  const auto differs = [&](const KernelPlace& other) {
    return other.kernel->key != found[0].kernel->key || other.kernel->name != found[0].kernel->name;
  };
  if (std::any_of(found.begin(), found.end(), differs)) {
    return base::Fail(Ambiguous(name, found));
  }
  return found[0];
}

Json ExplainDocument(Service& service, const KernelPlace& place) {
  const records::Kernel& kernel = *place.kernel;
  const Known known = KnownOf(service, *place.object, kernel);
  const KernelJob* job = known.job;
  const Proven* best = known.best.get();
  Json document = RowOf(service, *place.object, kernel, known);
  document["schema"] = "cupilot.explain/1";
  document["kernel_key"] = kernel.key;
  document["also_built_in"] = OtherBuildsOf(service, place);
  document["read_seconds"] = place.object->scan->seconds;
  document["device"] = DeviceJson(DeviceOf(service, *place.object));
  const std::string& no_device = place.object->places.why_none;
  const std::string why = document["why"];
  document["verdict"] = best != nullptr ? "accepted" : "original";
  document["why_not"] = best != nullptr || !why.empty() ? why : WhyOriginal(kernel, job, no_device);
  for (const char* key :
       {"floor_us", "original_us", "variant_us", "interval", "guard", "evaluation"}) {
    document[key] = nullptr;
  }
  PutOriginal(document, service.catalog(), kernel.key, known.workload);
  if (best != nullptr) {
    document["guard"] = best->evaluation.guard;
    document["evaluation"] = records::ToJson(best->evaluation);
    const records::Evaluation& all = known.together ? *known.together : best->evaluation;
    if (all.interval) document["interval"] = *all.interval;
    const records::CaseResult* result = HeaviestResult(all, known.workload);
    if (result != nullptr && !result->admitted) {
      document["variant_us"] = document["original_us"];
    } else if (result != nullptr) {
      if (result->floor_us > 0) document["floor_us"] = result->floor_us;
      document["original_us"] = result->original_us;
      document["variant_us"] = result->variant_us;
    }
  }
  document["tried"] = job == nullptr ? Json::array() : TriedJson(*job);
  document["expected"] = job == nullptr ? Json() : ExpectedJson(*job);
  document["numbers"] = job == nullptr ? Json() : NumbersJson(*job);
  document["ended"] = job == nullptr ? "" : job->ended();
  document["cost"] = CostJson(service, kernel, job);
  document["next"] = NextStepOf(service, *place.object, kernel, known.set, document["published"]);
  document["models"] =
      job == nullptr || job->models() == nullptr ? Json() : job->models()->Document();
  document["same_code"] = job == nullptr ? 0 : CountIdeas(*job).same_code;
  document["dropped"] = Json::array();
  if (job != nullptr) {
    for (const auto& [limit, count] : CountDropped(*job)) {
      document["dropped"].push_back({{"limit", limit}, {"count", count}});
    }
  }
  document["declined"] = Json::array();
  if (job != nullptr) {
    for (const search::Opinion& opinion : job->opinions()) {
      if (opinion.applies) continue;
      document["declined"].push_back(
          {{"technique", opinion.technique}, {"reason", opinion.reason}});
    }
  }
  document["shipped"] =
      best != nullptr && place.object->as_measured.contains(best->variant.id) ? "as measured" : "";
  document["warnings"] = WarningsAbout(*place.object->scan, kernel);
  for (const std::string& warning : ReplayWarnings(service, kernel)) {
    document["warnings"].push_back(warning);
  }
  if (const std::string note = service.ObjectNote(*place.object, kernel); !note.empty()) {
    document["warnings"].push_back(note);
  }
  for (const Refusal& refusal : service.RefusedOf(*place.object, kernel)) {
    if (refusal.variant == kEveryVariant) {
      document["warnings"].push_back("no variant is used here: " + refusal.reason);
      continue;
    }
    const auto variant = service.catalog().FindVariant(kernel.key, refusal.variant);
    const bool titled = variant && variant->strategy;
    document["warnings"].push_back((titled ? variant->strategy->title : refusal.variant) +
                                   " is not used here; " + ReasonOf(refusal));
  }
  for (const std::string& warning : IdlePins(service, *place.object, kernel)) {
    document["warnings"].push_back(warning);
  }
  if (const std::string fewer = WhyFewerCases(*place.object, kernel); !fewer.empty()) {
    document["warnings"].push_back(fewer);
  }
  if (job != nullptr && job->search() != nullptr && !job->search()->numbers().warning().empty()) {
    document["warnings"].push_back(job->search()->numbers().warning());
  }
  for (const Place& where : place.object->places.places) {
    if (!where.note.empty())
      document["warnings"].push_back(where.identity.name + ": " + where.note);
  }
  return document;
}

base::Result<Json> BestDocument(Service& service, const KernelPlace& place,
                                const std::string& arch) {
  const records::Kernel& kernel = *place.kernel;
  std::shared_ptr<const Proven> best;
  const std::vector<Place>& places = place.object->places.places;
  for (std::size_t i = 0; i < places.size() && !best; ++i) {
    if (arch.empty() || places[i].identity.arch == arch) {
      best = service.Best(*place.object, kernel, i);
    }
  }
  if (!best) {
    return base::Fail(base::NotFound("nothing is proven faster than the original of " +
                                     records::LabelOf(kernel) +
                                     (arch.empty() ? "" : " on " + arch)));
  }
  return Json{{"schema", "cupilot.best/1"},
              {"variant", records::ToJson(best->variant)},
              {"evaluation", records::ToJson(best->evaluation)}};
}

}  // namespace cupilot::service
