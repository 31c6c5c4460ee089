#include "search/space.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "search/random_numbers.h"

namespace cupilot::search {
namespace {

constexpr std::uint64_t kMostPoints = std::uint64_t{1} << 63;
constexpr std::size_t kMostValues = 65535;

bool HasOrder(ParameterKind kind) {
  return kind == ParameterKind::kNumber || kind == ParameterKind::kPower;
}

base::Result<> CheckParameters(const std::vector<SpaceParameter>& parameters) {
  std::set<std::string> names;
  for (const SpaceParameter& parameter : parameters) {
    const std::string what = "parameter '" + parameter.name + "': ";
    if (!names.insert(parameter.name).second) {
      return base::Fail(base::InvalidArgument(what + "there are two of this name"));
    }
    if (parameter.values.empty()) return base::Fail(base::InvalidArgument(what + "no values"));
    if (parameter.values.size() > kMostValues) {
      return base::Fail(
          base::InvalidArgument(what + "more than " + std::to_string(kMostValues) + " values"));
    }
    const std::set<std::int64_t> values(parameter.values.begin(), parameter.values.end());
    const std::set<std::string> texts(parameter.texts.begin(), parameter.texts.end());
    if (values.size() < parameter.values.size() || texts.size() < parameter.texts.size()) {
      return base::Fail(base::InvalidArgument(what + "it has a value twice"));
    }
    if (std::find(parameter.values.begin(), parameter.values.end(), parameter.standard) ==
        parameter.values.end()) {
      return base::Fail(base::InvalidArgument(what + std::to_string(parameter.standard) +
                                              ", its standard value, is none of its values"));
    }
  }
  return {};
}

}  // namespace

// Builds the trees. Each constraint, of && each operand, is asked where the last of its parameters
// gets its value.
class Space::Solver {
 public:
  Solver(const std::vector<SpaceParameter>& parameters, const records::Environment& constants,
         const Limits& limits)
      : parameters_(parameters), constants_(constants), limits_(limits) {}

  base::Result<std::vector<Tree>> Solve(const std::vector<std::string>& require) {
    for (const std::string& text : require) TRY(AddConstraint(text));
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const SpaceParameter& parameter = parameters_[i];
      if (parameter.when.empty()) continue;
      TRY(AddConstraint("(" + parameter.when + ") != 0 || " + parameter.name +
                        " == " + std::to_string(parameter.standard)));
    }
    std::vector<Tree> trees;
    for (const std::vector<std::size_t>& group : Groups()) {
      TRY_ASSIGN(Tree tree, SolveGroup(group));
      trees.push_back(std::move(tree));
    }
    return trees;
  }

 private:
  struct Constraint {
    std::string text;
    records::SlotExpression holds;
    std::vector<std::size_t> parameters;
  };

  base::Result<> AddConstraint(const std::string& text) {
    auto parsed = records::Expression::Parse(text);
    if (!parsed) return base::Fail(parsed.error().In("constraint '" + text + "'"));
    const auto slot_of = [this](std::string_view name) -> std::optional<int> {
      for (std::size_t i = 0; i < parameters_.size(); ++i) {
        if (parameters_[i].name == name) return static_cast<int>(i);
      }
      return std::nullopt;
    };
    // Each operand of && cuts where the last of its own parameters gets its value, and ties no
    // others together.
    for (const records::Expression& conjunct : parsed->Conjuncts()) {
      auto compiled = records::SlotExpression::Compile(conjunct, slot_of, constants_);
      if (!compiled) return base::Fail(compiled.error().In("constraint '" + text + "'"));
      Constraint constraint{text, std::move(*compiled), {}};
      for (const int slot : constraint.holds.slots()) {
        constraint.parameters.push_back(static_cast<std::size_t>(slot));
      }
      if (!constraint.parameters.empty()) {
        constraints_.push_back(std::move(constraint));
      } else if (!constraint.holds.Holds(nullptr)) {
        return base::Fail(base::InvalidArgument("constraint '" + text + "' never holds"));
      }
    }
    return {};
  }

  // Of parameters that constraints tie together, in the order of their first ones.
  std::vector<std::vector<std::size_t>> Groups() const {
    std::vector<std::size_t> leader(parameters_.size());
    std::iota(leader.begin(), leader.end(), std::size_t{0});
    const auto find = [&](std::size_t i) {
      while (leader[i] != i) i = leader[i];
      return i;
    };
    for (const Constraint& constraint : constraints_) {
      for (const std::size_t other : constraint.parameters) {
        const std::size_t a = find(constraint.parameters.front()), b = find(other);
        leader[std::max(a, b)] = std::min(a, b);
      }
    }
    std::vector<std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (find(i) != i) continue;
      groups.emplace_back();
      for (std::size_t j = i; j < parameters_.size(); ++j) {
        if (find(j) == i) groups.back().push_back(j);
      }
    }
    return groups;
  }

  // Next is the parameter after which most constraints can be asked for each value that it has.
  std::vector<std::size_t> Ordered(std::vector<std::size_t> group) const {
    std::vector<std::size_t> order;
    std::vector<bool> set(parameters_.size());
    while (!group.empty()) {
      const auto score = [&](std::size_t candidate) {
        double complete = 0, begun = 0;
        for (const Constraint& constraint : constraints_) {
          std::size_t missing = 0;
          bool touches = false;
          for (const std::size_t p : constraint.parameters) {
            missing += p != candidate && !set[p] ? 1 : 0;
            touches = touches || p == candidate;
          }
          if (!touches) continue;
          complete += missing == 0 ? 1 : 0;
          begun += 1.0 / static_cast<double>(missing + 1);
        }
        return (complete * 8 + begun) / std::log2(2.0 + static_cast<double>(ValuesOf(candidate)));
      };
      const auto best =
          std::max_element(group.begin(), group.end(),
                           [&](std::size_t a, std::size_t b) { return score(a) < score(b); });
      order.push_back(*best);
      set[*best] = true;
      group.erase(best);
    }
    return order;
  }

  std::size_t ValuesOf(std::size_t parameter) const { return parameters_[parameter].values.size(); }

  base::Result<Tree> SolveGroup(const std::vector<std::size_t>& group) {
    Tree tree;
    tree.parameters = Ordered(group);
    tree.levels.resize(group.size());
    by_depth_.assign(group.size(), {});
    passed_.assign(constraints_.size(), 0);
    for (std::size_t c = 0; c < constraints_.size(); ++c) {
      std::optional<std::size_t> last;
      for (std::size_t depth = 0; depth < tree.parameters.size(); ++depth) {
        const auto& of = constraints_[c].parameters;
        if (std::find(of.begin(), of.end(), tree.parameters[depth]) != of.end()) last = depth;
      }
      if (last) by_depth_[*last].push_back(c);
    }
    slots_.assign(parameters_.size(), 0);
    if (!Grow(tree, 0)) {
      const std::string too_much =
          nodes_ > limits_.nodes
              ? "more than " + std::to_string(limits_.nodes) + " choices are valid"
              : "more than " + std::to_string(limits_.tries) + " choices had to be tried";
      return base::Fail(base::Unsupported(too_much +
                                          ": constraints that cut earlier, or fewer values, are "
                                          "needed"));
    }
    if (tree.leaves == 0) return base::Fail(base::InvalidArgument(WhyEmpty(tree)));
    Close(tree);
    return tree;
  }

  // False: too many.
  bool Grow(Tree& tree, std::size_t depth) {
    std::vector<Node>& level = tree.levels[depth];
    const std::size_t parameter = tree.parameters[depth];
    const bool last = depth + 1 == tree.parameters.size();
    for (std::size_t value = 0; value < ValuesOf(parameter); ++value) {
      slots_[parameter] = parameters_[parameter].values[value];
      if (++tries_ > limits_.tries) return false;
      if (!AllHold(depth)) continue;
      Node node;
      node.value = static_cast<std::uint16_t>(value);
      node.first_leaf = tree.leaves;
      if (last) {
        ++tree.leaves;
      } else {
        node.first_child = static_cast<std::uint32_t>(tree.levels[depth + 1].size());
        if (!Grow(tree, depth + 1)) return false;
        if (tree.leaves == node.first_leaf) continue;
      }
      level.push_back(node);
      if (++nodes_ > limits_.nodes) return false;
    }
    return true;
  }

  bool AllHold(std::size_t depth) {
    for (const std::size_t c : by_depth_[depth]) {
      if (!constraints_[c].holds.Holds(slots_.data())) return false;
      ++passed_[c];
    }
    return true;
  }

  // The first constraint that nothing passed.
  std::string WhyEmpty(const Tree& tree) const {
    for (std::size_t depth = 0; depth < tree.parameters.size(); ++depth) {
      for (const std::size_t c : by_depth_[depth]) {
        if (passed_[c] == 0) {
          return "no point is valid: of what the others leave nothing fulfils '" +
                 constraints_[c].text + "'";
        }
      }
    }
    return "no point is valid";
  }

  const std::vector<SpaceParameter>& parameters_;
  const records::Environment& constants_;
  const Limits& limits_;
  std::vector<Constraint> constraints_;
  std::vector<std::vector<std::size_t>> by_depth_;  // constraints that are asked there
  std::vector<std::uint64_t> passed_;               // how often, by constraint
  std::vector<std::int64_t> slots_;
  std::size_t nodes_ = 0, tries_ = 0;
};

base::Result<Space> Space::Make(std::vector<SpaceParameter> parameters,
                                const std::vector<std::string>& require,
                                const records::Environment& constants, const Limits& limits) {
  TRY(CheckParameters(parameters));
  Space space;
  TRY_ASSIGN(space.trees_, Solver(parameters, constants, limits).Solve(require));
  space.parameters_ = std::move(parameters);
  space.size_ = 1;
  for (const Tree& tree : space.trees_) {
    if (space.size_ > kMostPoints / tree.leaves) {
      space.size_ = kMostPoints;
      break;
    }
    space.size_ *= tree.leaves;
  }
  return space;
}

base::Result<Space> Space::OfPoints(std::vector<SpaceParameter> parameters,
                                    std::vector<Point> points) {
  TRY(CheckParameters(parameters));
  if (parameters.empty() || points.empty()) {
    return base::Fail(base::InvalidArgument("no point is listed"));
  }
  for (const Point& point : points) {
    bool known = point.size() == parameters.size();
    for (std::size_t i = 0; known && i < point.size(); ++i) {
      known = point[i] < parameters[i].values.size();
    }
    if (!known) return base::Fail(base::InvalidArgument("a listed point has unknown values"));
  }
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  Tree tree;
  tree.parameters.resize(parameters.size());
  std::iota(tree.parameters.begin(), tree.parameters.end(), std::size_t{0});
  tree.levels.resize(parameters.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point& point = points[i];
    std::size_t depth = 0;  // from here on its nodes are its own
    while (i > 0 && point[depth] == points[i - 1][depth]) ++depth;
    for (; depth < point.size(); ++depth) {
      Node node;
      node.value = point[depth];
      node.first_leaf = i;
      if (depth + 1 < point.size()) {
        node.first_child = static_cast<std::uint32_t>(tree.levels[depth + 1].size());
      }
      tree.levels[depth].push_back(node);
    }
  }
  tree.leaves = points.size();
  Close(tree);
  Space space;
  space.size_ = tree.leaves;
  space.trees_.push_back(std::move(tree));
  space.parameters_ = std::move(parameters);
  return space;
}

void Space::Close(Tree& tree) {
  for (std::size_t depth = 0; depth < tree.levels.size(); ++depth) {
    Node end;
    end.first_leaf = tree.leaves;
    if (depth + 1 < tree.levels.size()) {
      end.first_child = static_cast<std::uint32_t>(tree.levels[depth + 1].size());
    }
    tree.levels[depth].push_back(end);
  }
}

bool Space::IsNumbered() const { return size_ < kMostPoints; }

std::optional<Point> Space::Standard() const {
  Point point;
  for (const SpaceParameter& parameter : parameters_) {
    const auto found =
        std::find(parameter.values.begin(), parameter.values.end(), parameter.standard);
    point.push_back(static_cast<std::uint16_t>(found - parameter.values.begin()));
  }
  return IsValid(point) ? std::optional<Point>(std::move(point)) : std::nullopt;
}

double Space::cartesian_size() const {
  double size = 1;
  for (const SpaceParameter& parameter : parameters_) {
    size *= static_cast<double>(parameter.values.size());
  }
  return size;
}

std::vector<std::vector<std::size_t>> Space::groups() const {
  std::vector<std::vector<std::size_t>> groups;
  groups.reserve(trees_.size());
  for (const Tree& tree : trees_) groups.push_back(tree.parameters);
  return groups;
}

Space::Range Space::ChildrenOf(const Tree& tree, std::size_t depth, std::size_t node) {
  return {tree.levels[depth][node].first_child, tree.levels[depth][node + 1].first_child};
}

// Siblings are in the order of their values.
const Space::Node* Space::FindValue(const Tree& tree, std::size_t depth, Range range,
                                    std::uint16_t value) {
  const Node* begin = tree.levels[depth].data() + range.begin;
  const Node* end = tree.levels[depth].data() + range.end;
  const Node* found =
      std::lower_bound(begin, end, value,
                       [](const Node& node, std::uint16_t wanted) { return node.value < wanted; });
  return found != end && found->value == value ? found : nullptr;
}

std::optional<std::uint64_t> Space::LeafOf(const Tree& tree, const Point& point) {
  Range range{0, tree.levels[0].size() - 1};
  for (std::size_t depth = 0;; ++depth) {
    const Node* node = FindValue(tree, depth, range, point[tree.parameters[depth]]);
    if (node == nullptr) return std::nullopt;
    if (depth + 1 == tree.parameters.size()) return node->first_leaf;
    range = ChildrenOf(tree, depth, static_cast<std::size_t>(node - tree.levels[depth].data()));
  }
}

void Space::SetLeaf(const Tree& tree, std::uint64_t leaf, Point& point) {
  Range range{0, tree.levels[0].size() - 1};
  for (std::size_t depth = 0;; ++depth) {
    const Node* begin = tree.levels[depth].data() + range.begin;
    const Node* end = tree.levels[depth].data() + range.end;
    const auto after = [](std::uint64_t wanted, const Node& node) {
      return wanted < node.first_leaf;
    };
    const Node* node = std::upper_bound(begin, end, leaf, after) - 1;
    point[tree.parameters[depth]] = node->value;
    if (depth + 1 == tree.parameters.size()) return;
    range = ChildrenOf(tree, depth, static_cast<std::size_t>(node - tree.levels[depth].data()));
  }
}

Point Space::At(std::uint64_t number) const {
  Point point(parameters_.size());
  for (const Tree& tree : trees_) {
    SetLeaf(tree, number % tree.leaves, point);
    number /= tree.leaves;
  }
  return point;
}

bool Space::IsValid(const Point& point) const {
  return std::all_of(trees_.begin(), trees_.end(),
                     [&](const Tree& tree) { return LeafOf(tree, point).has_value(); });
}

std::optional<std::uint64_t> Space::NumberOf(const Point& point) const {
  std::uint64_t number = 0, scale = 1;
  for (const Tree& tree : trees_) {
    const auto leaf = LeafOf(tree, point);
    if (!leaf) return std::nullopt;
    number += *leaf * scale;
    scale *= tree.leaves;
  }
  return number;
}

Point Space::Draw(std::mt19937_64& random) const {
  Point point(parameters_.size());
  for (const Tree& tree : trees_) SetLeaf(tree, Below(tree.leaves, random), point);
  return point;
}

std::vector<Point> Space::Neighbours(const Point& point, bool adjacent) const {
  std::vector<Point> neighbours;
  for (const Tree& tree : trees_) {
    for (const std::size_t parameter : tree.parameters) {
      const int count = static_cast<int>(parameters_[parameter].values.size());
      const int here = point[parameter];
      const auto try_value = [&](int value) {
        Point other = point;
        other[parameter] = static_cast<std::uint16_t>(value);
        if (!LeafOf(tree, other)) return false;
        neighbours.push_back(std::move(other));
        return true;
      };
      if (adjacent && HasOrder(parameters_[parameter].kind)) {
        for (int value = here + 1; value < count && !try_value(value); ++value) {
        }
        for (int value = here - 1; value >= 0 && !try_value(value); --value) {
        }
        continue;
      }
      for (int value = 0; value < count; ++value) {
        if (value != here) (void)try_value(value);
      }
    }
  }
  return neighbours;
}

Point Space::Nearest(const Point& point) const {
  Point near = point;
  for (const Tree& tree : trees_) {
    Range range{0, tree.levels[0].size() - 1};
    for (std::size_t depth = 0; depth < tree.parameters.size(); ++depth) {
      const std::size_t parameter = tree.parameters[depth];
      const Node* begin = tree.levels[depth].data() + range.begin;
      const Node* end = tree.levels[depth].data() + range.end;
      const Node* node = std::min_element(begin, end, [&](const Node& a, const Node& b) {
        return std::abs(int{a.value} - int{point[parameter]}) <
               std::abs(int{b.value} - int{point[parameter]});
      });
      near[parameter] = node->value;
      if (depth + 1 == tree.parameters.size()) break;
      range = ChildrenOf(tree, depth, static_cast<std::size_t>(node - tree.levels[depth].data()));
    }
  }
  return near;
}

std::string Space::TextOf(const Point& point) const {
  std::string text;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const SpaceParameter& parameter = parameters_[i];
    const bool named = point[i] < parameter.texts.size();
    text += (text.empty() ? "" : " ") + parameter.name + "=" +
            (named ? parameter.texts[point[i]] : std::to_string(ValueOf(point, i)));
  }
  return text;
}

}  // namespace cupilot::search
