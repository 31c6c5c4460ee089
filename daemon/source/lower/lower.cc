#include "source/lower/lower.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "source/lower/atomic_reads.h"
#include "source/lower/attributes.h"
#include "source/lower/edits.h"
#include "source/lower/friend_kernels.h"
#include "source/lower/kernel_facts.h"
#include "source/lower/kernel_text.h"
#include "source/lower/place_edits.h"
#include "source/lower/thread_index.h"
#include "source/syntax/built_ins.h"
#include "source/syntax/lexer.h"
#include "source/syntax/query.h"

namespace cupilot::source {
namespace {

class Lowering {
 public:
  Lowering(const Tree& tree, const LowerOptions& options)
      : tree_(tree),
        options_(options),
        edits_(tree.text),
        friend_structures_(FriendStructures(tree)) {
    for (NodeId id = 0; id < static_cast<NodeId>(tree_.nodes.size()); ++id) {
      if (IsA(tree_, id, Kind::kFunction) && IsFriend(id)) friends_.insert(tree_.at(id).mangled);
    }
  }

  base::Result<std::string> Run() {
    const std::vector<Token> tokens = Lex(tree_.text);
    RemoveCudaAttributes(tree_.text, tokens, edits_);
    DeclareFriends(tree_, friend_structures_, edits_);
    if (options_.thread_sanitizer) LowerReads();
    for (NodeId id = 0; id < static_cast<NodeId>(tree_.nodes.size()); ++id) {
      if (Has(tree_, id, kSystem)) continue;
      switch (tree_.at(id).kind) {
        case Kind::kDeclRef:
          LowerReference(id);
          break;
        case Kind::kKernelLaunch:
          LowerLaunch(id);
          break;
        case Kind::kVariable:
          LowerVariable(id);
          break;
        case Kind::kFunction:
          LowerFunction(id);
          break;
        case Kind::kLambda:
          LowerLambda(id);
          break;
        default:
          break;
      }
    }
    if (CutsALiteral(tokens)) {
      return base::Fail(base::Unsupported("a literal that looks like CUDA's words"));
    }
    std::string text = edits_.Apply();
    text += ModuleText(tree_, options_, kernels_, variables_, friend_structures_);
    return text;
  }

 private:
  // No part of a literal becomes code, whatever it holds.
  bool CutsALiteral(const std::vector<Token>& tokens) const {
    std::vector<std::uint32_t> places = edits_.Places();
    std::sort(places.begin(), places.end());
    for (const Token& token : tokens) {
      if (token.kind != TokenKind::kString && token.kind != TokenKind::kChar) continue;
      const auto behind = std::upper_bound(places.begin(), places.end(), token.begin);
      if (behind != places.end() && *behind < token.end) return true;
    }
    return false;
  }

  // Where the executing thread is found: a kernel's own parameter, else asked for.
  std::string ThreadAt(NodeId id) const {
    return KernelAround(tree_, id) != kNone ? "cupilot_t." : "::cupilot_host_current()->";
  }

  void LowerReads() {
    for (const NodeId id : ReadsBesideCompareAndSwap(tree_)) {
      edits_.Insert(tree_.at(id).begin, "::cupilot_host::read_atomic(");
      edits_.Insert(tree_.at(id).end, ")");
    }
  }

  // An assertion of device code says which thread's it is.
  void LowerAssertion(NodeId id) {
    const Node& node = tree_.at(id);
    const NodeId function = EnclosingFunction(tree_, id);
    const bool kernel = Has(tree_, function, kGlobalAttr);
    if (!kernel && KernelAround(tree_, id) == kNone && !Has(tree_, function, kDeviceAttr)) return;
    edits_.Replace(node.begin, node.end,
                   std::string("::cupilot_host::assertion{") +
                       (kernel ? "&cupilot_t" : "::cupilot_host_known()") + "}.fail");
  }

  void LowerReference(NodeId id) {
    const Node& node = tree_.at(id);
    if (node.name == kAssertion) return LowerAssertion(id);
    if (IsBuiltInVariable(tree_, id)) {
      if (KernelAround(tree_, id) == kNone) edits_.Insert(node.begin, ThreadAt(id));
      return;
    }
    // A dynamic shared array at namespace scope has no storage: each use finds the block's.
    const NodeId declaration = node.declaration;
    if (Has(tree_, declaration, kSharedAttr | kExtern) && !Has(tree_, declaration, kLocal)) {
      const std::string type = "cupilot_type_" + node.name;
      edits_.Replace(node.begin, node.end,
                     "(*reinterpret_cast<" + type + "*>(" + ThreadAt(id) + "dynamic_shared))");
    }
  }

  // A lambda of a kernel that names what it captures also captures the thread, if it asks for it.
  void LowerLambda(NodeId id) {
    if (KernelAround(tree_, id) == kNone) return;
    const std::uint32_t begin = tree_.at(id).begin;
    const std::string_view text = tree_.TextOf(id);
    const std::size_t first = text.find_first_not_of(" \t\n", 1);
    if (first == std::string_view::npos || text[0] != '[' || text[first] == '=') return;
    const std::size_t second = text.find_first_not_of(" \t\n", first + 1);
    if (text[first] == '&' && (text[second] == ']' || text[second] == ',')) return;
    const std::vector<NodeId> references = FindAll(tree_, id, Kind::kDeclRef);
    const bool asks = std::any_of(references.begin(), references.end(), [&](NodeId reference) {
      const NodeId declaration = tree_.at(reference).declaration;
      return IsBuiltInVariable(tree_, reference) ||
             (Has(tree_, declaration, kSharedAttr | kExtern) && !Has(tree_, declaration, kLocal));
    });
    if (asks) edits_.Insert(begin + 1, text[first] == ']' ? "&cupilot_t" : "&cupilot_t, ");
  }

  // k<<<grid, block>>>(arguments) becomes
  // (__cudaPushCallConfiguration(grid, block) ? (void)0 : (k)(arguments)), as nvcc does it.
  void LowerLaunch(NodeId id) {
    const Node& node = tree_.at(id);
    const NodeId callee = Callee(tree_, id);
    const std::vector<NodeId> configuration = LaunchConfiguration(tree_, id);
    if (callee == kNone || configuration.empty()) return;
    std::string push = "(::__cudaPushCallConfiguration(";
    for (std::size_t i = 0; i < configuration.size(); ++i) {
      push += (i == 0 ? "" : ", ") + std::string(tree_.TextOf(configuration[i]));
    }
    const std::size_t close = tree_.text.find(">>>", tree_.at(configuration.back()).end);
    if (close == std::string::npos || close > node.end) return;
    edits_.Insert(node.begin, push + ") ? (void)0 : (void)(");
    edits_.Replace(tree_.at(callee).end, static_cast<std::uint32_t>(close + 3), "");
    edits_.Insert(node.end, "))");
  }

  void LowerVariable(NodeId id) {
    const Node& node = tree_.at(id);
    if (Has(tree_, id, kSharedAttr)) return LowerShared(id);
    const bool device = Has(tree_, id, kConstantAttr) || Has(tree_, id, kDeviceAttr);
    if (!device || Has(tree_, id, kLocal) || Has(tree_, id, kMember_) ||
        Has(tree_, id, kTemplate)) {
      return;
    }
    if (!Has(tree_, id, kExtern) && !Has(tree_, id, kConstexpr)) variables_.push_back(id);
    const bool internal = Has(tree_, id, kStatic) || Has(tree_, id, kConst) ||
                          Has(tree_, id, kConstexpr) || Has(tree_, id, kExtern);
    if (!internal && !options_.relocatable && IsFirstOfItsDeclaration(id)) {
      edits_.Insert(node.begin, "static ");
    }
  }

  // In `float a[4], b[4];` only the first variable begins where the declaration does.
  bool IsFirstOfItsDeclaration(NodeId id) const {
    const Node& node = tree_.at(id);
    for (NodeId other = id - 1; other > 0 && tree_.at(other).kind == Kind::kVariable; --other) {
      if (tree_.at(other).parent == node.parent && tree_.at(other).begin == node.begin)
        return false;
    }
    return true;
  }

  // All threads of a block run on one operating-system thread, so its own copy is the block's. The
  // dynamic array is where the launch put it.
  void LowerShared(NodeId id) {
    const Node& node = tree_.at(id);
    if (!Has(tree_, id, kExtern)) {
      if (options_.watch && Has(tree_, id, kLocal)) {
        const std::size_t end = tree_.text.find(';', node.name_end);
        edits_.Insert(static_cast<std::uint32_t>(end + 1),
                      " ::cupilot_host::watch_shared(\"" + node.name + "\", " + node.name + ");");
      }
      if (!IsFirstOfItsDeclaration(id)) return;
      edits_.Insert(node.begin, Has(tree_, id, kStatic) ? "thread_local " : "static thread_local ");
      return;
    }
    const std::size_t word = tree_.text.find("extern", node.begin);
    if (word == std::string::npos || word > node.name_begin) return;
    const auto begin = static_cast<std::uint32_t>(word);
    const std::string type = "cupilot_type_" + node.name;
    edits_.Replace(begin, begin + 6, "typedef");
    edits_.Replace(node.name_begin, node.name_end, type);
    if (!Has(tree_, id, kLocal)) return;
    const std::size_t end = tree_.text.find(';', node.name_end);
    edits_.Insert(static_cast<std::uint32_t>(end + 1), " " + type + "& " + node.name +
                                                           " = *reinterpret_cast<" + type + "*>(" +
                                                           ThreadAt(id) + "dynamic_shared);");
  }

  void LowerFunction(NodeId id) {
    if (Has(tree_, id, kGlobalAttr)) {
      if (!Has(tree_, id, kDefinition)) return;  // the declaration is the launcher function's
      const KernelFacts facts = LoweredFactsOf(tree_, id, options_.thread_sanitizer);
      ThreadIndex index = ThreadIndexOf(tree_, id);
      // Threads that wait for each other run one by one: there is no row to know anything of.
      if (facts.synchronises) index.bounds.clear();
      EditBounds(tree_, index, edits_);
      EditPlaces(tree_, Body(tree_, id), index, edits_);
      const auto structure = friend_structures_.find(id);
      const KernelText text =
          WriteKernel(tree_, id, facts, index, options_,
                      structure == friend_structures_.end() ? "" : structure->second);
      if (!text.open.empty()) {
        edits_.Insert(Has(tree_, id, kTemplate) ? tree_.at(id).template_begin : tree_.at(id).begin,
                      text.open);
      }
      edits_.Insert(tree_.at(id).begin, text.before);
      edits_.Replace(tree_.at(id).name_begin, tree_.at(id).name_end, text.body_name);
      edits_.Insert(tree_.at(id).parameters_begin + 1, text.first_parameter);
      edits_.Insert(tree_.at(id).end, text.after);
      if (!Has(tree_, id, kTemplate)) kernels_.push_back(id);
      return;
    }
    // Device functions of a translation unit are its own, as they are on a device.
    const Node& node = tree_.at(id);
    const std::uint32_t visible = kHostAttr | kStatic | kInline | kExtern | kTemplate | kMember_ |
                                  kVirtual | kLocal | kConstexpr;
    if (!Has(tree_, id, kDeviceAttr) || (node.flags & visible) != 0 || options_.relocatable) return;
    if (node.template_begin != node.begin && node.template_begin != 0) return;
    if (IsFriend(id)) return;
    // What a class has declared as its friend is visible elsewhere.
    const bool visible_friend = friends_.count(node.mangled) > 0;
    edits_.Insert(node.begin, visible_friend ? "inline " : "static __attribute__((unused)) ");
  }

  bool IsFriend(NodeId function) const {
    return IsA(tree_, tree_.at(function).parent, Kind::kFriend);
  }

  const Tree& tree_;
  const LowerOptions& options_;
  Edits edits_;
  std::set<std::string> friends_;  // mangled names of functions
  std::map<NodeId, std::string> friend_structures_;
  std::vector<NodeId> kernels_;
  std::vector<NodeId> variables_;
};

}  // namespace

base::Result<std::string> Lower(const Tree& tree, const LowerOptions& options) {
  return Lowering(tree, options).Run();
}

}  // namespace cupilot::source
