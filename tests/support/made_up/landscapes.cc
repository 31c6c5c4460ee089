#include "tests/support/made_up/landscapes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "search/random_numbers.h"

namespace cupilot::search {
namespace {

using Table = std::vector<std::vector<double>>;

// Numbers that devices of a family share but for a part.
class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t device)
      : family_(seed * 7919 + 1), own_((seed * 7919 + 1) ^ ((device + 1) * 104729)) {}

  // Uniform over [low, high], about half of it the device's own.
  double In(double low, double high) {
    const double common = Unit(family_), own = Unit(own_);
    return low + (high - low) * (kShared * common + (1 - kShared) * own);
  }
  double Normal(double deviation) {
    return deviation * (std::sqrt(kShared) * Bell(family_) + std::sqrt(1 - kShared) * Bell(own_));
  }
  // The same on all devices.
  std::size_t Pick(std::size_t count) { return static_cast<std::size_t>(Below(count, family_)); }
  bool Happens(double probability) { return Unit(family_) < probability; }
  std::mt19937_64& own() { return own_; }

 private:
  static constexpr double kShared = 0.45;
  static double Bell(std::mt19937_64& random) {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += Unit(random);
    return sum - 6;
  }

  std::mt19937_64 family_, own_;
};

bool IsNumeric(const SpaceParameter& parameter) {
  return (parameter.kind == ParameterKind::kNumber || parameter.kind == ParameterKind::kPower) &&
         parameter.values.size() > 2;
}

// 0 to 1 by place; powers are equally far apart.
double Scaled(const SpaceParameter& parameter, std::uint16_t place) {
  const std::size_t last = parameter.values.size() - 1;
  return last == 0 ? 0 : static_cast<double>(place) / static_cast<double>(last);
}

// The logarithm of a time, by a point.
class Landscape {
 public:
  virtual ~Landscape() = default;
  virtual double LogTime(const Point& point) const = 0;
};

class Factors : public Landscape {
 public:
  Factors(const Space& space, Dice& dice) {
    const auto& parameters = space.parameters();
    for (const SpaceParameter& parameter : parameters) {
      const double best = dice.In(0, 1), depth = dice.In(0.05, 1.5);
      std::vector<double> of;
      for (std::size_t v = 0; v < parameter.values.size(); ++v) {
        const double off = Scaled(parameter, static_cast<std::uint16_t>(v)) - best;
        of.push_back(IsNumeric(parameter) ? depth * off * off : dice.In(0, depth / 2));
      }
      main_.push_back(std::move(of));
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      Pair pair{dice.Pick(parameters.size()), dice.Pick(parameters.size()), {}};
      const double tilt = dice.Normal(0.6);
      for (std::size_t a = 0; a < parameters[pair.first].values.size(); ++a) {
        pair.table.emplace_back();
        for (std::size_t b = 0; b < parameters[pair.second].values.size(); ++b) {
          const double x = Scaled(parameters[pair.first], static_cast<std::uint16_t>(a)) - 0.5;
          const double y = Scaled(parameters[pair.second], static_cast<std::uint16_t>(b)) - 0.5;
          pair.table.back().push_back(tilt * x * y * 2 + dice.Normal(0.06));
        }
      }
      pairs_.push_back(std::move(pair));
    }
  }

  double LogTime(const Point& point) const override {
    double sum = 0;
    for (std::size_t i = 0; i < point.size(); ++i) sum += main_[i][point[i]];
    for (const Pair& pair : pairs_) sum += pair.table[point[pair.first]][point[pair.second]];
    return sum;
  }

 private:
  struct Pair {
    std::size_t first, second;
    Table table;
  };
  Table main_;
  std::vector<Pair> pairs_;
};

class Roofline : public Landscape {
 public:
  Roofline(const Space& space, Dice& dice) : space_(space) {
    const auto& parameters = space.parameters();
    std::size_t numeric = 0;
    for (const SpaceParameter& parameter : parameters) {
      Role role;
      if (IsNumeric(parameter)) {
        // The first two are the block, the others mostly work of a thread.
        role.threads = numeric < 2 ? 1 : dice.Happens(0.1) ? 1 : 0;
        role.work = role.threads > 0 ? 0 : dice.In(0.3, 1);
        role.reuse = dice.In(-0.1, 0.7) * (numeric < 2 ? 0.4 : 1);
        ++numeric;
      }
      for (std::size_t v = 0; v < parameter.values.size(); ++v) {
        role.other.push_back(dice.Normal(IsNumeric(parameter) ? 0.03 : 0.18));
      }
      roles_.push_back(std::move(role));
    }
    base_registers_ = dice.In(18, 40);
    registers_per_work_ = dice.In(1, 5);
    registers_in_all_ = dice.In(50000, 80000);
    processors_ = std::floor(dice.In(40, 140));
    items_ = dice.In(2e6, 3e7);
    traffic_share_ = dice.In(0.3, 2.5);
    latency_ = dice.In(0.2, 1.2);
  }

  double LogTime(const Point& point) const override {
    double threads = 1, work = 1, reuse = 0, other = 0;
    for (std::size_t i = 0; i < point.size(); ++i) {
      const SpaceParameter& parameter = space_.parameters()[i];
      const Role& role = roles_[i];
      other += role.other[point[i]];
      if (role.threads == 0 && role.work == 0) continue;
      const double value = std::max(1.0, static_cast<double>(parameter.values[point[i]]));
      if (role.threads > 0) threads *= std::min(value, 1024.0);
      work *= std::pow(value, role.work);
      reuse += role.reuse * std::log2(1 + value);
    }
    threads = std::clamp(threads, 1.0, 1024.0);
    const double warps = std::ceil(threads / 32);
    const double registers = std::min(255.0, base_registers_ + registers_per_work_ * work);
    const double spills = base_registers_ + registers_per_work_ * work > 255 ? 0.5 : 0;
    const double blocks_each = std::clamp(std::floor(registers_in_all_ / (registers * warps * 32)),
                                          1.0, std::floor(64 / warps) + 1);
    const double occupancy = std::min(1.0, blocks_each * warps / 64);
    const double blocks = std::ceil(items_ / (threads * work));
    const double waves = blocks / (blocks_each * processors_);
    const double tail = std::ceil(waves) / std::max(waves, 1e-9);
    const double idle = warps * 32 / threads;
    const double compute =
        idle * tail * (1 + 0.3 / work) * (1 + latency_ * std::pow(1 - occupancy, 2));
    const double traffic = traffic_share_ * std::exp2(-0.35 * reuse) * 4 *
                           (1 + 0.5 * latency_ * std::pow(1 - occupancy, 4)) * std::min(tail, 1.5);
    const double time = std::pow(std::pow(compute, 4) + std::pow(traffic, 4), 0.25);
    return std::min(std::log(time) + spills + other, 6.0);
  }

 private:
  struct Role {
    double threads = 0, work = 0, reuse = 0;
    std::vector<double> other;
  };
  const Space& space_;
  std::vector<Role> roles_;
  double base_registers_, registers_per_work_, registers_in_all_, processors_, items_;
  double traffic_share_, latency_;
};

class Rugged : public Landscape {
 public:
  Rugged(const Space& space, Dice& dice) : factors_(space, dice) {
    const auto& parameters = space.parameters();
    for (int i = 0; i < 24; ++i) {
      Region region;
      const std::size_t conditions = 2 + dice.Pick(2);
      for (std::size_t c = 0; c < conditions; ++c) {
        const std::size_t p = dice.Pick(parameters.size());
        const std::size_t values = parameters[p].values.size();
        const std::size_t low = dice.Pick(values);
        const std::size_t high = std::min(values - 1, low + dice.Pick(1 + values / 3));
        region.conditions.push_back({p, low, high});
      }
      region.effect = dice.Normal(0.3);
      regions_.push_back(std::move(region));
    }
  }

  double LogTime(const Point& point) const override {
    double sum = factors_.LogTime(point);
    for (const Region& region : regions_) {
      const bool inside = std::all_of(region.conditions.begin(), region.conditions.end(),
                                      [&](const Condition& condition) {
                                        return point[condition.parameter] >= condition.low &&
                                               point[condition.parameter] <= condition.high;
                                      });
      if (inside) sum += region.effect;
    }
    return sum;
  }

 private:
  struct Condition {
    std::size_t parameter, low, high;
  };
  struct Region {
    std::vector<Condition> conditions;
    double effect = 0;
  };
  Factors factors_;
  std::vector<Region> regions_;
};

class Valleys : public Landscape {
 public:
  Valleys(const Space& space, Dice& dice) : space_(space) {
    for (int i = 0; i < 5; ++i) {
      Valley valley;
      std::mt19937_64 where(dice.Pick(1 << 20));
      valley.centre = space.Draw(where);
      valley.depth = dice.In(0.3, 1.2);
      for (std::size_t p = 0; p < valley.centre.size(); ++p) {
        valley.weights.push_back(dice.In(0.1, 2.5));
      }
      valleys_.push_back(std::move(valley));
    }
  }

  double LogTime(const Point& point) const override {
    double least = 1e9;
    for (const Valley& valley : valleys_) {
      double distance = 0;
      for (std::size_t p = 0; p < point.size(); ++p) {
        const SpaceParameter& parameter = space_.parameters()[p];
        const double off = IsNumeric(parameter)
                               ? Scaled(parameter, point[p]) - Scaled(parameter, valley.centre[p])
                               : (point[p] == valley.centre[p] ? 0 : 0.5);
        distance += valley.weights[p] * off * off;
      }
      least = std::min(least, 2 - valley.depth + 1.5 * distance / (0.3 + distance));
    }
    return least;
  }

 private:
  struct Valley {
    Point centre;
    double depth = 0;
    std::vector<double> weights;
  };
  const Space& space_;
  std::vector<Valley> valleys_;
};

// What nobody declared: a product of two parameters that may not grow beyond what fits.
struct HiddenLimit {
  std::size_t first = 0, second = 0;
  double most = 0;

  bool Holds(const Space& space, const Point& point) const {
    const auto value = [&](std::size_t p) { return 0.2 + Scaled(space.parameters()[p], point[p]); };
    return value(first) * value(second) <= most;
  }
};

std::unique_ptr<Landscape> ShapeOf(LandscapeKind kind, const Space& space, Dice& dice) {
  switch (kind) {
    case LandscapeKind::kFactors:
      return std::make_unique<Factors>(space, dice);
    case LandscapeKind::kRoofline:
      return std::make_unique<Roofline>(space, dice);
    case LandscapeKind::kRugged:
      return std::make_unique<Rugged>(space, dice);
    case LandscapeKind::kValleys:
      break;
  }
  return std::make_unique<Valleys>(space, dice);
}

}  // namespace

std::string_view NameOf(LandscapeKind kind) {
  switch (kind) {
    case LandscapeKind::kFactors:
      return "factors";
    case LandscapeKind::kRoofline:
      return "roofline";
    case LandscapeKind::kRugged:
      return "rugged";
    case LandscapeKind::kValleys:
      break;
  }
  return "valleys";
}

base::Result<MeasuredSpace> MakeLandscape(const SpaceFile& file, LandscapeKind kind,
                                          std::uint64_t seed, std::uint64_t device) {
  TRY_ASSIGN(const Space space, SpaceOf(file));
  Dice dice(seed, device);
  const auto landscape = ShapeOf(kind, space, dice);
  std::vector<std::size_t> tunable;
  for (std::size_t p = 0; p < space.parameters().size(); ++p) {
    if (IsNumeric(space.parameters()[p])) tunable.push_back(p);
  }
  HiddenLimit limit;
  if (tunable.size() > 1) {
    limit = {tunable[dice.Pick(tunable.size())], tunable[dice.Pick(tunable.size())],
             dice.In(0.45, 1.1)};
  }
  const double noise = dice.In(0.005, 0.03);
  MeasuredSpace::Parts parts;
  parts.name = std::string(NameOf(kind)) + " " + std::to_string(seed);
  parts.device = "made up " + std::to_string(device);
  parts.space = file;
  for (std::uint64_t number = 0; number < space.size(); ++number) {
    MeasuredRow row;
    row.point = space.At(number);
    const double wobble = noise * 3.4 * (Unit(dice.own()) - 0.5);
    const double time = 1000 * std::exp(landscape->LogTime(row.point) + wobble);
    row.compile_seconds = 0.6 + 1.5 * Unit(dice.own());
    const bool fails = Unit(dice.own()) < 0.01;
    if (fails || (tunable.size() > 1 && !limit.Holds(space, row.point))) {
      row.reason = "runtime";
    } else {
      row.microseconds = time;
      row.samples = 7;
      row.measure_seconds = 0.05 + 7e-6 * time;
    }
    parts.rows.push_back(std::move(row));
  }
  return MeasuredSpace::Make(std::move(parts));
}

}  // namespace cupilot::search
