#include "tests/daemon/worker/numerics/rule_table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "worker/fill_recipe.h"

namespace cupilot::worker::numerics {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One subject on one fill and one seed. Empty where the fill changes nothing.
Contents Draw(const Subject& subject, const GateFill* fill, std::uint64_t seed,
              const TableSettings& settings) {
  Contents contents;
  std::vector<std::byte*> places;
  for (const Region& region : subject.layout.regions) {
    contents.emplace_back(region.input ? static_cast<std::size_t>(region.bytes()) : 0);
  }
  for (auto& bytes : contents) places.push_back(bytes.data());
  const auto changed = FillInputs(subject.layout, fill, seed, subject.environment, places);
  if (!changed || (fill != nullptr && !*changed)) return {};
  if (fill == nullptr && settings.workload) settings.workload(subject.layout, seed, contents);
  return contents;
}

double Ratio(double value, double limit) {
  if (std::isinf(limit)) return 0;
  return std::isnan(value) ? kInfinity : value / limit;
}

class Judge {
 public:
  Judge(const Subject& subject, const GateFill* fill, const Contents& contents, std::uint64_t seed,
        double reach)
      : subject_(subject), contents_(contents) {
    Random random(seed);
    original_ = subject.original(contents, random);
    if (!subject.expected) return;
    expected_ = subject.expected(contents, seed, reach);
    const Rho rho = RhoOf(original_, original_, expected_);
    const bool dense =
        fill == nullptr || fill->dense || (fill->kind == device::FillKind::kExact && !IsExact(rho));
    limits_ = LimitsOf(rho, InputsOfOneOutput(subject.layout, expected_), dense, expected_.narrow);
  }

  double MarginOf(const Candidate& candidate, std::uint64_t seed) const {
    Random random(seed + 1000);
    const std::vector<double> values = candidate.run(contents_, random);
    if (!subject_.expected) return values == original_ ? 0 : kInfinity;
    const Rho rho = RhoOf(values, original_, expected_);
    const double margin = std::max(Ratio(rho.rms, limits_.rms), Ratio(rho.max, limits_.max));
    return Passes(rho, limits_) ? std::min(margin, 1.0)
                                : std::max(margin, std::nextafter(1.0, 2.0));
  }

 private:
  const Subject& subject_;
  const Contents& contents_;
  std::vector<double> original_;
  Expected expected_;
  Limits limits_{};
};

struct Worst {
  double margin = -1;
  std::string fill;
};

}  // namespace

double Row::least() const { return *std::min_element(margins.begin(), margins.end()); }
double Row::greatest() const { return *std::max_element(margins.begin(), margins.end()); }

int Row::accepted() const {
  return static_cast<int>(
      std::count_if(margins.begin(), margins.end(), [](double margin) { return margin <= 1; }));
}

bool Row::Right() const {
  const int all = static_cast<int>(margins.size());
  if (quality == Quality::kEither) return true;
  return accepted() == (quality == Quality::kGood ? all : 0);
}

std::string Row::Text() const {
  const auto most =
      std::max_element(decided.begin(), decided.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  static constexpr const char* kWords[] = {"good", "BAD ", "?   "};
  char text[240];
  std::snprintf(text, sizeof text, "%-16s %s %-22s margin %9.3g to %9.3g by %-8s accepted %d/%zu%s",
                subject.c_str(), kWords[static_cast<int>(quality)], candidate.c_str(), least(),
                greatest(), most->first.c_str(), accepted(), margins.size(),
                Right() ? "" : "   WRONG");
  return text;
}

std::string Row::Refusing() const {
  std::string text;
  for (const auto& [fill, margin] : worst_of) {
    char one[80];
    std::snprintf(one, sizeof one, "%s%s %.3g", text.empty() ? "" : ", ", fill.c_str(), margin);
    if (margin > 1) text += one;
  }
  return text.empty() ? "none" : text;
}

std::vector<GoodData> DataWhereHalfIsAsGood() {
  const auto each = [](float (*value)(Random&)) {
    return [value](const Layout& layout, std::uint64_t seed, Contents& contents) {
      Random random(seed);
      for (std::size_t r = 0; r + 1 < layout.regions.size(); ++r) {
        const Region& region = layout.regions[r];
        for (std::int64_t i = 0; i < region.count; ++i) {
          device::WriteNumber(contents[r].data(), i, region.type, value(random));
        }
      }
    };
  };
  return {
      {"uniform, positive",
       each([](Random& random) { return static_cast<float>(random() >> 40) * 0x1p-24f; })},
      {"small integers", each([](Random& random) { return static_cast<float>(random() % 256); })},
      {"exact in half", each([](Random& random) {
         return ToHalf(static_cast<float>(static_cast<std::int64_t>(random() >> 40)) * 0x1p-20f -
                       8);
       })},
  };
}

std::vector<Row> RowsOf(const Subject& subject, const TableSettings& settings) {
  std::vector<Row> rows;
  for (const Candidate& candidate : subject.candidates) {
    rows.push_back({subject.name, candidate.name, candidate.quality, {}, {}, {}});
  }
  std::vector<const GateFill*> fills = {nullptr};
  for (const GateFill& fill : kGateFills) fills.push_back(&fill);
  for (int s = 0; s < settings.seeds; ++s) {
    const std::uint64_t seed = settings.first_seed + static_cast<std::uint64_t>(s);
    std::vector<Worst> worst(rows.size());
    double reach = 1;
    for (const GateFill* fill : fills) {
      const Contents contents = Draw(subject, fill, seed, settings);
      if (contents.empty()) continue;
      const std::string name = fill == nullptr ? "workload" : fill->name;
      if (fill == nullptr && subject.reach) reach = subject.reach(contents);
      const Judge judge(subject, fill, contents, seed, reach);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const double margin = judge.MarginOf(subject.candidates[i], seed);
        const auto least = rows[i].worst_of.try_emplace(name, margin).first;
        least->second = std::min(least->second, margin);
        if (margin > worst[i].margin) worst[i] = {margin, name};
      }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].margins.push_back(worst[i].margin);
      rows[i].decided[worst[i].fill] += 1;
    }
  }
  return rows;
}

}  // namespace cupilot::worker::numerics
