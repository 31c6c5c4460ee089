#include "source/whitelist.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "records/source_text.h"
#include "source/beyond_arguments.h"
#include "source/closure_options.h"
#include "source/entry_arguments.h"
#include "source/promises.h"
#include "source/scalar_cases.h"
#include "source/swap/variant_text.h"
#include "source/syntax/lexer.h"
#include "source/syntax/query.h"
#include "source/whitelist_rules.h"
#include "source/whitelist_words.h"

namespace cupilot::source {
namespace {

using protocol::CheckVariantReply;

// A block of the largest GPUs has so much shared memory, a module so many constants, a thread so
// much local memory. Tables that a kernel reads are far smaller than the second-level cache.
constexpr std::int64_t kMostSharedBytes = 227 << 10;
constexpr std::int64_t kMostConstantBytes = 64 << 10;
constexpr std::int64_t kMostLocalBytes = 512 << 10;
constexpr std::int64_t kMostStaticBytes = 4 << 20;

CheckVariantReply Rejected(std::string reason, std::string detail) {
  CheckVariantReply reply;
  reply.reason = std::move(reason);
  reply.detail = std::move(detail);
  return reply;
}

// The tree's part that belongs to the variant.
class VariantTree {
 public:
  // The variant's source stands at `begin` of the tree's text.
  VariantTree(const Tree& tree, const std::string& name, std::size_t begin)
      : tree_(tree), name_(name), begin_(begin) {
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      const auto& node = tree.nodes[i];
      if (node.kind == Kind::kNamespace && node.name == name) {
        ++count_;
        namespace_ = static_cast<NodeId>(i);
      }
      if (node.kind == Kind::kFunction && (node.flags & kSystem) == 0) declared_.insert(node.name);
    }
  }

  // What is not allowed, empty if nothing.
  std::string Check(const records::Kernel& kernel, const records::Variant& variant) {
    if (count_ == 1) CheckNothingOutside();
    if (std::string wrong = CheckCode(); !wrong.empty()) return wrong;
    const NodeId unstated = UnstatedScalarCase(tree_, namespace_, kernel, variant);
    if (unstated != kNone) {
      Wrong(unstated,
            "a case of its own for values of a scalar, which no launch of the workload proves and "
            "the guard does not state; state it there, or leave it out");
    }
    return wrong_;
  }

  std::string CheckCode() {
    if (count_ != 1) return "it does not make exactly one namespace";
    for (const NodeId child : tree_.at(namespace_).children) CheckTopLevel(child);
    Walk(tree_, namespace_, [this](NodeId id) {
      CheckNode(id);
      return wrong_.empty();
    });
    return wrong_;
  }

  // Beside code of the user's that is no closure: what a template may bind to when it is made is
  // device code.
  std::string CheckBesideHostCode() {
    declared_.clear();
    for (const Node& node : tree_.nodes) {
      const bool device = (node.flags & (kGlobalAttr | kDeviceAttr)) != 0;
      if (node.kind == Kind::kFunction && device) declared_.insert(node.name);
    }
    return CheckCode();
  }

  std::vector<NodeId> Entries() const {
    std::vector<NodeId> entries;
    if (namespace_ == kNone) return entries;
    for (const NodeId child : tree_.at(namespace_).children) {
      if (IsA(tree_, child, Kind::kFunction) && Has(tree_, child, kGlobalAttr | kDefinition)) {
        entries.push_back(child);
      }
    }
    return entries;
  }

  // The body of a kernel beside the variant's namespace that nothing in that names; kNone: there is
  // none.
  NodeId UnusedBody(const std::string& kernel) const {
    const NodeId original = FindDefinition(tree_, kernel);
    if (original == kNone || !Has(tree_, original, kGlobalAttr) ||
        IsInside(tree_, original, namespace_)) {
      return kNone;
    }
    bool named = false;
    Walk(tree_, namespace_, [&](NodeId id) {
      const NodeId declared = tree_.at(id).declaration;
      named = named || (declared != kNone && tree_.at(declared).qualified == kernel);
      return !named;
    });
    return named ? kNone : Body(tree_, original);
  }

 private:
  void Wrong(NodeId id, const std::string& what) {
    if (!wrong_.empty()) return;
    std::string text(tree_.TextOf(id));
    if (text.size() > 80) text = text.substr(0, 77) + "...";
    for (char& c : text) {
      if (c == '\n') c = ' ';
    }
    const std::size_t at = std::max<std::size_t>(tree_.at(id).begin, begin_);
    const auto line = std::count(tree_.text.begin() + static_cast<std::ptrdiff_t>(begin_),
                                 tree_.text.begin() + static_cast<std::ptrdiff_t>(at), '\n') +
                      1;
    wrong_ = "line " + std::to_string(line) + " of the variant: " + what + ": '" + text + "'";
  }

  void CheckSize(NodeId id, std::int64_t bytes, std::int64_t most, const std::string& what) {
    if (bytes <= most) return;
    Wrong(id, std::to_string(bytes) + " bytes of " + what + ", more than the " +
                  std::to_string(most) + " that a variant may have");
  }

  void CheckSizeOf(NodeId id, const Node& node) {
    if (node.kind == Kind::kRecord) {
      return CheckSize(id, node.type_bytes, kMostStaticBytes, "a type");
    }
    if ((node.flags & kSharedAttr) != 0) {
      return CheckSize(id, node.type_bytes, kMostSharedBytes, "shared memory");
    }
    if ((node.flags & kLocal) != 0) {
      return CheckSize(id, node.type_bytes, kMostLocalBytes, "local memory");
    }
    if ((node.flags & kConstantAttr) != 0) {
      return CheckSize(id, constant_bytes_ += node.type_bytes, kMostConstantBytes, "constants");
    }
    CheckSize(id, static_bytes_ += node.type_bytes, kMostStaticBytes, "static data");
  }

  // Everything behind the start of the variant's namespace lies inside it.
  void CheckNothingOutside() {
    const std::uint32_t begin = tree_.at(namespace_).begin;
    for (std::size_t i = 1; i < tree_.nodes.size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      const Node& node = tree_.at(id);
      if ((node.flags & kSystem) != 0 || node.begin < begin) continue;
      if (!IsInside(tree_, id, namespace_)) return Wrong(id, "a declaration outside the namespace");
    }
  }

  void CheckTopLevel(NodeId id) {
    const Node& node = tree_.at(id);
    if ((node.flags & kSystem) != 0) return;
    switch (node.kind) {
      case Kind::kNamespace:
        // A swapped source has it in one more, of its object; its own words cannot make any.
        for (const NodeId child : node.children) CheckTopLevel(child);
        return;
      case Kind::kFunction:
        return CheckFunction(id, node);
      case Kind::kVariable:
        return CheckConstant(id, node);
      case Kind::kRecord:
        return CheckRecord(id);
      case Kind::kEnum:
      case Kind::kAlias:
      case Kind::kUsing:
      case Kind::kStaticAssert:
        return;
      case Kind::kOtherDeclaration:
        if (tree_.TextOf(id) == ";") return;
        [[fallthrough]];
      default:
        return Wrong(id, "a declaration that is neither device code, a type nor a constant");
    }
  }

  void CheckFunction(NodeId id, const Node& node) {
    if ((node.flags & kHostAttr) != 0) return Wrong(id, "a host function");
    if ((node.flags & (kGlobalAttr | kDeviceAttr)) == 0) {
      return Wrong(id, "a function that is neither __global__ nor __device__");
    }
    if ((node.flags & kExtern) != 0) Wrong(id, "an extern declaration");
  }

  // No code of it may run when a program starts.
  void CheckConstant(NodeId id, const Node& node) {
    if ((node.flags & (kExtern | kManagedAttr | kSharedAttr)) != 0) {
      return Wrong(id, "a variable at namespace scope that is no constant");
    }
    if ((node.flags & (kConst | kConstexpr | kConstantAttr)) == 0) {
      return Wrong(id, "a variable at namespace scope that is no constant");
    }
    CheckComputedAtOnce(id, node);
  }

  // Another compiler than the one that reads it here may leave to run time what it need not compute
  // before: only of what is constexpr it has to say so.
  void CheckComputedAtOnce(NodeId id, const Node& node) {
    if ((node.flags & (kConstexpr | kSharedAttr)) != 0) return;
    Walk(tree_, id, [&](NodeId part) {
      const NodeId named = tree_.at(part).declaration;
      const bool reads = tree_.at(part).kind == Kind::kDeclRef && named != kNone &&
                         (IsA(tree_, named, Kind::kParameter) ||
                          (IsA(tree_, named, Kind::kVariable) &&
                           (tree_.at(named).flags & (kConst | kConstexpr)) == 0));
      if (reads) {
        Wrong(id, "a constant that is computed at run time");
        return false;
      }
      switch (tree_.at(part).kind) {
        case Kind::kCall:
        case Kind::kMemberCall:
        case Kind::kOperatorCall:
        case Kind::kConstruct:
        case Kind::kLambda:
          Wrong(id, "a constant that is computed at run time");
          return false;
        default:
          return true;
      }
    });
  }

  void CheckRecord(NodeId id) {
    for (const NodeId child : tree_.at(id).children) {
      const Node& member = tree_.at(child);
      switch (member.kind) {
        case Kind::kFunction:
          CheckFunction(child, member);
          break;
        case Kind::kVariable:
          if ((member.flags & kConstexpr) == 0)
            Wrong(child, "a static member that is not constexpr");
          break;
        case Kind::kRecord:
          CheckRecord(child);
          break;
        case Kind::kField:
        case Kind::kEnum:
        case Kind::kAlias:
        case Kind::kUsing:
        case Kind::kStaticAssert:
        case Kind::kTemplateParameter:
          break;
        default:
          // Access specifiers and the like have no meaning at run time.
          if (member.kind == Kind::kFriend || member.kind == Kind::kNamespace) {
            Wrong(child, "a member that is no device code");
          }
          break;
      }
    }
  }

  void CheckNode(NodeId id) {
    const Node& node = tree_.at(id);
    switch (node.kind) {
      case Kind::kFunction:
      case Kind::kLambda:
        if ((node.flags & kOpenEnd) != 0) {
          Wrong(id,
                "a function whose end is reached without the value that it has to return, a "
                "promise that the guard does not state");
        }
        break;
      case Kind::kAsm:
        return Wrong(id, "assembly");
      case Kind::kKernelLaunch:
        return Wrong(id, "a kernel launch");
      case Kind::kLinkage:
        return Wrong(id, "a linkage specification");
      case Kind::kVariable:
        if ((node.flags & kStatic) != 0 && (node.flags & kLocal) != 0 &&
            (node.flags & (kSharedAttr | kConstexpr | kConst)) == 0) {
          Wrong(id, "a static variable in a function that is no constant");
        }
        if ((node.flags & kStatic) != 0 && (node.flags & kLocal) != 0)
          CheckComputedAtOnce(id, node);
        if ((node.flags & kVolatile) != 0 && (node.flags & (kConst | kConstexpr)) != 0 &&
            ((node.flags & kLocal) == 0 || (node.flags & kStatic) != 0)) {
          Wrong(id, "a constant that is volatile");
        }
        if ((node.flags & kRunsCode) != 0) {
          Wrong(id,
                "an object that is made or destroyed by code of its own, or has parts that "
                "may be written though it is a constant");
        }
        CheckSizeOf(id, node);
        break;
      case Kind::kRecord:
        CheckSizeOf(id, node);
        break;
      case Kind::kCall:
        CheckCallee(id);
        break;
      default:
        break;
    }
    CheckReference(id, node);
    CheckNoFunctionPointer(id, node);
  }

  // What could be called without its name has no place: a number becomes an address as well.
  void CheckNoFunctionPointer(NodeId id, const Node& node) {
    const NodeId declaration = node.declaration;
    const bool function = declaration != kNone && IsA(tree_, declaration, Kind::kFunction);
    if (node.kind == Kind::kDeclRef && function) {
      NodeId at = id, above = node.parent;
      while (IsA(tree_, above, Kind::kParen)) {
        at = above;
        above = tree_.at(above).parent;
      }
      const bool called = IsA(tree_, above, Kind::kCall) && Callee(tree_, above) == at;
      if (!called) Wrong(id, "a function that is named and not called");
      return;
    }
    const bool of_function = node.kind == Kind::kFunction || node.kind == Kind::kMember ||
                             (node.kind == Kind::kDeclRef && node.declaration == kNone);
    if (!of_function && HasFunctionType(node.canonical)) Wrong(id, "a pointer to a function");
  }

  // A call names its function: pointers to functions could lead anywhere.
  void CheckCallee(NodeId id) {
    const NodeId callee = SkipParens(tree_, Callee(tree_, id));
    if (callee == kNone) return Wrong(id, "a call of no named function");
    const Node& node = tree_.at(callee);
    const NodeId declaration = node.declaration;
    if (declaration != kNone) {
      const Kind kind = tree_.at(declaration).kind;
      // A functor or lambda given to a template is called by its own operator ().
      const bool named = kind == Kind::kFunction || (node.flags & kDependent) != 0 ||
                         tree_.at(declaration).canonical.find('(') == std::string::npos;
      if (!named) Wrong(id, "a call through a pointer");
      return;
    }
    const std::string& name = tree_.at(id).name.empty() ? node.name : tree_.at(id).name;
    if (!name.empty() && (declared_.contains(name) || IsAllowedUnboundName(name))) return;
    // T(x): a conversion that only looks like a call.
    if (name.empty() && (tree_.at(id).flags & kDependent) != 0) return;
    Wrong(id, "a call of something that is neither in the closure, nor of the runtime, nor math");
  }

  void CheckReference(NodeId id, const Node& node) {
    if (node.declaration == kNone) return;
    const Node& declaration = tree_.at(node.declaration);
    if ((declaration.flags & kSystem) == 0) return;
    if (declaration.kind == Kind::kFunction) {
      if (const std::string what = BeyondArguments(declaration.name); !what.empty()) {
        Wrong(id, "'" + declaration.qualified + "' " + what);
      } else if (!IsAllowedSystemFunction(declaration)) {
        Wrong(id, "'" + declaration.qualified + "' is neither of the runtime nor math");
      }
    }
    const bool reads = node.kind == Kind::kDeclRef && declaration.kind == Kind::kVariable;
    if (reads && !IsAllowedSystemVariable(declaration)) {
      Wrong(id, "'" + declaration.qualified + "' is no constant");
    }
  }

  const Tree& tree_;
  std::string name_;
  std::size_t begin_;
  std::int64_t constant_bytes_ = 0, static_bytes_ = 0;
  int count_ = 0;
  NodeId namespace_ = kNone;
  std::set<std::string> declared_;
  std::string wrong_;
};

// The text that was handed in, in words of its own; nothing here needs a parser.
CheckVariantReply CheckText(const records::Kernel& kernel, const records::Variant& variant) {
  const std::string include = ForbiddenInclude(variant.includes);
  if (!include.empty()) {
    return Rejected("forbidden_construct", "the include " + include + " is not on the list");
  }
  const auto resolved = records::ResolveText(variant.source);
  if (!resolved) return Rejected("forbidden_construct", resolved.error().message);
  if (*resolved != variant.source) {
    return Rejected("forbidden_construct", "the source has joined lines or other line ends");
  }
  if (Lex(variant.source).empty()) {
    return Rejected("forbidden_construct",
                    "line 1 of the variant: there is nothing but comments; '" +
                        records::LaunchesOf(variant).front().entry +
                        "' is launched (a backslash at a comment's end joins it to the next line)");
  }
  std::string wrong = ForbiddenWords(variant.source);
  if (wrong.empty()) wrong = ForbiddenPromise(kernel, variant);
  if (!wrong.empty()) return Rejected("forbidden_construct", wrong);
  const std::string fast =
      FastMath(variant.source, kernel.closure_source + "\n" + kernel.closure_macros);
  if (!fast.empty()) {
    return Rejected("forbidden_numerics", "fast-math that the original does not use: " + fast);
  }
  CheckVariantReply reply;
  reply.passed = true;
  return reply;
}

// The first error, by the variant's own lines where it stands there: who wrote the variant knows no
// others.
std::string ErrorOf(const ParseOutcome& outcome, std::string_view text, std::size_t begin,
                    const records::Variant& variant) {
  const Diagnostic& first = outcome.errors.front();
  const bool inside = first.offset >= begin && first.offset < begin + variant.source.size();
  if (!inside) return FirstError(outcome);
  const std::string_view before = text.substr(begin, first.offset - begin);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  std::string_view quoted = std::string_view(variant.source).substr(start);
  quoted = quoted.substr(0, std::min<std::size_t>(quoted.find('\n'), 160));
  return "line " + std::to_string(line) + " of the variant: " + first.message + ", in '" +
         std::string(quoted) + "'";
}

CheckVariantReply CheckEntries(const records::Kernel& kernel, const records::Variant& variant,
                               const Tree& tree, const std::vector<NodeId>& entries) {
  for (const records::Launch& launch : records::LaunchesOf(variant)) {
    if (!launch.fill.empty()) continue;
    const std::string name = EntryName(kernel, variant, launch.entry);
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](NodeId entry) { return tree.at(entry).qualified == name; });
    if (found == entries.end()) {
      return Rejected("invalid_launch",
                      "the source defines no __global__ function '" + launch.entry + "'");
    }
    const std::string wrong = WrongArguments(tree, *found, kernel, variant, launch);
    if (!wrong.empty()) return Rejected("invalid_launch", wrong);
  }
  CheckVariantReply reply;
  reply.passed = true;
  for (const NodeId entry : entries) reply.entries.push_back(tree.at(entry).qualified);
  return reply;
}

// The closure as CheckVariantReply::bare_closure says; `body` is the original's in `text`.
std::string BareClosure(const Tree& tree, NodeId body, const records::Kernel& kernel,
                        const std::string& text) {
  const std::string& closure = kernel.closure_source;
  const std::size_t start = text.find(closure);  // behind the variant's includes
  if (body == kNone || start == std::string::npos || tree.at(body).begin < start ||
      tree.at(body).end > start + closure.size()) {
    return {};
  }
  const std::size_t begin = tree.at(body).begin - start, end = tree.at(body).end - start;
  return closure.substr(0, begin) + "{}" + closure.substr(end);
}

}  // namespace

std::string ForbiddenBesideHostCode(const Tree& tree, const std::string& name, std::size_t begin) {
  return VariantTree(tree, name, begin).CheckBesideHostCode();
}

base::Result<CheckVariantReply> CheckVariant(const protocol::CheckVariantRequest& request) {
  const records::Kernel& kernel = request.kernel;
  records::Variant variant = request.variant;
  if (variant.id.empty()) variant.id = records::VariantId(variant);
  CheckVariantReply text_reply = CheckText(kernel, variant);
  if (!text_reply.passed) return text_reply;

  base::Result<std::string> text = CandidateText(kernel, variant);
  if (!text) return Rejected("forbidden_construct", text.error().message);
  const std::size_t begin = text->rfind(variant.source);
  ParseOptions options = ClosureParseOptions(kernel);
  options.expand_begin = static_cast<std::uint32_t>(begin);
  options.expand_end = static_cast<std::uint32_t>(begin + variant.source.size());
  TRY_ASSIGN(const ParseOutcome outcome, ParseClosure(kernel, *text, options));
  // Macros of the user and of headers may stand for what the text itself does not show.
  std::string wrong = ForbiddenWords(outcome.expanded);
  if (wrong.empty()) wrong = PromiseOfMacro(variant.source, outcome.expanded);
  if (!wrong.empty()) return Rejected("forbidden_construct", wrong);
  if (!outcome.errors.empty()) {
    TRY_ASSIGN(const ParseOutcome original, ParseClosure(kernel, kernel.closure_source));
    if (!original.errors.empty()) {
      return base::Fail(base::Unsupported("the text of the kernel " + kernel.name +
                                          " does not parse: " + FirstError(original)));
    }
    return Rejected("build_failed", ErrorOf(outcome, *text, begin, variant));
  }
  VariantTree tree(outcome.tree, records::VariantNamespace(variant.id), begin);
  wrong = tree.Check(kernel, variant);
  if (!wrong.empty()) return Rejected("forbidden_construct", wrong);
  CheckVariantReply reply = CheckEntries(kernel, variant, outcome.tree, tree.Entries());
  if (reply.passed) {
    reply.bare_closure = BareClosure(outcome.tree, tree.UnusedBody(kernel.name), kernel, *text);
  }
  return reply;
}

}  // namespace cupilot::source
