#include "tests/bench/search/arms.h"

#include <array>

namespace cupilot::bench {
namespace {

constexpr std::array<Arm, 7> kArms = {{
    {"numbers", "values of tunables only", false, false},
    {"mechanical", "mechanical strategies and numbers", true, false},
    {"code", "evolution on code, without strategies", true, true, false},
    {"evolution", "evolution with strategies"},
    {"no_roofline", "evolution without roofline guidance", true, true, true, false},
    {"no_pool", "evolution without the strategy pool", true, true, true, true, false},
    {"no_tree", "evolution without the tree of ideas", true, true, true, true, true, false},
}};

}  // namespace

std::span<const Arm> Arms() { return kArms; }

const Arm* FindArm(std::string_view name) {
  for (const Arm& arm : kArms) {
    if (arm.name == name) return &arm;
  }
  return nullptr;
}

service::SearchParts PartsOf(const Arm& arm) {
  return {arm.techniques, arm.pool, arm.strategies, arm.roofline, arm.tree};
}

}  // namespace cupilot::bench
