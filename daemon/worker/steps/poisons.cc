// What outputs hold before a run must not matter: several poisons, and results that are nearly all
// right.
#include <cstring>

#include "worker/steps/step.h"

namespace cupilot::worker {
namespace {

// A function of its arguments alone (SplitMix64's output function).
std::uint64_t PoisonDraw(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t x = seed * 0x9e3779b97f4a7c15ull + (index + 1) * 0xd1b54a32d192ed03ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

std::vector<std::vector<std::byte>> AllBytes(const Layout& layout, std::byte byte) {
  std::vector<std::vector<std::byte>> contents;
  contents.reserve(layout.regions.size());
  for (const Region& region : layout.regions) {
    contents.emplace_back(static_cast<std::size_t>(region.bytes()), byte);
  }
  return contents;
}

// The right results, but for elements that `damaged(element)` chooses, which have other high bits.
template <class Damaged>
std::vector<std::vector<std::byte>> NearlyRight(const OriginalResult& reference,
                                                const Layout& layout, const Damaged& damaged) {
  std::vector<std::vector<std::byte>> contents(layout.regions.size());
  for (std::size_t r = 0; r < reference.outputs.size(); ++r) {
    const ReferenceOutput& output = reference.outputs[r];
    contents[r] = output.bytes;
    const auto size = static_cast<std::size_t>(layout.regions[r].type.size());
    for (std::size_t i = 0; i < output.bytes.size() / size; ++i) {
      if (!damaged(r, i, output.bytes.size() / size)) continue;
      contents[r][(i + 1) * size - 1] ^= std::byte{0x15};
    }
  }
  return contents;
}

base::Result<Finding> JudgeWith(Trial& trial, const std::vector<std::vector<std::byte>>& contents,
                                const std::string& how, std::byte red = kRedByte) {
  TRY_ASSIGN(const auto reference, trial.Workload());
  Before before;
  before.contents = &contents;
  before.red = red;
  TRY_ASSIGN(Finding finding, trial.Judge({*reference, "of the workload, " + how}, before));
  return Because(std::move(finding), "stateful");
}

}  // namespace

base::Result<Finding> StepPoisons(Trial& trial) {
  for (const std::byte byte : {std::byte{0}, kOtherPoison, std::byte{0xff}}) {
    const auto contents = AllBytes(trial.scene().plan.layout, byte);
    char text[80];
    std::snprintf(text, sizeof text, "outputs, and what lies beside buffers, full of 0x%02x",
                  std::to_integer<unsigned>(byte));
    TRY_ASSIGN(Finding finding, JudgeWith(trial, contents, text, byte));
    if (!finding.reason.empty()) return finding;
  }
  return Finding{};
}

base::Result<Finding> StepNearlyRight(Trial& trial) {
  TRY_ASSIGN(const auto reference, trial.Workload());
  const Layout& layout = trial.scene().plan.layout;
  const std::uint64_t seed = trial.set().seed;
  const auto one = [seed](std::size_t r, std::size_t i, std::size_t count) {
    return i == PoisonDraw(seed, r) % count;
  };
  const auto half = [seed](std::size_t r, std::size_t i, std::size_t) {
    return PoisonDraw(seed + r + 1, i) % 2 == 0;
  };
  TRY_ASSIGN(Finding finding, JudgeWith(trial, NearlyRight(*reference, layout, one),
                                        "outputs right before but for one element"));
  if (!finding.reason.empty()) return finding;
  return JudgeWith(trial, NearlyRight(*reference, layout, half),
                   "outputs right before but for every other element at random");
}

}  // namespace cupilot::worker
