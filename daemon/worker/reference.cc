#include "worker/reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <list>

#include "base/hash.h"
#include "device/host/host_properties.h"
#include "worker/arena.h"
#include "worker/program.h"
#include "worker/runner.h"

namespace cupilot::worker {
namespace {

using records::Json;
using std::chrono::milliseconds;

constexpr milliseconds kOriginalLimit{60000};
constexpr double kUnitRoundoff =
    1.0 / (1 << 24);  // of float arithmetic, the widest of the original
constexpr int kDraws = 8;
constexpr std::size_t kKept = 12;  // references: the fills of two or three kernels

Json RunRequest(const Program& program, const Layout& layout) {
  return {{"op", "run"}, {"module", 0}, {"program", ToJson(program, layout, 0)}};
}

std::span<const std::byte> BytesOf(const Region& region, std::span<const std::byte> arena) {
  return arena.subspan(static_cast<std::size_t>(region.offset),
                       static_cast<std::size_t>(region.bytes()));
}

// A small generator: the draws are many, and only their moments matter.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 1) {}
  // Uniform in [-sqrt 3, sqrt 3]: variance 1.
  double Next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return (static_cast<double>(state_ >> 11) * 0x1p-53 - 0.5) * 3.4641016151377544;
  }

 private:
  std::uint64_t state_;
};

class ReferenceRun {
 public:
  ReferenceRun(const protocol::CandidateSet& set, const records::Case& workload,
               const CasePlan& plan, const GateFill* fill)
      : set_(set), workload_(workload), plan_(plan), fill_(fill) {}

  base::Result<OriginalResult> Run() {
    const Program program = OriginalProgram(plan_, set_.kernel.name);
    TRY_ASSIGN(Arena arena, Arena::Create(static_cast<std::size_t>(plan_.layout.bytes)));
    TRY_ASSIGN(Runner runner, Runner::Start(arena, {set_.original_artifact}));
    std::vector<std::byte> first;
    for (const std::byte poison : {kPoison, kOtherPoison}) {
      TRY(PrepareArena(plan_, fill_, set_.seed, poison, arena.bytes()));
      if (poison == kPoison) inputs_.assign(arena.bytes().begin(), arena.bytes().end());
      auto ran = runner.Ask(RunRequest(program, plan_.layout), kOriginalLimit);
      if (!ran) return Dropped("the original fails on it: " + ran.error().message);
      reference_.original_us = ran->value("microseconds", 0.0);
      if (poison == kPoison) first.assign(arena.bytes().begin(), arena.bytes().end());
    }
    if (!CollectOutputs(first, arena.bytes())) {
      return Dropped("the original gives other bits when it runs again");
    }
    if (!set_.twin_artifact.empty()) TRY(RunTwin(first));
    return std::move(reference_);
  }

 private:
  OriginalResult Dropped(const std::string& why) {
    OriginalResult dropped;
    dropped.dropped = why;
    return dropped;
  }

  // False if the two runs differ and no twin says how far that may go.
  bool CollectOutputs(std::span<const std::byte> first, std::span<const std::byte> second) {
    for (const Region& region : plan_.layout.regions) {
      ReferenceOutput output;
      if (region.output) {
        const auto a = BytesOf(region, first), b = BytesOf(region, second);
        output.bytes.assign(a.begin(), a.end());
        const auto size = static_cast<std::size_t>(region.type.size());
        for (std::size_t i = 0; i < a.size(); i += size) {
          if (std::memcmp(a.data() + i, b.data() + i, size) == 0) continue;
          const auto is = [size](const std::byte* p, std::byte value) {
            return std::all_of(p, p + size, [value](std::byte x) { return x == value; });
          };
          if (!region.input && is(a.data() + i, kPoison) && is(b.data() + i, kOtherPoison)) {
            if (output.unwritten.empty()) output.unwritten.resize(a.size() / size);
            output.unwritten[i / size] = true;
          } else if (set_.twin_artifact.empty() || !region.type.floating()) {
            return false;
          }
        }
      }
      reference_.outputs.push_back(std::move(output));
    }
    return true;
  }

  base::Result<> RunTwin(std::span<const std::byte> original) {
    Widening widening{set_.twin.widened, set_.twin.widened_globals};
    TRY_ASSIGN(CasePlan plan, PlanCase(set_.kernel, workload_, device::DescribeHost(), &widening));
    if (set_.twin.widened_shared) plan.shared_bytes *= 2;
    const Program program = OriginalProgram(plan, set_.twin.entry);
    TRY_ASSIGN(Arena arena, Arena::Create(static_cast<std::size_t>(plan.layout.bytes)));
    TRY_ASSIGN(Runner runner, Runner::Start(arena, {set_.twin_artifact}));
    std::vector<std::vector<double>> exact, squares;
    for (int draw = 0; draw <= kDraws; ++draw) {
      Widen(plan, draw, arena.bytes());
      auto ran = runner.Ask(RunRequest(program, plan.layout), kOriginalLimit);
      if (!ran) {
        return base::Fail(base::InvalidArgument("the double twin fails: " + ran.error().message));
      }
      Accumulate(plan, arena.bytes(), draw, exact, squares);
    }
    for (std::size_t r = 0; r < plan_.layout.regions.size(); ++r) {
      const Region& region = plan_.layout.regions[r];
      if (!region.output || !region.type.floating()) continue;
      Expected expected;
      expected.exact = std::move(exact[r]);
      expected.unit.resize(expected.exact.size());
      const double roundoff = device::Roundoff(region.type);
      const double smallest = device::SmallestNormal(region.type);
      for (std::size_t i = 0; i < expected.unit.size(); ++i) {
        expected.unit[i] =
            std::sqrt(squares[r][i] / kDraws) + roundoff * std::fabs(expected.exact[i]) + smallest;
      }
      ReferenceOutput& output = reference_.outputs[r];
      const std::vector<double> values = Numbers(region, original);
      output.original_rho = RhoOf(values, values, expected);
      output.expected = std::move(expected);
    }
    return {};
  }

  static std::vector<double> Numbers(const Region& region, std::span<const std::byte> arena) {
    const auto count = static_cast<std::size_t>(region.count * region.type.lanes);
    std::vector<double> values(count);
    const std::byte* data = arena.data() + region.offset;
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = device::ReadNumber(data, static_cast<std::int64_t>(i), region.type);
    }
    return values;
  }

  // Draw 0: the inputs exactly; others: each floating input moved within its rounding.
  void Widen(const CasePlan& plan, int draw, std::span<std::byte> arena) {
    std::memset(arena.data(), std::to_integer<int>(kRedByte), arena.size());
    Noise noise(static_cast<std::uint64_t>(draw) + 17);
    for (std::size_t r = 0; r < plan.layout.regions.size(); ++r) {
      const Region &to = plan.layout.regions[r], &from = plan_.layout.regions[r];
      if (!from.input) continue;
      if (!from.type.floating()) {
        std::memcpy(arena.data() + to.offset, inputs_.data() + from.offset,
                    static_cast<std::size_t>(std::min(from.bytes(), to.bytes())));
        continue;
      }
      const std::int64_t count = from.count * from.type.lanes;
      for (std::int64_t i = 0; i < count; ++i) {
        double value = device::ReadNumber(inputs_.data() + from.offset, i, from.type);
        if (draw > 0) value *= 1.0 + kUnitRoundoff * noise.Next();
        device::WriteNumber(arena.data() + to.offset, i, to.type, value);
      }
    }
  }

  static void Accumulate(const CasePlan& plan, std::span<const std::byte> arena, int draw,
                         std::vector<std::vector<double>>& exact,
                         std::vector<std::vector<double>>& squares) {
    exact.resize(plan.layout.regions.size());
    squares.resize(plan.layout.regions.size());
    for (std::size_t r = 0; r < plan.layout.regions.size(); ++r) {
      const Region& region = plan.layout.regions[r];
      if (!region.output || !region.type.floating()) continue;
      std::vector<double> values = Numbers(region, arena);
      if (draw == 0) {
        squares[r].assign(values.size(), 0.0);
        exact[r] = std::move(values);
        continue;
      }
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double d = values[i] - exact[r][i];
        if (std::isfinite(d)) squares[r][i] += d * d;
      }
    }
  }

  const protocol::CandidateSet& set_;
  const records::Case& workload_;
  const CasePlan& plan_;
  const GateFill* fill_;
  std::vector<std::byte> inputs_;
  OriginalResult reference_;
};

struct Kept {
  std::string key;
  std::shared_ptr<const OriginalResult> reference;
};

}  // namespace

base::Result<> PrepareArena(const CasePlan& plan, const GateFill* fill, std::uint64_t seed,
                            std::byte poison, std::span<std::byte> arena) {
  std::memset(arena.data(), std::to_integer<int>(kRedByte), arena.size());
  for (const Region& region : plan.layout.regions) {
    if (region.input) continue;
    std::memset(arena.data() + region.offset, std::to_integer<int>(poison),
                static_cast<std::size_t>(region.bytes()));
  }
  TRY(FillInputs(plan.layout, fill, seed, plan.environment, arena.data()));
  return {};
}

base::Result<std::shared_ptr<const OriginalResult>> FindReference(const protocol::CandidateSet& set,
                                                                  const records::Case& workload,
                                                                  const CasePlan& plan,
                                                                  const GateFill* fill) {
  static std::list<Kept>& kept = *new std::list<Kept>;  // a worker serves one request at a time
  const std::string key = base::Hasher()
                              .Add(set.original_artifact)
                              .Add(set.twin_artifact)
                              .Add(records::HashJson(records::ToJson(set.workload)))
                              .Add(workload.name)
                              .Add(fill == nullptr ? "workload" : fill->name)
                              .Add(std::to_string(set.seed))
                              .Hex();
  for (auto it = kept.begin(); it != kept.end(); ++it) {
    if (it->key != key) continue;
    kept.splice(kept.begin(), kept, it);
    return kept.front().reference;
  }
  TRY_ASSIGN(OriginalResult reference, ReferenceRun(set, workload, plan, fill).Run());
  kept.push_front({key, std::make_shared<const OriginalResult>(std::move(reference))});
  if (kept.size() > kKept) kept.pop_back();
  return kept.front().reference;
}

}  // namespace cupilot::worker
