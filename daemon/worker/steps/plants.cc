// Decisive values at random positions (plant.h). The candidate has to agree with the original on
// the changed inputs; that anything moves is not asked.
//
// Most candidates give the original's bits there, or miss them by much less than the plant moved
// them. Where that is not so, the whole rule with the twin decides.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "device/parallel.h"
#include "worker/plant.h"
#include "worker/steps/step.h"

namespace cupilot::worker {
namespace {

// What a difference may have of the plant's own effect before the whole rule is asked.
constexpr double kShareOfEffect = 0.25;
constexpr double kUnits = 64;  // where the plant has no effect
// Of runs with plants, by their size and by the original's time.
constexpr std::int64_t kMostPlantBytes = std::int64_t{1} << 30;
constexpr double kMostPlantUs = 1e6;
constexpr double kRunUs = 500;  // that a run takes beside the kernel
constexpr std::int64_t kFewestRuns = 12, kFewestOfMuch = 6;
constexpr std::int64_t kMuchData = std::int64_t{48} << 20;  // bytes of a case's buffers
constexpr int kIdleRuns = 4;  // after so many that moved nothing it is given up
// Of series (series.h): launches at most (half of them move nothing where only a maximum counts),
// the time of the original's, and how many results are asked of the whole rule where the
// candidate's differ.
constexpr int kMostPokes = 1600;
constexpr double kMostSeriesUs = 4e6;
constexpr std::int64_t kFewOutputs = 64;
constexpr int kMostAsked = 8;

std::int64_t FewestRuns(const Layout& layout) {
  return layout.bytes > kMuchData ? kFewestOfMuch : kFewestRuns;
}

std::int64_t MostRuns(const Layout& layout, double original_us) {
  const auto by_bytes = kMostPlantBytes / std::max<std::int64_t>(1, layout.bytes);
  const auto by_time = static_cast<std::int64_t>(kMostPlantUs / (original_us + kRunUs));
  return std::clamp(std::min(by_bytes, by_time), FewestRuns(layout), kPlantsNeeded);
}

// One region's plants, run by run.
class Planting {
 public:
  Planting(Trial& trial, const OriginalResult& workload, std::size_t region)
      : trial_(trial),
        workload_(workload),
        layout_(trial.scene().original.layout),
        region_(region) {
    // Little changes from run to run, which a result that is kept by a sample of the contents does
    // not see.
    before_.keep_workspaces = true;
  }

  base::Result<Finding> Run(std::int64_t most_runs) {
    for (int run = 0; run < most_runs && (run < FewestRuns(layout_) || moved_ < kPlantsNeeded);
         ++run) {
      TRY_ASSIGN(Finding finding, RunOne(run));
      if (!finding.reason.empty()) return finding;
      if (idle_ >= kIdleRuns || dropped_ >= kIdleRuns) break;
    }
    return Finding{};
  }

  // One position a launch, where outputs are so few that runs with one for each show little.
  base::Result<Finding> RunSeries() {
    const CasePlan& plan = trial_.scene().original;
    const double all_us = static_cast<double>(kPlantsNeeded) * workload_.original_us;
    if (OutputsOf(layout_) > kFewOutputs || all_us > kMostSeriesUs || !TakesSeries(plan, region_)) {
      return Finding{};
    }
    const PlantSeries series(plan, *workload_.inputs, region_, trial_.set().seed);
    for (int first = 0; first < kMostPokes && moved_ < kPlantsNeeded; first += kSeriesRuns - 1) {
      const std::int64_t moved_before = moved_;
      TRY_ASSIGN(Finding finding, RunPart(series, first));
      if (!finding.reason.empty() || moved_ == moved_before) return finding;
    }
    return Finding{};
  }

  std::string Record() const {
    const Region& region = layout_.regions[region_];
    const double pairs = static_cast<double>(region.count * region.type.lanes) *
                         static_cast<double>(OutputsOf(layout_));
    char share[32];
    std::snprintf(share, sizeof share, "%.3g", 100 * static_cast<double>(moved_) / pairs);
    std::string text = "'" + region.name + "': " + std::to_string(moved_) + " decisive values in " +
                       std::to_string(runs_) + " runs moved an output, " + share +
                       " % of the pairs of input and output";
    if (moved_ < kPlantsNeeded) {
      text += "; fewer than the " + std::to_string(kPlantsNeeded) +
              " that show an input of which one in a hundred is ignored";
    }
    if (dropped_ > 0) text += "; " + std::to_string(dropped_) + " dropped: " + why_dropped_;
    return text;
  }

 private:
  base::Result<Finding> RunOne(int run) {
    const Plant plant{region_, run};
    const CasePlan& plan = trial_.scene().original;
    Planted planted = PlantValues(plan, *workload_.inputs, plant, trial_.set().seed);
    planted.inputs.changed = true;
    auto inputs = std::make_shared<const CaseInputs>(std::move(planted.inputs));
    TRY_ASSIGN(const auto quick, trial_.references().QuickOf(plant.Name(), *inputs));
    if (!quick->dropped.empty()) {
      dropped_ += 1;
      why_dropped_ = quick->dropped;
      return Finding{};
    }
    OriginalResult asked;
    asked.inputs = inputs;
    asked.original_us = workload_.original_us;
    TRY_ASSIGN(Finding finding, trial_.RunOn({asked, Label(plant)}, before_));
    if (!finding.reason.empty()) return finding;
    const std::int64_t moved =
        std::min(Moved(*quick), static_cast<std::int64_t>(planted.positions.size()));
    runs_ += 1;
    idle_ = moved == 0 ? idle_ + 1 : 0;
    moved_ += moved;
    const auto got = [&](std::size_t r) {
      return trial_.memory().data() + layout_.regions[r].offset;
    };
    if (!Suspicious(quick->outputs, got, Effect::kOfWorkload)) return Finding{};
    return Decide(plant.Name(), Label(plant), inputs);
  }

  // Launches from number `first` on, behind one without any poke.
  base::Result<Finding> RunPart(const PlantSeries& series, int first) {
    SeriesRequest request{region_, {{}}};
    for (int k = 1; k < kSeriesRuns; ++k) request.pokes.push_back(series.Draw(first + k - 1));
    const std::string& region = layout_.regions[region_].name;
    const std::string name = "series " + std::to_string(first) + " in '" + region + "'";
    TRY_ASSIGN(const auto expected, trial_.references().SeriesOf(name, *series.base(), request));
    if (!expected->dropped.empty()) {
      dropped_ += 1;
      why_dropped_ = expected->dropped;
      return Finding{};
    }
    OriginalResult asked;
    asked.inputs = series.base();
    asked.original_us = workload_.original_us;
    TRY_ASSIGN(Finding finding,
               trial_.RunSeries({asked, "of the workload, " + name}, before_, request));
    if (!finding.reason.empty()) return finding;
    runs_ += kSeriesRuns;
    std::vector<std::vector<std::vector<std::byte>>> results;
    results.reserve(kSeriesRuns);
    for (int k = 0; k < kSeriesRuns; ++k) results.push_back(trial_.ResultsOfSeries(k));
    // Integers may have another base than the workload; errors are known for that one alone.
    const bool floating = layout_.regions[region_].type.floating();
    for (std::size_t k = 0; k < results.size(); ++k) {
      const int moved = expected->outputs[k] != expected->outputs[0] ? 1 : 0;
      const auto got = [&](std::size_t r) { return results[k][r].data(); };
      if (!Suspicious(expected->outputs[k], got,
                      floating ? Effect::kOfWorkload : Effect::kUnknown)) {
        moved_ += moved;
        continue;
      }
      // What nobody judges shows nothing. What is exact is asked in any case.
      if (asked_ >= kMostAsked && !DiffersExactly(expected->outputs[k], got)) continue;
      moved_ += moved;
      asked_ += 1;
      const auto inputs = std::make_shared<const CaseInputs>(series.With(request.pokes[k]));
      const std::string poke = name + ", launch " + std::to_string(k);
      OriginalResult here;
      here.inputs = inputs;
      trial_.PutResults({here, poke}, before_, results[k]);
      TRY_ASSIGN(finding, Decide(poke, "of the workload, " + poke, inputs));
      if (!finding.reason.empty()) return finding;
    }
    return Finding{};
  }

  std::string Label(const Plant& plant) const {
    return std::string("of the workload with ") + (plant.run % 2 == 0 ? "large" : "small") +
           " values planted in '" + layout_.regions[region_].name + "', run " +
           std::to_string(plant.run);
  }

  // Outputs of the original that the plants move.
  std::int64_t Moved(const QuickResult& quick) const {
    std::atomic<std::int64_t> moved{0};
    for (std::size_t r = 0; r < layout_.regions.size(); ++r) {
      const auto size = static_cast<std::size_t>(layout_.regions[r].type.size());
      const std::vector<std::byte>&now = quick.outputs[r], &before = workload_.outputs[r].bytes;
      device::InParallel(
          static_cast<std::int64_t>(now.size() / size), [&](std::int64_t begin, std::int64_t end) {
            std::int64_t here = 0;
            for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
              const std::size_t at = i * size;
              here += std::memcmp(now.data() + at, before.data() + at, size) != 0 ? 1 : 0;
            }
            moved += here;
          });
    }
    return moved;
  }

  // Of a plant: what is known of how much it moves.
  enum class Effect { kOfWorkload, kUnknown };

  // `got_of`: the candidate's results of a region.
  template <class Got>
  bool Suspicious(const std::vector<std::vector<std::byte>>& outputs, const Got& got_of,
                  Effect effect) const {
    for (std::size_t r = 0; r < layout_.regions.size(); ++r) {
      const Region& region = layout_.regions[r];
      const std::vector<std::byte>& expected = outputs[r];
      const std::byte* got = got_of(r);
      if (expected.empty() || std::memcmp(expected.data(), got, expected.size()) == 0) continue;
      if (!region.type.floating() || region.order_free || effect == Effect::kUnknown ||
          DiffersByMuch(r, expected, got)) {
        return true;
      }
    }
    return false;
  }

  // Outputs that are the original's bits or wrong.
  template <class Got>
  bool DiffersExactly(const std::vector<std::vector<std::byte>>& outputs, const Got& got_of) const {
    for (std::size_t r = 0; r < layout_.regions.size(); ++r) {
      const Region& region = layout_.regions[r];
      const std::vector<std::byte>& expected = outputs[r];
      if (expected.empty() || region.type.floating() || region.order_free) continue;
      if (std::memcmp(expected.data(), got_of(r), expected.size()) != 0) return true;
    }
    return false;
  }

  bool DiffersByMuch(std::size_t r, const std::vector<std::byte>& expected,
                     const std::byte* got) const {
    const Region& region = layout_.regions[r];
    const ReferenceOutput& workload = workload_.outputs[r];
    if (EqualityOf(trial_.set(), region, workload) != Equality::kErrorRule) return true;
    std::atomic<bool> found{false};
    device::InParallel(ComponentsOf(region), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end && !found.load(std::memory_order_relaxed); ++i) {
        const double o = device::ReadNumber(expected.data(), i, region.type);
        const double c = device::ReadNumber(got, i, region.type);
        if (o == c || (std::isnan(o) && std::isnan(c))) continue;
        const double effect =
            std::fabs(o - device::ReadNumber(workload.bytes.data(), i, region.type));
        const double apart = workload.expected->Apart(kUnits, static_cast<std::size_t>(i));
        if (!(std::fabs(c - o) <= std::max(kShareOfEffect * effect, apart))) found = true;
      }
    });
    return found;
  }

  // By the whole rule, on the results that are there, and once more with poisoned workspaces: what
  // is right then was wrong for what they held. What the original gives is kept for other
  // candidates.
  base::Result<Finding> Decide(const std::string& name, const std::string& label,
                               const std::shared_ptr<const CaseInputs>& inputs) {
    TRY_ASSIGN(const auto reference, trial_.references().FindOf(name, [&] { return *inputs; }));
    if (!reference->dropped.empty()) {
      dropped_ += 1;
      why_dropped_ = reference->dropped;
      return Finding{};
    }
    TRY_ASSIGN(Finding kept, trial_.JudgeResults({*reference, label}, before_));
    if (kept.reason != "wrong_values" && kept.reason != "precision_loss") return kept;
    TRY_ASSIGN(Finding finding, trial_.Judge({*reference, label}));
    if (finding.reason.empty()) return Because(std::move(kept), "stateful");
    if (finding.reason != "wrong_values" && finding.reason != "precision_loss") return finding;
    return Explain(std::move(finding), *reference);
  }

  // Whether an output does not move at all that the original moves by more than a hundred units.
  base::Result<Finding> Explain(Finding finding, const OriginalResult& reference) {
    const std::vector<std::byte> planted(trial_.memory().begin(), trial_.memory().end());
    TRY_ASSIGN(const Finding again, trial_.Judge({workload_, "of the workload"}));
    if (!again.reason.empty()) return finding;
    for (std::size_t r = 0; r < layout_.regions.size(); ++r) {
      const Region& region = layout_.regions[r];
      if (!region.output) continue;
      const std::byte* now = planted.data() + region.offset;
      const std::byte* before = trial_.memory().data() + region.offset;
      const auto size = static_cast<std::size_t>(region.type.size());
      for (std::size_t i = 0; i < static_cast<std::size_t>(region.count); ++i) {
        if (std::memcmp(now + i * size, before + i * size, size) != 0) continue;
        if (!MovesByMuch(r, i, reference)) continue;
        finding.reason = "ignores_input";
        finding.detail = Where(region, i) + " does not move with '" +
                         layout_.regions[region_].name + "': " + finding.detail;
        return finding;
      }
    }
    return finding;
  }

  bool MovesByMuch(std::size_t r, std::size_t element, const OriginalResult& reference) const {
    const Region& region = layout_.regions[r];
    const ReferenceOutput &now = reference.outputs[r], &before = workload_.outputs[r];
    const auto size = static_cast<std::size_t>(region.type.size());
    if (!now.unwritten.empty() && now.unwritten[element]) return false;
    if (std::memcmp(now.bytes.data() + element * size, before.bytes.data() + element * size,
                    size) == 0) {
      return false;
    }
    if (!now.expected) return true;
    const auto i = static_cast<std::int64_t>(element) * region.type.lanes;
    const double effect = device::ReadNumber(now.bytes.data(), i, region.type) -
                          device::ReadNumber(before.bytes.data(), i, region.type);
    return std::fabs(effect) > now.expected->Apart(100, static_cast<std::size_t>(i));
  }

  Trial& trial_;
  const OriginalResult& workload_;
  const Layout& layout_;
  const std::size_t region_;
  std::int64_t runs_ = 0, moved_ = 0;
  int idle_ = 0, dropped_ = 0, asked_ = 0;
  std::string why_dropped_;
  Before before_;
};

}  // namespace

base::Result<Finding> StepPlant(Trial& trial) {
  TRY_ASSIGN(const auto workload, trial.Workload());
  const std::vector<std::size_t> regions = PlantableRegions(trial.scene().original.layout);
  if (regions.empty()) return Finding{};
  return Planting(trial, *workload, regions.front()).Run(1);
}

base::Result<Finding> StepPlants(Trial& trial) {
  TRY_ASSIGN(const auto workload, trial.Workload());
  const Layout& layout = trial.scene().original.layout;
  const std::vector<std::size_t> regions = PlantableRegions(layout);
  if (regions.empty()) trial.Note("plants", "not asked: no input may be changed");
  const auto count = static_cast<std::int64_t>(regions.size());
  for (const std::size_t region : regions) {
    Planting planting(trial, *workload, region);
    TRY_ASSIGN(Finding finding, planting.RunSeries());
    if (!finding.reason.empty()) return finding;
    TRY_ASSIGN(finding, planting.Run(std::max(FewestRuns(layout),
                                              MostRuns(layout, workload->original_us) / count)));
    if (!finding.reason.empty()) return finding;
    trial.Note("plants", planting.Record());
  }
  return Finding{};
}

}  // namespace cupilot::worker
