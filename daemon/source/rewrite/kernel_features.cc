#include "source/rewrite/kernel_features.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "records/expression.h"
#include "source/rewrite/inspect.h"
#include "source/rewrite/loops.h"
#include "source/rewrite/thread_growth.h"

namespace cupilot::source {
namespace {

using records::FeatureAt;
using records::KernelFeatures;

constexpr double kRunsOfLoop = 8;  // what a loop's body counts for
constexpr int kDeepestLoops = 3;   // more levels count no more
constexpr int kDeepestCalls = 8;

bool IsFloatingText(std::string_view canonical) {
  for (const std::string_view word : {"float", "double", "half", "bfloat16"}) {
    if (canonical.find(word) != canonical.npos) return true;
  }
  return false;
}

// Functions that take the special function unit, or many instructions.
bool IsSpecialFunction(std::string_view name) {
  if (name.starts_with("__")) name.remove_prefix(2);
  if (name.starts_with("f") && (name.starts_with("fdivide") || name.starts_with("fsqrt") ||
                                name.starts_with("frsqrt") || name.starts_with("frcp"))) {
    return true;
  }
  for (const std::string_view stem :
       {"sqrt", "rsqrt", "cbrt",   "exp",  "log",  "pow",    "sin",    "cos",
        "tan",  "asin",  "acos",   "atan", "erf",  "tgamma", "lgamma", "hypot",
        "fmod", "hsqrt", "hrsqrt", "hexp", "hlog", "htanh"}) {
    if (name.starts_with(stem)) return true;
  }
  return false;
}

bool IsWarpFunction(std::string_view name) {
  for (const std::string_view stem : {"__shfl", "__ballot", "__any_sync", "__all_sync", "__match_",
                                      "__reduce_", "__activemask", "__syncwarp"}) {
    if (name.starts_with(stem)) return true;
  }
  return false;
}

// The class of a size: the power of two that is nearest on a logarithmic scale. What a program's
// launches were exactly is nobody else's matter.
double ClassOf(double size) { return size >= 1 ? std::exp2(std::round(std::log2(size))) : 0; }

enum class Operation { kNone, kFloat, kInteger, kSpecial };

Operation OperationOf(std::string_view operator_name, std::string_view canonical) {
  static constexpr std::string_view kArithmetic[] = {"+", "-",  "*",  "/", "%",
                                                     "&", "<<", ">>", "|", "^"};
  if (operator_name.ends_with('=')) operator_name.remove_suffix(1);
  if (std::find(std::begin(kArithmetic), std::end(kArithmetic), operator_name) ==
          std::end(kArithmetic) ||
      IsPointerType(canonical)) {
    return Operation::kNone;
  }
  if (!IsFloatingText(canonical)) return Operation::kInteger;
  return operator_name == "/" ? Operation::kSpecial : Operation::kFloat;
}

// Bytes of a fundamental or vector type; 0 for another.
double BytesOfType(std::string_view canonical) {
  if (canonical.starts_with("const ")) canonical.remove_prefix(6);
  static const std::map<std::string_view, double> kBytes = {
      {"float", 4},         {"double", 8},
      {"int", 4},           {"unsigned int", 4},
      {"char", 1},          {"signed char", 1},
      {"unsigned char", 1}, {"short", 2},
      {"bool", 1},          {"unsigned short", 2},
      {"long", 8},          {"unsigned long", 8},
      {"long long", 8},     {"unsigned long long", 8},
      {"float2", 8},        {"float3", 12},
      {"float4", 16},       {"double2", 16},
      {"int2", 8},          {"int4", 16},
      {"uint2", 8},         {"uint4", 16},
      {"__half", 2},        {"__half2", 4},
      {"__nv_bfloat16", 2}, {"__nv_bfloat162", 4}};
  const auto found = kBytes.find(canonical);
  return found == kBytes.end() ? 0 : found->second;
}

class FeatureReader {
 public:
  explicit FeatureReader(const Draft& draft)
      : draft_(draft), tree_(draft.tree), facts_(draft.facts) {
    geometry_ = OriginalGeometry(draft);
  }

  KernelFeatures Read() {
    ReadBody(facts_.body, 1, 0, true);
    Shares();
    ReadLoops();
    ReadParameters();
    ReadCase();
    return features_;
  }

 private:
  double& At(std::size_t i) { return features_.values[i]; }

  // How often a node counts, by the loops around it inside `body`; `levels`: those around the call.
  double RunsOf(NodeId id, NodeId body, int levels) const {
    for (NodeId at = id; at != kNone && at != body; at = tree_.at(at).parent) {
      levels += IsLoop(tree_.at(at).kind) && at != id ? 1 : 0;
    }
    return std::pow(kRunsOfLoop, std::min(levels, kDeepestLoops));
  }

  int LevelsAround(NodeId id, NodeId body) const {
    int levels = 0;
    for (NodeId at = tree_.at(id).parent; at != kNone && at != body; at = tree_.at(at).parent) {
      levels += IsLoop(tree_.at(at).kind) ? 1 : 0;
    }
    return levels;
  }

  void ReadBody(NodeId body, int depth, int levels, bool own) {
    if (body == kNone || depth > kDeepestCalls) return;
    Walk(tree_, body, [&](NodeId id) {
      ReadNode(id, RunsOf(id, body, levels), own);
      const NodeId callee = UserCallee(tree_, id);
      if (callee != kNone && calls_.insert(id).second) {
        At(FeatureAt("device_calls")) += 1;
        // Each function counts once: what is called everywhere would hide the rest.
        if (visited_.insert(callee).second) {
          ReadBody(Body(tree_, callee), depth + 1, levels + LevelsAround(id, body), false);
        }
      }
      return true;
    });
  }

  void Count(Operation operation, double runs) {
    if (operation == Operation::kFloat) floats_ += runs;
    if (operation == Operation::kInteger) integers_ += runs;
    if (operation == Operation::kSpecial) specials_ += runs;
  }

  void ReadNode(NodeId id, double runs, bool own) {
    const Node& node = tree_.at(id);
    switch (node.kind) {
      case Kind::kBinary:
      case Kind::kCompoundAssign:
      case Kind::kOperatorCall:
        Count(OperationOf(node.name, node.canonical), runs);
        break;
      case Kind::kIf:
      case Kind::kSwitch:
      case Kind::kConditional:
        At(FeatureAt("branches")) += 1;
        break;
      case Kind::kVariable:
        if ((node.flags & kSharedAttr) != 0) {
          At(FeatureAt("shared_bytes")) += static_cast<double>(node.type_bytes);
        }
        break;
      case Kind::kCall:
        ReadCall(id, runs);
        break;
      default:
        break;
    }
    if (node.kind == Kind::kSubscript || (node.kind == Kind::kUnary && node.name == "*")) {
      ReadAccess(id, runs, own);
    }
  }

  void ReadCall(NodeId id, double runs) {
    const std::string name = SystemCallee(tree_, id);
    if (name.empty()) return;
    const std::string& type = tree_.at(id).canonical;
    if (name.starts_with("__syncthreads")) {
      At(FeatureAt("barriers")) += 1;
      if (runs > 1) At(FeatureAt("loop_barriers")) += 1;
    } else if (name.starts_with("atomic")) {
      atomics_ += runs;
    } else if (IsWarpFunction(name)) {
      At(FeatureAt("warp_exchanges")) += 1;
    } else if (IsSpecialFunction(name)) {
      specials_ += runs;
    } else if (name.starts_with("fma") || name.starts_with("__fma") || name.starts_with("__hfma")) {
      floats_ += name.starts_with("fmax") ? runs : 2 * runs;
    } else if (name.starts_with("__ld") || name.starts_with("__st")) {
      return;  // the access is below it
    } else if (IsFloatingText(type)) {
      floats_ += runs;
    } else if (IsIntegerType(type)) {
      integers_ += runs;
    }
  }

  // What a local pointer was made of.
  NodeId MemoryOf(NodeId expression) const {
    NodeId root = RootOf(tree_, expression);
    for (int i = 0; i < 4 && root != kNone && tree_.at(root).kind == Kind::kVariable &&
                    IsPointerType(tree_.at(root).canonical);
         ++i) {
      NodeId value = SkipParensAndCasts(tree_, Initialiser(tree_, root));
      if (value != kNone && tree_.at(value).kind == Kind::kUnary && tree_.at(value).name == "&") {
        value = Child(tree_, value, 0);
      }
      const NodeId behind = value == kNone ? kNone : RootOf(tree_, value);
      if (behind == kNone || behind == root) break;
      root = behind;
    }
    return root;
  }

  bool IsWritten(NodeId id) const {
    NodeId at = id;
    NodeId parent = tree_.at(at).parent;
    // The element of which a part is changed.
    while (parent != kNone &&
           (tree_.at(parent).kind == Kind::kMember || tree_.at(parent).kind == Kind::kParen)) {
      at = parent;
      parent = tree_.at(at).parent;
    }
    return parent != kNone && IsModification(tree_, parent) && TargetOf(tree_, parent) == at;
  }

  void ReadAccess(NodeId id, double runs, bool own) {
    const Node& node = tree_.at(id);
    // A row of an array of rows is no element yet.
    if (node.canonical.find('[') != std::string::npos) return;
    const NodeId root = MemoryOf(id);
    const bool local = root != kNone && tree_.at(root).kind == Kind::kVariable &&
                       (tree_.at(root).flags & kLocal) != 0 &&
                       !IsPointerType(tree_.at(root).canonical);
    if (root != kNone && (tree_.at(root).flags & kSharedAttr) != 0) {
      shared_ += runs;
      return;
    }
    if (local) return;
    double bytes = BytesOfType(node.canonical);
    if (bytes == 0 && root != kNone) bytes = static_cast<double>(tree_.at(root).element_bytes);
    global_ += runs;
    global_bytes_ += runs * std::max(bytes, 1.0);
    if (IsWritten(id)) writes_ += runs;
    if (own) ReadPattern(id, root, runs);
  }

  // The growth of all that an address is made of: pointer, rows and columns.
  Growth AddressGrowth(NodeId id, char axis) const {
    Growth sum;
    bool outer = false;
    for (NodeId at = id; at != kNone;) {
      const Node& node = tree_.at(at);
      const bool element = node.kind == Kind::kSubscript;
      const Growth part =
          GrowthOf(draft_, axis, element ? Child(tree_, at, 1) : Child(tree_, at, 0));
      sum.linear = sum.linear && part.linear;
      sum.indirect = sum.indirect || part.indirect;
      sum.symbolic = sum.symbolic || part.symbolic || (outer && !part.IsNone());
      sum.constant += part.constant;
      if (!element) break;
      at = SkipParens(tree_, Child(tree_, at, 0));
      outer = true;
      if (at == kNone || tree_.at(at).kind == Kind::kSubscript) continue;
      if (IsPointerType(tree_.at(at).canonical)) {
        const Growth base = GrowthOf(draft_, axis, at);
        sum.linear = sum.linear && base.linear;
        sum.indirect = sum.indirect || base.indirect;
        sum.symbolic = sum.symbolic || base.symbolic;
        sum.constant += base.constant;
      }
      break;
    }
    return sum;
  }

  void ReadPattern(NodeId id, NodeId root, double runs) {
    const Growth x = AddressGrowth(id, 'x');
    if (x.indirect) {
      indirect_ += runs;
    } else if (x.IsOne()) {
      coalesced_ += runs;
    } else if (x.IsNone()) {
      uniform_ += runs;
    } else if (x.linear) {
      strided_ += runs;
    }
    if (runs > 1 && !x.indirect) {
      const bool along_x = geometry_.block[0] > 1 && x.IsNone();
      if (along_x || (geometry_.block[1] > 1 && AddressGrowth(id, 'y').IsNone())) reused_ += runs;
    }
    if (root == kNone || IsWritten(id) || !(x.IsOne() || x.IsNone())) return;
    const NodeId index = tree_.at(id).kind == Kind::kSubscript ? Child(tree_, id, 1) : id;
    double& places = places_[{root, std::string(tree_.TextOf(index))}];
    places = std::max(places, ConstantRunsAround(id));
  }

  // How many places the constant loops around an access make of it.
  double ConstantRunsAround(NodeId id) const {
    double runs = 1;
    for (NodeId at = tree_.at(id).parent; at != kNone && at != facts_.body;
         at = tree_.at(at).parent) {
      if (IsLoop(tree_.at(at).kind)) runs *= std::max(ConstantRuns(at), 1.0);
    }
    return runs;
  }

  // Of a loop of constant length; else 0.
  double ConstantRuns(NodeId loop) const {
    const auto counting = ReadLoop(draft_, loop);
    if (!counting) return 0;
    const std::string& start = tree_.at(SkipParensAndCasts(tree_, counting->start)).value;
    const std::string& bound = tree_.at(SkipParensAndCasts(tree_, counting->bound)).value;
    if (start.empty() || bound.empty() || start.size() > 9 || bound.size() > 9) return 0;
    const std::int64_t length =
        std::stoll(bound) - std::stoll(start) + (counting->inclusive ? 1 : 0);
    return length <= 0
               ? 0
               : std::ceil(static_cast<double>(length) / static_cast<double>(counting->step));
  }

  void Shares() {
    const double operations = floats_ + integers_ + specials_ + atomics_;
    const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
    At(FeatureAt("float_share")) = share(floats_, operations);
    At(FeatureAt("integer_share")) = share(integers_, operations);
    At(FeatureAt("special_share")) = share(specials_, operations);
    At(FeatureAt("atomic_share")) = share(atomics_, operations);
    At(FeatureAt("coalesced_share")) = share(coalesced_, global_);
    At(FeatureAt("uniform_share")) = share(uniform_, global_);
    At(FeatureAt("strided_share")) = share(strided_, global_);
    At(FeatureAt("indirect_share")) = share(indirect_, global_);
    At(FeatureAt("write_share")) = share(writes_, global_);
    At(FeatureAt("reuse_share")) = share(reused_, global_);
    At(FeatureAt("shared_share")) = share(shared_, shared_ + global_);
    At(FeatureAt("access_bytes")) = share(global_bytes_, global_);
    At(FeatureAt("operations_per_byte")) = share(floats_ + specials_, global_bytes_);
    std::map<NodeId, double> places;
    for (const auto& [place, count] : places_) places[place.first] += count;
    for (const auto& [root, count] : places) {
      if (count > 1)
        At(FeatureAt("stencil_offsets")) = std::max(At(FeatureAt("stencil_offsets")), count);
    }
  }

  void ReadLoops() {
    std::set<NodeId> reductions;
    double loops = 0, constant = 0;
    int deepest = 0;
    Walk(tree_, facts_.body, [&](NodeId id) {
      if (!IsLoop(tree_.at(id).kind)) return true;
      loops += 1;
      constant += ConstantRuns(id) > 0 ? 1 : 0;
      deepest = std::max(deepest, LevelsAround(id, facts_.body) + 1);
      for (const Reduction& one : ReductionsIn(draft_, id)) reductions.insert(one.statement);
      return true;
    });
    At(FeatureAt("loops")) = loops;
    At(FeatureAt("loop_depth")) = deepest;
    At(FeatureAt("constant_loops")) = loops > 0 ? constant / loops : 0;
    At(FeatureAt("reductions")) = static_cast<double>(reductions.size());
  }

  static std::size_t DataOf(const std::string& element) {
    if (element.find("half") != element.npos || element.find("bfloat") != element.npos ||
        element.find("fp8") != element.npos) {
      return FeatureAt("half_share");
    }
    if (element.find("double") != element.npos) return FeatureAt("double_share");
    if (element.find("float") != element.npos) return FeatureAt("single_share");
    return FeatureAt("integer_data_share");
  }

  void ReadParameters() {
    const std::vector<NodeId> parameters = Parameters(tree_, draft_.function);
    double arrays = 0;
    for (const NodeId id : parameters) {
      const Node& node = tree_.at(id);
      if (!IsPointerType(node.canonical)) {
        At(FeatureAt("scalars")) += 1;
        continue;
      }
      arrays += 1;
      At(DataOf(node.element)) += 1;
      At(facts_.written.contains(id) ? FeatureAt("outputs") : FeatureAt("inputs")) += 1;
    }
    if (arrays == 0) return;
    for (const std::size_t share : {FeatureAt("half_share"), FeatureAt("single_share"),
                                    FeatureAt("double_share"), FeatureAt("integer_data_share")}) {
      At(share) /= arrays;
    }
  }

  void ReadCase() {
    double threads = 1, blocks = 1;
    for (std::size_t d = 0; d < 3; ++d) {
      At(FeatureAt("block_dimensions")) += geometry_.block[d] > 1 ? 1 : 0;
      At(FeatureAt("grid_dimensions")) += geometry_.grid[d] > 1 ? 1 : 0;
      threads *= static_cast<double>(geometry_.block[d]);
      blocks *= static_cast<double>(geometry_.grid[d]);
    }
    At(FeatureAt("block_threads")) = std::max(threads, 0.0);
    At(FeatureAt("grid_blocks")) = ClassOf(blocks);
    records::Environment scalars;
    for (const records::Argument& argument : draft_.workload.arguments) {
      const auto value = records::EvaluateText(argument.value, {});
      if (!argument.name.empty() && value) scalars.integers[argument.name] = *value;
    }
    double bytes = 0;
    const auto add = [&](const records::Size& size, std::int64_t each) {
      const auto count = records::EvaluateText(size, scalars);
      if (count && *count > 0) bytes += static_cast<double>(*count) * static_cast<double>(each);
    };
    const std::vector<NodeId> parameters = Parameters(tree_, draft_.function);
    for (std::size_t i = 0; i < draft_.workload.arguments.size() && i < parameters.size(); ++i) {
      add(draft_.workload.arguments[i].count,
          std::max<std::int64_t>(tree_.at(parameters[i]).element_bytes, 1));
    }
    for (const records::Buffer& buffer : draft_.workload.buffers) add(buffer.bytes, 1);
    At(FeatureAt("case_bytes")) = ClassOf(bytes);
  }

  const Draft& draft_;
  const Tree& tree_;
  const Facts& facts_;
  Geometry geometry_;
  KernelFeatures features_;
  std::set<NodeId> visited_, calls_;
  std::map<std::pair<NodeId, std::string>, double> places_;  // loads of one array, by index
  double floats_ = 0, integers_ = 0, specials_ = 0, atomics_ = 0;
  double global_ = 0, global_bytes_ = 0, writes_ = 0, shared_ = 0;
  double coalesced_ = 0, uniform_ = 0, strided_ = 0, indirect_ = 0, reused_ = 0;
};

}  // namespace

KernelFeatures FeaturesOf(const Draft& draft) { return FeatureReader(draft).Read(); }

}  // namespace cupilot::source
