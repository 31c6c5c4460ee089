// Outputs over inputs. A variant's published guard demands disjoint buffers wherever they were
// verified to be; what is asked here is a guard of the variant's own that admits more, and whether
// wrong values of a case with overlapping arguments come of the overlap. Where tables of pointers
// lead no guard can look: what is legal for the original in place has to be right in place.
#include <algorithm>
#include <optional>

#include "device/describe.h"
#include "worker/steps/step.h"
#include "worker/watched_scenes.h"

namespace cupilot::worker {
namespace {

// `input` and `output` have an array of their own, of one length.
bool MayShare(const Trial& trial, std::size_t input, std::size_t output) {
  const CasePlan& plan = trial.scene().original;
  const auto &in = plan.references[input], &out = plan.references[output];
  if (!in || !out || in->region < 0 || out->region < 0 || in->region == out->region) return false;
  const Region& from = plan.layout.regions[static_cast<std::size_t>(in->region)];
  const Region& to = plan.layout.regions[static_cast<std::size_t>(out->region)];
  const auto& arguments = trial.workload().arguments;
  return from.input && !from.output && to.output && !to.input && from.type == to.type &&
         from.count == to.count && arguments[input].buffer.empty() &&
         arguments[output].buffer.empty();
}

records::Case InPlace(const Trial& trial, std::size_t input, std::size_t output) {
  records::Case one = trial.workload();
  records::Argument &in = one.arguments[input], &out = one.arguments[output];
  const auto r = static_cast<std::size_t>(trial.scene().original.references[input]->region);
  const Region& region = trial.scene().original.layout.regions[r];
  one.buffers.push_back({"both", std::to_string(region.bytes()), in.fill});
  for (records::Argument* argument : {&in, &out}) {
    argument->buffer = "both";
    argument->count.clear();
    argument->fill.reset();
    argument->access.reset();
  }
  one.name += ", " + out.name + " over " + in.name;
  return one;
}

// Each argument that shares a buffer has one of its own.
std::optional<records::Case> Apart(const Trial& trial) {
  records::Case one = trial.workload();
  const CasePlan& plan = trial.scene().original;
  // Buffers that pointers in memory lead to stay where those lead.
  for (const records::Buffer& buffer : one.buffers) {
    if (!buffer.pointers.empty()) return std::nullopt;
  }
  bool changed = false;
  for (std::size_t i = 0; i < one.arguments.size(); ++i) {
    records::Argument& argument = one.arguments[i];
    if (argument.buffer.empty() || !plan.references[i]) continue;
    const records::Parameter& parameter = trial.set().kernel.parameters[i];
    if (parameter.element_bytes <= 0) return std::nullopt;
    const auto buffer =
        std::find_if(one.buffers.begin(), one.buffers.end(),
                     [&](const records::Buffer& b) { return b.name == argument.buffer; });
    if (buffer != one.buffers.end()) argument.fill = buffer->fill;
    argument.count = std::to_string(plan.references[i]->bytes / parameter.element_bytes);
    argument.access = parameter.element_const ? records::Access::kIn : records::Access::kInOut;
    argument.buffer.clear();
    argument.offset.clear();
    changed = true;
  }
  one.buffers.clear();
  one.name += ", arguments apart";
  return changed ? std::optional(one) : std::nullopt;
}

// Nothing where the original or the guard does not admit the case.
base::Result<std::optional<Finding>> JudgeCase(Trial& trial, const records::Case& one) {
  TRY_ASSIGN(const device::Properties properties, device::DescribeDevice(trial.set().device));
  const auto plan = PlanCase(trial.set().kernel, one, properties, nullptr);
  if (!plan) return std::nullopt;
  Trial other(trial.request(), one, *plan);
  other.quick_workload = true;
  if (!other.MakeScene(*plan)) return std::nullopt;
  TRY_ASSIGN(const auto reference, other.Workload());
  if (!reference->dropped.empty() || !reference->repeats) return std::nullopt;
  TRY_ASSIGN(Finding finding, other.Start());
  if (finding.reason.empty()) {
    TRY_ASSIGN(finding, other.Judge({*reference, "of the workload"}));
  }
  trial.CountLaunches(other.launches());
  return finding;
}

// What the tables of two parameters lead to: the regions, where the one is read only, the other
// written only, and both are cut alike.
struct TwoTables {
  std::size_t from = 0, to = 0;
  std::size_t table = 0;  // that leads to the latter
};

std::vector<TwoTables> TablesThatMayMeet(const Layout& layout) {
  std::vector<TwoTables> pairs;
  const auto behind = [&](std::size_t table) -> std::optional<std::size_t> {
    const Region& region = layout.regions[table];
    if (!region.table || region.entries.empty()) return std::nullopt;
    const auto area = static_cast<std::size_t>(region.entries.front().region);
    if (layout.regions[area].slices.count == 0) return std::nullopt;
    return area;
  };
  for (std::size_t i = 0; i < layout.regions.size(); ++i) {
    for (std::size_t j = 0; j < layout.regions.size(); ++j) {
      const auto a = behind(i), b = behind(j);
      if (i == j || !a || !b) continue;
      const Region &from = layout.regions[*a], &to = layout.regions[*b];
      const bool alike =
          from.type == to.type && from.count == to.count && from.slices.stride == to.slices.stride;
      if (alike && from.input && !from.output && to.output && !to.input) {
        pairs.push_back({*a, *b, j});
      }
    }
  }
  return pairs;
}

CasePlan InPlace(CasePlan plan, const TwoTables& tables) {
  std::vector<Region>& regions = plan.layout.regions;
  for (Region::Entry& entry : regions[tables.table].entries) {
    entry.region = static_cast<int>(tables.from);
  }
  regions[tables.from].output = true;
  plan.name += ", " + regions[tables.to].name + " over " + regions[tables.from].name;
  return plan;
}

// Whether the original gives in place what it gives elsewhere.
bool MaySo(const OriginalResult& apart, const OriginalResult& in_place, const TwoTables& tables,
           std::size_t size) {
  const ReferenceOutput &a = apart.outputs[tables.to], &b = in_place.outputs[tables.from];
  for (std::size_t i = 0; (i + 1) * size <= a.bytes.size(); ++i) {
    if (!a.unwritten.empty() && a.unwritten[i]) continue;
    const auto at = static_cast<std::ptrdiff_t>(i * size);
    const auto end = at + static_cast<std::ptrdiff_t>(size);
    if (!std::equal(a.bytes.begin() + at, a.bytes.begin() + end, b.bytes.begin() + at)) {
      return false;
    }
  }
  return true;
}

base::Result<Finding> JudgeTables(Trial& trial, const TwoTables& tables) {
  const CasePlan plan = InPlace(trial.scene().original, tables);
  records::Case one = trial.workload();
  one.name = plan.name;
  Trial other(trial.request(), one, plan);
  if (!other.MakeScene(plan)) return Finding{};
  TRY_ASSIGN(const auto apart, trial.Workload());
  TRY_ASSIGN(const auto reference, other.Workload());
  const auto size = static_cast<std::size_t>(plan.layout.regions[tables.to].type.size());
  bool legal =
      reference->dropped.empty() && reference->repeats && MaySo(*apart, *reference, tables, size);
  if (legal) {
    TRY_ASSIGN(const bool collides, OriginalCollides(trial.set(), plan));
    legal = !collides;
  }
  trial.Note("aliases", plan.name + (legal ? ": asked"
                                           : ": not asked: the original gives other "
                                             "results there"));
  if (!legal) return Finding{};
  TRY_ASSIGN(Finding finding, other.Start());
  if (finding.reason.empty()) {
    TRY_ASSIGN(finding, other.Judge({*reference, "of the workload"}));
  }
  trial.CountLaunches(other.launches());
  return Because(std::move(finding), "alias_unsafe");
}

}  // namespace

base::Result<Finding> StepAliases(Trial& trial) {
  for (const TwoTables& tables : TablesThatMayMeet(trial.scene().original.layout)) {
    TRY_ASSIGN(Finding finding, JudgeTables(trial, tables));
    if (!finding.reason.empty()) return finding;
  }
  // A guard that says nothing of overlaps leaves them to the published one.
  if (trial.set().variant.guard.find("disjoint") == std::string::npos) return Finding{};
  const std::size_t count = trial.workload().arguments.size();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      if (!MayShare(trial, i, j)) continue;
      TRY_ASSIGN(auto finding, JudgeCase(trial, InPlace(trial, i, j)));
      if (!finding || finding->reason.empty()) continue;
      return Because(std::move(*finding), "alias_unsafe");
    }
  }
  return Finding{};
}

base::Result<Finding> ExplainOverlap(Trial& trial, Finding finding) {
  if (finding.reason != "wrong_values" && finding.reason != "stateful") return finding;
  const auto apart = Apart(trial);
  if (!apart) return finding;
  TRY_ASSIGN(const auto other, JudgeCase(trial, *apart));
  if (other && other->reason.empty()) finding.reason = "alias_unsafe";
  return finding;
}

}  // namespace cupilot::worker
