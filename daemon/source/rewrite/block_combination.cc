#include "source/rewrite/block_combination.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "source/rewrite/combine.h"
#include "source/rewrite/inspect.h"

namespace cupilot::source {
namespace {

constexpr std::int64_t kMostEvaluations = 4'000'000;
constexpr std::size_t kWarp = 32;

std::string PlainType(std::string_view type) {
  return std::string(type.starts_with("const ") ? type.substr(6) : type);
}

bool IsMaximum(std::string_view name) { return name == "max" || name == "umax"; }
bool IsMinimum(std::string_view name) { return name == "min" || name == "umin"; }

// How often each thread's value counts in something; nothing for a plain number.
using Weights = std::shared_ptr<const std::vector<std::uint32_t>>;

struct Quantity {
  Weights weights;
  std::int64_t number = 0;
};
using Key = std::vector<std::int64_t>;  // of an element of a shared array
using Mask = std::vector<char>;         // which threads

class BlockRun {
 public:
  BlockRun(const Draft& draft, std::string combine, std::size_t values)
      : draft_(draft),
        tree_(draft.tree),
        combine_(std::move(combine)),
        repeats_count_(combine_ == "+" || combine_ == "^") {
    const Geometry geometry = DraftGeometry(draft);
    for (std::size_t d = 0; d < 3; ++d) block_[d] = geometry.block[d];
    threads_ = static_cast<std::size_t>(block_[0] * block_[1] * block_[2]);
    length_ = threads_ * values;
    alive_.assign(threads_, 1);
  }

  bool Bring(const ThreadValue& value, std::size_t number) {
    active_ = alive_;
    for (std::size_t t = 0; t < threads_; ++t) {
      auto weights = std::make_shared<std::vector<std::uint32_t>>(length_, 0);
      (*weights)[number * threads_ + t] = 1;
      const Quantity own{std::move(weights), 0};
      if (value.place == kNone) {
        Local(value.variable)[t] = own;
        continue;
      }
      const auto key = KeyOf(value.place, t);
      if (!key) return false;
      if (!shared_[value.variable].emplace(*key, own).second) {
        return No("threads share a place: '" + Shown(value.place) + "'");
      }
    }
    return true;
  }

  // A variable that may be asked for.
  void Know(NodeId variable) {
    Declare(variable, alive_);
    reason_.clear();
  }

  bool Run(NodeId id, const Mask& mask) {
    if (id == kNone || Nobody(mask)) return true;
    const Node& node = tree_.at(id);
    switch (node.kind) {
      case Kind::kCompound:
        return std::all_of(node.children.begin(), node.children.end(),
                           [&](NodeId child) { return Run(child, mask); });
      case Kind::kNullStatement:
        return true;
      case Kind::kDeclStatement:
        return std::all_of(node.children.begin(), node.children.end(),
                           [&](NodeId child) { return Declare(child, mask); });
      case Kind::kIf: {
        if (Child(tree_, id, 0) != kNone) return No("a condition with a declaration");
        Mask yes, no;
        return Split(Condition(tree_, id), mask, yes, no) && Run(Child(tree_, id, 2), yes) &&
               Run(Child(tree_, id, 3), no);
      }
      case Kind::kFor:
        return Run(Child(tree_, id, 0), mask) && Loop(id, mask, Child(tree_, id, 2));
      case Kind::kWhile:
        return Loop(id, mask, kNone);
      case Kind::kReturn:
        for (std::size_t t = 0; t < threads_; ++t) {
          if (mask[t] != 0) alive_[t] = 0;
        }
        return true;
      default:
        return Execute(SkipParens(tree_, id), mask);
    }
  }

  const Mask& alive() const { return alive_; }
  const std::string& reason() const { return reason_; }

  bool HasResults() const { return !results_.empty(); }
  bool Even() const {
    return std::all_of(results_.begin(), results_.end(), [&](const auto& result) {
      const std::vector<std::uint32_t>& weights = *result.second;
      for (std::size_t i = 0; i < length_; ++i) {
        if (weights[i] != weights[i / threads_ * threads_]) return false;
      }
      return true;
    });
  }

 private:
  bool No(const std::string& why) {
    if (reason_.empty()) reason_ = why;
    return false;
  }
  std::nullopt_t None(const std::string& why) {
    No(why);
    return std::nullopt;
  }
  std::string Shown(NodeId id) const {
    std::string text(tree_.TextOf(id));
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text.size() > 60 ? text.substr(0, 57) + "..." : text;
  }

  std::vector<std::optional<Quantity>>& Local(NodeId variable) {
    auto& values = locals_[variable];
    values.resize(threads_);
    return values;
  }
  bool Nobody(const Mask& mask) const {
    for (std::size_t t = 0; t < threads_; ++t) {
      if (mask[t] != 0 && alive_[t] != 0) return false;
    }
    return true;
  }
  bool Takes(const Mask& mask, std::size_t t) const { return mask[t] != 0 && alive_[t] != 0; }

  bool Declare(NodeId variable, const Mask& mask) {
    if (!IsA(tree_, variable, Kind::kVariable)) return true;
    if (Has(tree_, variable, kSharedAttr)) return true;
    const Node& node = tree_.at(variable);
    if (node.canonical.find('[') != std::string::npos || Has(tree_, variable, kReference)) {
      return No("it keeps '" + node.name + "' between steps");
    }
    const NodeId value = Initialiser(tree_, variable);
    std::vector<std::optional<Quantity>> values(threads_);
    if (value != kNone) {
      active_ = mask;
      for (std::size_t t = 0; t < threads_; ++t) {
        if (!Takes(mask, t)) continue;
        values[t] = Evaluate(value, t);
        if (!values[t] || !Fits(*values[t], value, node.canonical)) return false;
      }
    }
    locals_[variable] = std::move(values);
    return true;
  }

  bool Split(NodeId condition, const Mask& mask, Mask& yes, Mask& no) {
    yes.assign(threads_, 0);
    no.assign(threads_, 0);
    active_ = mask;
    for (std::size_t t = 0; t < threads_; ++t) {
      if (!Takes(mask, t)) continue;
      const auto value = Number(condition, t);
      if (!value) return false;
      (*value != 0 ? yes : no)[t] = 1;
    }
    return true;
  }

  bool Loop(NodeId loop, const Mask& mask, NodeId increment) {
    const NodeId condition = Condition(tree_, loop);
    if (condition == kNone) return No("a loop without a condition");
    for (Mask going = mask;;) {
      Mask yes, no;
      if (!Split(condition, going, yes, no)) return false;
      if (Nobody(yes)) return true;
      if (!Run(LoopBody(tree_, loop), yes)) return false;
      if (increment != kNone && !Execute(SkipParens(tree_, increment), yes)) return false;
      going = yes;
    }
  }

  // Statements that change something: for all threads from what was before.
  bool Execute(NodeId id, const Mask& mask) {
    const Node& node = tree_.at(id);
    if (node.kind == Kind::kCall) return Call(id, mask);
    if (!IsModification(tree_, id)) return No("'" + Shown(id) + "'");
    const NodeId target = SkipParens(tree_, TargetOf(tree_, id));
    active_ = mask;
    std::vector<std::pair<std::size_t, Quantity>> values;
    for (std::size_t t = 0; t < threads_; ++t) {
      if (!Takes(mask, t)) continue;
      const auto value = NewValue(id, target, t);
      if (!value) return false;
      values.emplace_back(t, *value);
    }
    const NodeId variable = VariableOf(tree_, target);
    if (variable != kNone && IsLocalVariable(tree_, draft_.facts, variable)) {
      for (auto& [t, value] : values) Local(variable)[t] = std::move(value);
      return true;
    }
    std::map<std::pair<NodeId, Key>, std::size_t> writers;
    for (auto& [t, value] : values) {
      const auto key = KeyOf(target, t);
      if (!key) return false;
      const NodeId root = RootOf(tree_, target);
      if (!writers.emplace(std::pair(root, *key), t).second) {
        return No("several threads write one place: '" + Shown(id) + "'");
      }
      pending_.push_back({root, *key, value});
    }
    for (auto& [root, key, value] : pending_) shared_[root][key] = value;
    pending_.clear();
    return true;
  }

  std::optional<Quantity> NewValue(NodeId id, NodeId target, std::size_t t) {
    const Node& node = tree_.at(id);
    if (node.kind == Kind::kUnary) {
      const auto before = Number(target, t);
      if (!before) return std::nullopt;
      return Quantity{nullptr, *before + (node.name == "++" ? 1 : -1)};
    }
    const NodeId operand = Child(tree_, id, 1);
    auto value = Evaluate(operand, t);
    if (!value || !Fits(*value, operand, tree_.at(target).canonical)) return std::nullopt;
    if (node.kind == Kind::kAssign) return value;
    if (node.kind != Kind::kCompoundAssign) return None("'" + Shown(id) + "'");
    const auto before = Evaluate(target, t);
    if (!before) return std::nullopt;
    return Operation(id, node.name.substr(0, node.name.size() - 1), *before, *value);
  }

  // A value that counts keeps its type: what a conversion makes of a sum is not what it makes of
  // its parts.
  bool Fits(const Quantity& value, NodeId expression, std::string_view type) {
    if (value.weights == nullptr) return true;
    const NodeId id = SkipParens(tree_, expression);
    if (PlainType(tree_.at(id).canonical) == PlainType(type)) return true;
    return No("'" + Shown(expression) + "' changes its type");
  }

  bool Call(NodeId id, const Mask& mask) {
    const std::string name = SystemCallee(tree_, id);
    if (name == "__syncthreads" || name == "__syncwarp") return true;
    const std::vector<NodeId> arguments = Arguments(tree_, id);
    if (CombineOfAtomic(name) != combine_ || arguments.size() != 2) {
      return No("'" + Shown(id) + "' combines otherwise");
    }
    active_ = mask;
    for (std::size_t t = 0; t < threads_; ++t) {
      if (!Takes(mask, t)) continue;
      const auto value = Evaluate(arguments[1], t);
      const auto weights = value ? AsWeights(*value, arguments[1]) : nullptr;
      if (weights == nullptr || !Result(arguments[0], arguments[1], t, weights)) return false;
    }
    return true;
  }

  bool Result(NodeId address, NodeId value, std::size_t t, const Weights& weights) {
    NodeId place = SkipParensAndCasts(tree_, address);
    const bool named = IsA(tree_, place, Kind::kUnary) && tree_.at(place).name == "&";
    if (named) place = SkipParens(tree_, Child(tree_, place, 0));
    const NodeId root = RootOf(tree_, place);
    if (root == kNone || PlainType(tree_.at(SkipParens(tree_, value)).canonical) !=
                             (tree_.at(root).element.empty() ? PlainType(tree_.at(root).canonical)
                                                             : tree_.at(root).element)) {
      return No("'" + Shown(address) + "' has another type than what is combined into it");
    }
    if (Has(tree_, root, kSharedAttr)) {
      const auto key = named ? KeyOf(place, t) : std::nullopt;
      if (!key) return No("'" + Shown(address) + "' is not followed");
      const auto found = shared_[root].find(*key);
      if (found == shared_[root].end()) return No("'" + Shown(place) + "' has no value yet");
      const auto before = AsWeights(found->second, place);
      if (before == nullptr) return false;
      found->second = {Sum(before, weights), 0};
      return true;
    }
    const NodeId other = FindBelow(tree_, address, [&](NodeId id) {
      const auto index = IndexOf(tree_, id);
      if (index) return index->variable == "threadIdx" || index->axis == 'x';
      const NodeId variable = IsA(tree_, id, Kind::kDeclRef) ? VariableOf(tree_, id) : kNone;
      const bool changes = IsA(tree_, variable, Kind::kVariable) && variable != root &&
                           !Has(tree_, variable, kConst) && !Has(tree_, variable, kConstexpr);
      return changes || IsA(tree_, id, Kind::kCall) ||
             (IsA(tree_, id, Kind::kDeclRef) && locals_.count(variable) > 0);
    });
    if (other != kNone) return No("its result goes to several places: '" + Shown(address) + "'");
    Weights& result = results_[std::string(tree_.TextOf(address))];
    result = result == nullptr ? weights : Sum(result, weights);
    return true;
  }

  Weights AsWeights(const Quantity& value, NodeId shown) {
    if (value.weights != nullptr) return value.weights;
    // A constant counts once for each block, as often as there are blocks.
    if (value.number != 0 && repeats_count_) {
      No("'" + Shown(shown) + "' counts once for each block");
      return nullptr;
    }
    return std::make_shared<const std::vector<std::uint32_t>>(length_, 0);
  }

  Weights Sum(const Weights& a, const Weights& b) const {
    auto sum = std::make_shared<std::vector<std::uint32_t>>(*a);
    for (std::size_t i = 0; i < length_; ++i) {
      std::uint32_t& one = (*sum)[i];
      one = combine_ == "^" ? (one ^ (*b)[i]) & 1 : one + (*b)[i];
      if (!repeats_count_) one = std::min(one, 1u);
    }
    return sum;
  }

  std::optional<std::int64_t> Number(NodeId expression, std::size_t t) {
    const auto value = Evaluate(expression, t);
    if (!value) return std::nullopt;
    if (value->weights != nullptr) return None("'" + Shown(expression) + "' depends on the values");
    return value->number;
  }

  std::optional<Quantity> Evaluate(NodeId expression, std::size_t t) {
    const NodeId id = SkipParens(tree_, expression);
    if (id == kNone || ++evaluations_ > kMostEvaluations) return None("it takes too many steps");
    const Node& node = tree_.at(id);
    if (!node.value.empty() && node.kind != Kind::kSizeOf && node.value.size() < 18) {
      return Quantity{nullptr, std::stoll(node.value)};
    }
    switch (node.kind) {
      case Kind::kFloatLiteral: {
        if (std::strtod(std::string(tree_.TextOf(id)).c_str(), nullptr) == 0) return Quantity{};
        auto weights = AsWeights({nullptr, 1}, id);
        return weights == nullptr ? std::nullopt : std::optional(Quantity{weights, 0});
      }
      case Kind::kDeclRef:
        return OfVariable(id, t);
      case Kind::kMember:
        return OfPlace(id, t);
      case Kind::kSubscript:
        return OfShared(id, t);
      case Kind::kCast: {
        auto value = Evaluate(Child(tree_, id, 0), t);
        if (!value || !Fits(*value, Child(tree_, id, 0), node.canonical)) return std::nullopt;
        return Wrapped(id, *value);
      }
      case Kind::kUnary: {
        const auto value = Number(Child(tree_, id, 0), t);
        if (!value) return std::nullopt;
        if (node.name == "-") return Wrapped(id, {nullptr, -*value});
        if (node.name == "!") return Quantity{nullptr, *value == 0 ? 1 : 0};
        if (node.name == "~") return Wrapped(id, {nullptr, ~*value});
        return None("'" + Shown(id) + "'");
      }
      case Kind::kBinary:
        return OfBinary(id, t);
      case Kind::kConditional: {
        const auto way = Number(Child(tree_, id, 0), t);
        if (!way) return std::nullopt;
        return Evaluate(Child(tree_, id, *way != 0 ? 1 : 2), t);
      }
      case Kind::kCall:
        return OfCall(id, t);
      default:
        return None("'" + Shown(id) + "'");
    }
  }

  std::optional<Quantity> OfVariable(NodeId id, std::size_t t) {
    const NodeId variable = VariableOf(tree_, id);
    if (variable != kNone && Has(tree_, variable, kSharedAttr)) return OfShared(id, t);
    const auto found = locals_.find(variable);
    if (found == locals_.end() || !found->second[t]) {
      return None("'" + Shown(id) + "' is not known before the kernel runs");
    }
    return found->second[t];
  }

  std::optional<Quantity> OfPlace(NodeId id, std::size_t t) {
    const auto place = IndexOf(tree_, id);
    if (!place) return None("'" + Shown(id) + "' is not known before the kernel runs");
    const auto d = static_cast<std::size_t>(place->axis - 'x');
    if (place->variable == "blockDim") return Quantity{nullptr, block_[d]};
    if (place->variable != "threadIdx") return None("'" + Shown(id) + "' differs between blocks");
    const auto at = static_cast<std::int64_t>(t);
    const std::int64_t places[] = {at % block_[0], at / block_[0] % block_[1],
                                   at / block_[0] / block_[1]};
    return Quantity{nullptr, places[d]};
  }

  std::optional<Key> KeyOf(NodeId place, std::size_t t) {
    Key key;
    NodeId id = SkipParens(tree_, place);
    for (; IsA(tree_, id, Kind::kSubscript); id = SkipParens(tree_, Child(tree_, id, 0))) {
      const auto index = Number(Child(tree_, id, 1), t);
      if (!index) return std::nullopt;
      key.insert(key.begin(), *index);
    }
    const NodeId variable = VariableOf(tree_, id);
    if (variable == kNone || !Has(tree_, variable, kSharedAttr)) {
      return None("'" + Shown(place) + "' is no place in shared memory");
    }
    return key;
  }

  std::optional<Quantity> OfShared(NodeId id, std::size_t t) {
    const auto key = KeyOf(id, t);
    if (!key) return std::nullopt;
    const auto& elements = shared_[RootOf(tree_, id)];
    const auto found = elements.find(*key);
    if (found == elements.end()) return None("'" + Shown(id) + "' has no value yet");
    return found->second;
  }

  // Unsigned numbers of 32 bits wrap.
  Quantity Wrapped(NodeId id, Quantity value) const {
    if (value.weights == nullptr && PlainType(tree_.at(id).canonical) == "unsigned int") {
      value.number &= 0xffffffff;
    }
    return value;
  }

  std::optional<Quantity> OfBinary(NodeId id, std::size_t t) {
    const std::string& name = tree_.at(id).name;
    const NodeId left = Child(tree_, id, 0), right = Child(tree_, id, 1);
    if (name == "&&" || name == "||") {
      const auto first = Number(left, t);
      if (!first) return std::nullopt;
      if ((*first != 0) == (name == "||")) return Quantity{nullptr, *first != 0 ? 1 : 0};
      const auto second = Number(right, t);
      return second ? std::optional(Quantity{nullptr, *second != 0 ? 1 : 0}) : std::nullopt;
    }
    auto a = Evaluate(left, t), b = Evaluate(right, t);
    if (!a || !b) return std::nullopt;
    const auto is_unsigned = [&](NodeId side) {
      return PlainType(tree_.at(SkipParens(tree_, side)).canonical) == "unsigned int";
    };
    if (a->weights == nullptr && b->weights == nullptr && (is_unsigned(left) || is_unsigned(right)))
      a->number &= 0xffffffff, b->number &= 0xffffffff;
    return Operation(id, name, *a, *b);
  }

  std::optional<Quantity> Operation(NodeId id, const std::string& name, const Quantity& a,
                                    const Quantity& b) {
    if (a.weights != nullptr || b.weights != nullptr) {
      if (name != combine_) return None("'" + Shown(id) + "' combines otherwise");
      const Weights left = AsWeights(a, id), right = AsWeights(b, id);
      if (left == nullptr || right == nullptr) return std::nullopt;
      return Quantity{Sum(left, right), 0};
    }
    const auto number = Arithmetic(name, a.number, b.number);
    if (!number) return None("'" + Shown(id) + "'");
    return Wrapped(id, {nullptr, *number});
  }

  static std::optional<std::int64_t> Arithmetic(const std::string& name, std::int64_t a,
                                                std::int64_t b) {
    constexpr std::int64_t kFar = 1ll << 40;
    if (a > kFar || a < -kFar || b > kFar || b < -kFar) return std::nullopt;
    const bool shifts = b >= 0 && b < 20;
    if (name == "+") return a + b;
    if (name == "-") return a - b;
    if (name == "*")
      return std::abs(a) < (1ll << 31) && std::abs(b) < (1ll << 31) ? std::optional(a * b)
                                                                    : std::nullopt;
    if (name == "/") return b == 0 ? std::nullopt : std::optional(a / b);
    if (name == "%") return b == 0 ? std::nullopt : std::optional(a % b);
    if (name == "<<") return shifts ? std::optional(a * (1ll << b)) : std::nullopt;
    if (name == ">>") return shifts ? std::optional(a >> b) : std::nullopt;
    if (name == "&") return a & b;
    if (name == "|") return a | b;
    if (name == "^") return a ^ b;
    if (name == "<") return a < b ? 1 : 0;
    if (name == "<=") return a <= b ? 1 : 0;
    if (name == ">") return a > b ? 1 : 0;
    if (name == ">=") return a >= b ? 1 : 0;
    if (name == "==") return a == b ? 1 : 0;
    if (name == "!=") return a != b ? 1 : 0;
    return std::nullopt;
  }

  std::optional<Quantity> OfCall(NodeId id, std::size_t t) {
    const std::string name = SystemCallee(tree_, id);
    const std::vector<NodeId> arguments = Arguments(tree_, id);
    if ((IsMaximum(name) || IsMinimum(name)) && arguments.size() == 2) {
      const auto a = Evaluate(arguments[0], t), b = Evaluate(arguments[1], t);
      if (!a || !b) return std::nullopt;
      if (a->weights != nullptr || b->weights != nullptr) {
        if (!Fits(*a, arguments[0], tree_.at(id).canonical) ||
            !Fits(*b, arguments[1], tree_.at(id).canonical)) {
          return std::nullopt;
        }
        return Operation(id, IsMaximum(name) ? "max" : "min", *a, *b);
      }
      return Quantity{nullptr, IsMaximum(name) ? std::max(a->number, b->number)
                                               : std::min(a->number, b->number)};
    }
    if (name.starts_with("__shfl") && arguments.size() == 3) return OfShuffle(id, name, t);
    return None("'" + Shown(id) + "'");
  }

  std::optional<Quantity> OfShuffle(NodeId id, const std::string& name, std::size_t t) {
    const std::vector<NodeId> arguments = Arguments(tree_, id);
    const auto amount = Number(arguments[2], t);
    if (!amount) return std::nullopt;
    const std::size_t first = t / kWarp * kWarp;
    const auto lane = static_cast<std::int64_t>(t - first);
    std::int64_t from = -1;
    if (name == "__shfl_down_sync") from = lane + *amount;
    if (name == "__shfl_up_sync") from = lane - *amount;
    if (name == "__shfl_xor_sync") from = lane ^ *amount;
    if (name == "__shfl_sync") from = *amount % static_cast<std::int64_t>(kWarp);
    if (from < 0 || from >= static_cast<std::int64_t>(kWarp)) from = lane;
    const std::size_t peer = first + static_cast<std::size_t>(from);
    if (peer >= threads_ || !Takes(active_, peer)) {
      return None("'" + Shown(id) + "' asks a thread that is elsewhere");
    }
    auto value = Evaluate(arguments[1], peer);
    if (!value || !Fits(*value, arguments[1], tree_.at(id).canonical)) return std::nullopt;
    return value;
  }

  struct Pending {
    NodeId root;
    Key key;
    Quantity value;
  };

  const Draft& draft_;
  const Tree& tree_;
  const std::string combine_;
  const bool repeats_count_;  // x combined with itself is not x
  std::int64_t block_[3] = {1, 1, 1};
  std::size_t threads_ = 0, length_ = 0;
  Mask alive_, active_;
  std::map<NodeId, std::vector<std::optional<Quantity>>> locals_;
  std::map<NodeId, std::map<Key, Quantity>> shared_;
  std::vector<Pending> pending_;
  std::map<std::string, Weights> results_;
  std::int64_t evaluations_ = 0;
  std::string reason_;
};

// The one way in which the statements' atomic operations combine; "" for several or none.
std::string CombineOfAtomics(const Tree& tree, std::span<const NodeId> statements) {
  std::string combine;
  bool one = true;
  for (const NodeId statement : statements) {
    for (const NodeId call : FindAll(tree, statement, Kind::kCall)) {
      const std::string name = SystemCallee(tree, call);
      if (!name.starts_with("atomic")) continue;
      const std::string found = CombineOfAtomic(name);
      one = one && !found.empty() && (combine.empty() || combine == found);
      combine = found;
    }
  }
  return one ? combine : "";
}

}  // namespace

base::Result<BlockCombination> CombinationOf(const Draft& draft, std::span<const NodeId> constants,
                                             std::span<const ThreadValue> values,
                                             std::span<const NodeId> statements) {
  BlockCombination combination;
  combination.combine = CombineOfAtomics(draft.tree, statements);
  if (combination.combine.empty()) {
    return Declined("its blocks do not end in atomic operations of one kind");
  }
  const Geometry geometry = DraftGeometry(draft);
  if (geometry.block[0] * geometry.block[1] * geometry.block[2] > 1024) {
    return Declined("its blocks are too large");
  }
  BlockRun run(draft, combination.combine, values.size());
  bool done = true;
  for (const NodeId id : constants) run.Know(id);
  for (std::size_t i = 0; i < values.size(); ++i) done = done && run.Bring(values[i], i);
  for (const NodeId id : statements) done = done && run.Run(id, Mask(run.alive()));
  if (!done) {
    return Declined("what its threads do together is not a plain combination of their values: " +
                    run.reason());
  }
  if (!run.HasResults()) return Declined("its blocks combine nothing");
  combination.even = run.Even();
  return combination;
}

}  // namespace cupilot::source
