#include "service/decisions.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/hash.h"

namespace cupilot::service {
namespace {

using records::Json;

constexpr std::size_t kShortestId = 4;  // digits: less may be a kernel's name
constexpr std::size_t kShownId = 16;

bool MayBeId(const std::string& text) {
  return text.size() >= kShortestId &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::string TitleOf(const records::Variant& variant) {
  return variant.strategy ? variant.strategy->title : "";
}

// Ids of all that was evaluated of a kernel and begins so.
std::set<std::string> IdsOf(Service& service, const std::string& kernel_key,
                            const std::string& begin) {
  std::set<std::string> ids;
  for (const records::Evaluation& one : service.catalog().Evaluations(kernel_key)) {
    if (one.variant.starts_with(begin)) ids.insert(one.variant);
  }
  return ids;
}

base::Error AmbiguousId(const std::string& id, const std::set<std::string>& found) {
  std::string text;
  for (const std::string& one : found) text += "\n  " + one;
  return base::InvalidArgument("'" + id + "' is ambiguous:" + text);
}

// When a decision is seen, in the words of the objects that it is about.
std::string WhenSeen(Service& service, const std::string& kernel_key) {
  std::string said = "no build uses the kernel now";
  for (const auto& [folder, state] : service.objects()) {
    if (state.scan == nullptr) continue;
    const auto& kernels = state.scan->kernels;
    if (std::none_of(kernels.begin(), kernels.end(),
                     [&](const records::Kernel& kernel) { return kernel.key == kernel_key; })) {
      continue;
    }
    if (!state.target.lock.empty() && base::FileExists(state.target.lock)) {
      return "the lock file decides: `cupilot lock` puts it there";
    }
    if (state.target.apply == "manual") return "`cupilot apply` puts it into the next build";
    said = "the next build has it";
  }
  return said;
}

Json DecidedJson(Service& service, const KernelPlace& place, const char* what,
                 const std::vector<Mark>& marks, const std::string& message) {
  Json document = {{"schema", "cupilot.decided/1"},
                   {"kernel", records::LabelOf(*place.kernel)},
                   {"what", what},
                   {"variants", Json::array()},
                   {"message", message},
                   {"now", Json::array()}};
  for (const Mark& mark : marks) document["variants"].push_back(ToJson(mark));
  for (std::size_t i = 0; i < place.object->places.places.size(); ++i) {
    for (const auto& one : service.BestSet(*place.object, *place.kernel, i)) {
      document["now"].push_back({{"variant", one->variant.id},
                                 {"title", TitleOf(one->variant)},
                                 {"target", one->evaluation.target},
                                 {"speedup", one->evaluation.speedup.value_or(1.0)}});
    }
  }
  return document;
}

Mark MarkOf(Service& service, const records::Kernel& kernel, const records::Variant& variant,
            Mark::Kind kind) {
  return {kind, kernel.key, variant.id, records::LabelOf(kernel), TitleOf(variant), service.Date()};
}

// Whether the variant is proven at one of the kernel's places, and at which.
std::set<std::size_t> ProvenAt(Service& service, const KernelPlace& place, const std::string& id) {
  std::set<std::size_t> proven;
  const std::vector<Place>& places = place.object->places.places;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto verdict = service.catalog().FindVerdict(
        place.kernel->key, WorkloadHash(WorkloadAt(*place.kernel, places[i])), places[i], id);
    if (verdict && verdict->accepted) proven.insert(i);
  }
  return proven;
}

base::Error NotProven(Service& service, const KernelPlace& place, const records::Variant& variant) {
  std::string last = "it was not evaluated";
  for (const records::Evaluation& one : service.catalog().Evaluations(place.kernel->key)) {
    if (one.variant != variant.id) continue;
    last = one.accepted ? "it was accepted on " + one.date +
                              " for another workload, device, driver or compiler"
                        : "it was rejected: " + one.reason;
  }
  return base::NotFound("variant " + variant.id.substr(0, kShownId) + " of " +
                        records::LabelOf(*place.kernel) +
                        " is not proven here, so it cannot be kept: " + last +
                        "; `cupilot history` names those that are accepted");
}

base::Result<Json> Unpin(Service& service, const KernelPlace& place) {
  std::vector<Mark> pins = service.catalog().marks().Of(place.kernel->key);
  std::erase_if(pins, [](const Mark& mark) { return mark.kind != Mark::Kind::kPinned; });
  if (pins.empty()) {
    return base::Fail(
        base::NotFound("no variant of " + records::LabelOf(*place.kernel) + " is pinned"));
  }
  for (const Mark& pin : pins) TRY(service.Decide(*place.kernel, pin, true));
  return DecidedJson(service, place, "unpinned", pins, WhenSeen(service, place.kernel->key));
}

// A kernel and ids of its variants.
struct NamedVariants {
  KernelPlace place;
  std::vector<records::Variant> variants;
};

base::Result<std::optional<NamedVariants>> FindById(Service& service, const std::string& id,
                                                    const std::string& folder) {
  std::optional<NamedVariants> named;
  std::set<std::string> all;
  for (const auto& [object, state] : service.objects()) {
    if (state.scan == nullptr || !InProject(service, state, folder)) continue;
    for (const records::Kernel& kernel : state.scan->kernels) {
      for (const std::string& found : IdsOf(service, kernel.key, id)) {
        if (!all.insert(found).second) continue;
        auto variant = service.catalog().FindVariant(kernel.key, found);
        if (variant) named = NamedVariants{{&state, &kernel}, {std::move(*variant)}};
      }
    }
  }
  if (all.size() > 1) return base::Fail(AmbiguousId(id, all));
  return named;
}

base::Result<NamedVariants> WinnersOf(Service& service, const std::string& name,
                                      const std::string& folder) {
  TRY_ASSIGN(const KernelPlace place, FindKernel(service, name, folder));
  NamedVariants named{place, {}};
  std::set<std::string> known;
  for (std::size_t i = 0; i < place.object->places.places.size(); ++i) {
    for (const auto& one : service.BestSet(*place.object, *place.kernel, i)) {
      if (known.insert(one->variant.id).second) named.variants.push_back(one->variant);
    }
  }
  if (named.variants.empty()) {
    return base::Fail(base::NotFound("no variant of " + records::LabelOf(*place.kernel) +
                                     " is in use, so there is none to reject"));
  }
  return named;
}

base::Result<Json> Allow(Service& service, const std::string& id, const std::string& folder) {
  std::vector<Mark> found = service.catalog().marks().All();
  std::erase_if(found, [&](const Mark& mark) {
    return mark.kind != Mark::Kind::kRejected || !mark.variant.starts_with(id);
  });
  if (found.empty()) {
    return base::Fail(base::NotFound("no variant '" + id +
                                     "' was rejected; `cupilot history KERNEL` names those that "
                                     "were"));
  }
  std::set<std::string> ids;
  for (const Mark& mark : found) ids.insert(mark.variant);
  if (ids.size() > 1) return base::Fail(AmbiguousId(id, ids));
  TRY_ASSIGN(const KernelPlace place, FindKernel(service, found[0].kernel, folder));
  for (const Mark& mark : found) TRY(service.Decide(*place.kernel, mark, true));
  return DecidedJson(service, place, "allowed", found, WhenSeen(service, place.kernel->key));
}

// All of a kernel's that were rejected.
base::Result<Json> AllowAll(Service& service, const KernelPlace& place) {
  std::vector<Mark> found = service.catalog().marks().Of(place.kernel->key);
  std::erase_if(found, [](const Mark& mark) { return mark.kind != Mark::Kind::kRejected; });
  if (found.empty()) {
    return base::Fail(
        base::NotFound("no variant of " + records::LabelOf(*place.kernel) + " was rejected"));
  }
  for (const Mark& mark : found) TRY(service.Decide(*place.kernel, mark, true));
  return DecidedJson(service, place, "allowed", found, WhenSeen(service, place.kernel->key));
}

// The stretch of its file in which the kernel is defined, or all that it reaches.
base::Result<std::string> OriginalText(const ObjectScan& scan, const records::Kernel& kernel) {
  for (const records::ClosureRange& range : kernel.closure) {
    if (range.file != kernel.file || range.begin < 0 || range.end < range.begin) continue;
    std::string text = scan.source_text;
    if (kernel.file != scan.object.command.source) {
      TRY_ASSIGN(text, base::ReadFile(kernel.file));
    }
    if (static_cast<std::size_t>(range.end) > text.size()) continue;
    const auto line_of = [&text](std::int64_t offset) {
      return 1 + std::count(text.begin(), text.begin() + offset, '\n');
    };
    if (kernel.line < line_of(range.begin) || kernel.line > line_of(range.end)) continue;
    std::string part = text.substr(static_cast<std::size_t>(range.begin),
                                   static_cast<std::size_t>(range.end - range.begin));
    if (base::HashHex(part) != range.hash) {
      return base::Fail(base::Unavailable(kernel.file + " was edited and not looked at yet; try "
                                                        "again"));
    }
    return part;
  }
  return kernel.closure_source;
}

base::Result<Json> DiffOf(const KernelPlace& place, const records::Variant& variant,
                          const Json& evaluation) {
  TRY_ASSIGN(const std::string original, OriginalText(*place.object->scan, *place.kernel));
  return Json{{"schema", "cupilot.diff/1"}, {"kernel", records::LabelOf(*place.kernel)},
              {"file", place.kernel->file}, {"line", place.kernel->line},
              {"original", original},       {"variant", records::ToJson(variant)},
              {"evaluation", evaluation}};
}

}  // namespace

base::Result<records::Variant> FindVariantOf(Service& service, const records::Kernel& kernel,
                                             const std::string& id) {
  const std::set<std::string> ids =
      id.empty() ? std::set<std::string>() : IdsOf(service, kernel.key, id);
  if (ids.size() > 1) return base::Fail(AmbiguousId(id, ids));
  auto variant =
      ids.empty() ? std::nullopt : service.catalog().FindVariant(kernel.key, *ids.begin());
  if (!variant) {
    return base::Fail(base::NotFound(records::LabelOf(kernel) + " has no variant '" + id +
                                     "'; `cupilot history " + records::LabelOf(kernel) +
                                     "` names them"));
  }
  return std::move(*variant);
}

base::Result<Json> PinDocument(Service& service, const Json& params) {
  TRY_ASSIGN(const KernelPlace place, FindKernel(service, records::TextAt(params, "kernel"),
                                                 records::TextAt(params, "folder")));
  if (params.value("none", Json()) == true) return Unpin(service, place);
  TRY_ASSIGN(const records::Variant variant,
             FindVariantOf(service, *place.kernel, records::TextAt(params, "variant")));
  if (service.catalog().marks().Rejected().contains(variant.id)) {
    return base::Fail(base::InvalidArgument(
        "variant " + variant.id.substr(0, kShownId) + " was rejected here; `cupilot reject " +
        variant.id.substr(0, kShownId) + " --undo` allows it again"));
  }
  const std::set<std::size_t> proven = ProvenAt(service, place, variant.id);
  if (proven.empty()) return base::Fail(NotProven(service, place, variant));
  // One a place: what was pinned for the same one goes.
  for (const Mark& mark : service.catalog().marks().Of(place.kernel->key)) {
    if (mark.kind != Mark::Kind::kPinned || mark.variant == variant.id) continue;
    const std::set<std::size_t> other = ProvenAt(service, place, mark.variant);
    const bool meets = std::any_of(other.begin(), other.end(),
                                   [&](std::size_t at) { return proven.contains(at); });
    if (meets || other.empty()) TRY(service.Decide(*place.kernel, mark, true));
  }
  const Mark mark = MarkOf(service, *place.kernel, variant, Mark::Kind::kPinned);
  TRY(service.Decide(*place.kernel, mark, false));
  const auto refused = service.RefusedOf(*place.object, *place.kernel, *proven.begin());
  const bool blocked = std::any_of(refused.begin(), refused.end(),
                                   [&](const Refusal& one) { return one.variant == variant.id; });
  return DecidedJson(service, place, "pinned", {mark},
                     blocked ? "but its object does without it: `cupilot explain` says why"
                             : WhenSeen(service, place.kernel->key));
}

base::Result<Json> RejectDocument(Service& service, const Json& params) {
  const std::string what = records::TextAt(params, "what");
  const std::string folder = records::TextAt(params, "folder");
  if (what.empty()) return base::Fail(base::InvalidArgument("no variant is named"));
  if (params.value("undo", Json()) == true) {
    auto allowed = Allow(service, what, folder);
    if (allowed || allowed.error().code != base::ErrorCode::kNotFound) return allowed;
    const auto kernel = FindKernel(service, what, folder);
    return kernel ? AllowAll(service, *kernel) : std::move(allowed);
  }
  std::optional<NamedVariants> named;
  if (MayBeId(what)) {
    TRY_ASSIGN(named, FindById(service, what, folder));
    if (!named) {
      TRY_ASSIGN(named, FindById(service, what, ""));
    }
  }
  if (!named) {
    auto winners = WinnersOf(service, what, folder);
    if (!winners && MayBeId(what)) {
      return base::Fail(base::NotFound("no variant '" + what +
                                       "' is known here; `cupilot history KERNEL` names them"));
    }
    if (!winners) return base::Fail(winners.error());
    named = std::move(*winners);
  }
  std::vector<Mark> marks;
  for (const records::Variant& variant : named->variants) {
    marks.push_back(MarkOf(service, *named->place.kernel, variant, Mark::Kind::kRejected));
    TRY(service.Decide(*named->place.kernel, marks.back(), false));
  }
  return DecidedJson(service, named->place, "rejected", marks,
                     WhenSeen(service, named->place.kernel->key));
}

base::Result<Json> DiffDocument(Service& service, const Json& params) {
  TRY_ASSIGN(const KernelPlace place, FindKernel(service, records::TextAt(params, "kernel"),
                                                 records::TextAt(params, "folder")));
  const std::string id = records::TextAt(params, "variant");
  if (id.empty()) {
    TRY_ASSIGN(const Json best, BestDocument(service, place, records::TextAt(params, "arch")));
    TRY_ASSIGN(const records::Variant variant, records::ParseVariant(best["variant"]));
    return DiffOf(place, variant, best["evaluation"]);
  }
  TRY_ASSIGN(const records::Variant variant, FindVariantOf(service, *place.kernel, id));
  const std::string arch = records::TextAt(params, "arch");
  Json evaluation;
  for (const records::Evaluation& one : service.catalog().Evaluations(place.kernel->key)) {
    if (one.variant == variant.id && (arch.empty() || one.device.arch == arch)) {
      evaluation = records::ToJson(one);
    }
  }
  return DiffOf(place, variant, evaluation);
}

std::vector<std::string> IdlePins(Service& service, const ObjectState& state,
                                  const records::Kernel& kernel) {
  std::vector<std::string> warnings;
  const std::vector<Mark> marks = service.catalog().marks().Of(kernel.key);
  if (marks.empty()) return warnings;
  std::set<std::string> used;
  for (std::size_t i = 0; i < state.places.places.size(); ++i) {
    for (const auto& one : service.BestSet(state, kernel, i)) used.insert(one->variant.id);
  }
  for (const Mark& mark : marks) {
    if (mark.kind != Mark::Kind::kPinned || used.contains(mark.variant)) continue;
    warnings.push_back("'" + mark.title +
                       "' is pinned and not in use: it is not proven for the workload, device, "
                       "driver and compiler as they are now");
  }
  return warnings;
}

Json MarksJson(Service& service, const records::Kernel& kernel) {
  Json marks = Json::array();
  for (const Mark& mark : service.catalog().marks().Of(kernel.key)) marks.push_back(ToJson(mark));
  return marks;
}

}  // namespace cupilot::service
