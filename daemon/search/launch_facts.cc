#include "search/launch_facts.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "records/expression.h"

namespace cupilot::search {
namespace {

// Of a multiprocessor.
constexpr std::int64_t kThreadsElsewhere = 2048;  // where the architecture is in no table
constexpr double kBlocks = 32;

std::optional<records::SlotExpression> Compiled(const std::string& text, const Space& space,
                                                const records::Environment& constants) {
  const auto parsed = records::Expression::Parse(text);
  if (!parsed) return std::nullopt;
  const auto slot_of = [&space](std::string_view name) -> std::optional<int> {
    for (std::size_t i = 0; i < space.parameters().size(); ++i) {
      if (space.parameters()[i].name == name) return static_cast<int>(i);
    }
    return std::nullopt;
  };
  auto compiled = records::SlotExpression::Compile(*parsed, slot_of, constants);
  if (!compiled) return std::nullopt;
  return std::move(*compiled);
}

double ValueOf(const records::SlotExpression& expression, const std::vector<std::int64_t>& slots) {
  return static_cast<double>(
      std::max<std::int64_t>(expression.Evaluate(slots.data()).value_or(0), 0));
}

double ValueOf(const std::vector<records::SlotExpression>& factors,
               const std::vector<std::int64_t>& slots) {
  if (factors.empty()) return 0;
  double product = 1;
  for (const records::SlotExpression& factor : factors) product *= ValueOf(factor, slots);
  return product;
}

}  // namespace

std::unique_ptr<LaunchFacts> LaunchFacts::Make(const NumberSpace& numbers, const Space& space) {
  std::unique_ptr<LaunchFacts> facts(new LaunchFacts(space));
  const auto add = [&](const std::vector<std::string>& texts, Product& product) {
    for (const std::string& text : texts) {
      auto compiled = Compiled(text, space, numbers.constants);
      if (!compiled) {
        product.clear();  // of which one is not known, nothing is
        return;
      }
      product.push_back(std::move(*compiled));
    }
  };
  add(numbers.block, facts->block_);
  add(numbers.grid, facts->grid_);
  facts->shared_bytes_ = Compiled(numbers.shared_bytes, space, numbers.constants);
  if (facts->block_.empty()) return nullptr;
  facts->limits_ = numbers.limits;
  facts->multiprocessors_ = numbers.multiprocessors;
  return facts;
}

std::unique_ptr<LaunchFacts> LaunchFacts::Make(const MeasuredSpace& measured) {
  NumberSpace numbers;
  numbers.constants = measured.file().constants;
  numbers.block = measured.file().block;
  numbers.grid = measured.file().grid;
  numbers.shared_bytes = measured.file().shared_bytes;
  numbers.limits = LimitsOf(measured.architecture());
  numbers.multiprocessors = measured.multiprocessors();
  return Make(numbers, measured.space());
}

void LaunchFacts::Append(const Point& point, const BuildReport& built,
                         std::vector<double>& facts) const {
  std::vector<std::int64_t> slots(point.size());
  for (std::size_t i = 0; i < point.size(); ++i) slots[i] = space_.ValueOf(point, i);
  const double threads = ValueOf(block_, slots), blocks = ValueOf(grid_, slots);
  const auto shared = (shared_bytes_ ? ValueOf(*shared_bytes_, slots) : 0) +
                      static_cast<double>(built.shared_bytes);
  const auto all_threads = static_cast<double>(limits_.sm_threads.value_or(kThreadsElsewhere));
  double room = threads > 0 ? std::min(std::floor(all_threads / threads), kBlocks) : 0;
  const auto bound = [&room](std::optional<std::int64_t> all, double of_block) {
    if (all && of_block > 0)
      room = std::min(room, std::floor(static_cast<double>(*all) / of_block));
  };
  bound(limits_.sm_shared_bytes ? limits_.sm_shared_bytes : limits_.shared_bytes, shared);
  bound(limits_.sm_registers,
        static_cast<double>(RegistersOfBlock(built.registers, static_cast<std::int64_t>(threads))));
  const double at_once = room * static_cast<double>(multiprocessors_);
  const double waves = at_once > 0 ? std::ceil(blocks / at_once) : 0;
  const auto registers = static_cast<double>(built.registers);
  const auto local = static_cast<double>(built.local_bytes);
  for (const double fact : {threads, blocks, threads * blocks, registers, local, shared,
                            room * threads, waves, blocks * shared, threads * blocks * local}) {
    facts.push_back(fact);
  }
}

}  // namespace cupilot::search
