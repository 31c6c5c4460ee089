// The original with other values of the source's own tunables: the closure is made twice, once as
// the source stands and once with the macros set, and what differs (or uses what differs) is
// copied.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "records/expression.h"
#include "records/expression_node.h"
#include "source/closure.h"
#include "source/scan.h"
#include "source/specialise.h"
#include "source/substitute.h"
#include "source/syntax/lexer.h"
#include "source/syntax/query.h"
#include "source/unit.h"

namespace cupilot::source {
namespace {

std::string Tokens(const std::string& text) {
  std::string tokens;
  for (const Token& token : Lex(text)) tokens += std::string(Spelling(text, token)) + '\n';
  return tokens;
}

std::string Identity(const Chunk& chunk) {
  std::string identity;
  for (const Scope& scope : chunk.scopes) identity += scope.open + '\n';
  return identity + Tokens(chunk.text);
}

class Retuner {
 public:
  Retuner(const protocol::RetuneRequest& request, const Unit& before, const Unit& after)
      : request_(request), before_(before), after_(after) {}

  protocol::RewriteReply Run() {
    Describe();
    const NodeId old_kernel = Find(before_.parsed.tree);
    const NodeId new_kernel = Find(after_.parsed.tree);
    if (old_kernel == kNone || new_kernel == kNone) {
      return Declined("the kernel " + request_.kernel.name + " is not there with these values");
    }
    if (after_.parsed.tree.at(new_kernel).mangled != before_.parsed.tree.at(old_kernel).mangled) {
      return Declined("the kernel's parameters depend on the tunables");
    }
    for (const auto& [unit, kernel, closure] :
         {std::tuple(&before_, old_kernel, &old_), std::tuple(&after_, new_kernel, &new_)}) {
      auto collected = ClosureOf(*unit, kernel);
      if (!collected) return Declined(collected.error().message);
      *closure = std::move(*collected);
    }
    Mark(new_kernel);
    const std::string why = CheckCopies(new_kernel);
    if (!why.empty()) return Declined(why);
    for (std::size_t i = 0; i < new_.chunks.size(); ++i) {
      if (copied_.count(i) > 0) reply_.variant.source += new_.chunks[i].text;
    }
    SetLaunch();
    reply_.variant.strategy = reply_.strategy;
    reply_.variant.id = records::VariantId(reply_.variant);
    return std::move(reply_);
  }

 private:
  protocol::RewriteReply Declined(std::string reason) const {
    protocol::RewriteReply reply;
    reply.declined = true;
    reply.reason = std::move(reason);
    return reply;
  }

  void Describe() {
    reply_.variant.kernel = request_.kernel.name;
    reply_.variant.template_arguments = request_.kernel.template_arguments;
    std::string list;
    records::StrategyStep step;
    step.technique = "other:tunables";
    for (const auto& [name, value] : request_.values) {
      list.append(" ").append(name).append("=").append(std::to_string(value));
      step.parameters[name] = value;
    }
    step.rationale = "values of the source's own tunables";
    reply_.strategy.title = "tunables" + list;
    reply_.strategy.bottleneck = "latency";
    reply_.strategy.steps = {std::move(step)};
  }

  NodeId Find(const Tree& tree) const {
    for (const NodeId kernel : Kernels(tree)) {
      const Node& node = tree.at(kernel);
      if (node.qualified == request_.kernel.name &&
          (request_.kernel.signature.empty() || node.mangled == request_.kernel.signature)) {
        return kernel;
      }
    }
    return FindDefinition(tree, request_.kernel.name);
  }

  base::Result<Closure> ClosureOf(const Unit& unit, NodeId kernel) const {
    const Tree& tree = unit.parsed.tree;
    if (request_.kernel.template_arguments.empty()) {
      return CollectClosure(tree, kernel, unit.source.system_includes);
    }
    if (!request_.kernel.made_types.empty()) {
      return base::Fail(
          base::Unsupported("a kernel of a lambda keeps the source's own values of its tunables"));
    }
    for (const Instantiation& made : tree.instantiations) {
      if (made.kernel != kernel || made.mangled != request_.kernel.signature) continue;
      return SpecialisedClosure(
          tree, made, CollectClosure(tree, kernel, unit.source.system_includes, made.uses),
          unit.flags.host_toolkit);
    }
    return base::Fail(base::Unsupported("the template arguments depend on the tunables"));
  }

  // The kernel, what reads differently now, and what uses such things.
  void Mark(NodeId kernel) {
    std::multiset<std::string> known;
    for (const Chunk& chunk : old_.chunks) known.insert(Identity(chunk));
    std::map<NodeId, std::size_t> owner;
    for (std::size_t i = 0; i < new_.chunks.size(); ++i) {
      const Chunk& chunk = new_.chunks[i];
      for (const NodeId id : chunk.declarations) owner[id] = i;
      const auto found = known.find(Identity(chunk));
      if (found == known.end()) {
        copied_.insert(i);
      } else {
        known.erase(found);
      }
    }
    const Tree& tree = after_.parsed.tree;
    copied_.insert(owner.at(TopLevel(tree, kernel)));
    for (std::size_t before = 0; before != copied_.size();) {
      before = copied_.size();
      std::set<std::string> names;
      for (const std::size_t i : copied_) Names(new_.chunks[i], names);
      for (std::size_t i = 0; i < new_.chunks.size(); ++i) {
        if (copied_.count(i) == 0 &&
            (Uses(new_.chunks[i], owner) || Overloads(new_.chunks[i], names))) {
          copied_.insert(i);
        }
      }
    }
  }

  bool Uses(const Chunk& chunk, const std::map<NodeId, std::size_t>& owner) const {
    const Tree& tree = after_.parsed.tree;
    const auto copied = [&](NodeId id) {
      const auto found = id == kNone ? owner.end() : owner.find(TopLevel(tree, id));
      return found != owner.end() && copied_.count(found->second) > 0;
    };
    for (const NodeId id : NodesOf(tree, chunk)) {
      if (copied(tree.at(id).declaration)) return true;
      for (const NodeId used : tree.at(id).types_used) {
        if (copied(used)) return true;
      }
    }
    return false;
  }

  // A copied function would hide its overloads outside.
  bool Overloads(const Chunk& chunk, const std::set<std::string>& names) const {
    std::set<std::string> own;
    Names(chunk, own);
    return std::any_of(own.begin(), own.end(),
                       [&](const std::string& name) { return names.count(name) > 0; });
  }

  void Names(const Chunk& chunk, std::set<std::string>& names) const {
    for (const NodeId id : chunk.declarations) {
      const Node& node = after_.parsed.tree.at(id);
      if (!node.name.empty()) names.insert(node.name);
      for (const NodeId child : node.children) {
        if (node.kind == Kind::kEnum) names.insert(after_.parsed.tree.at(child).name);
      }
    }
  }

  // Names of an unnamed namespace are found as those around it.
  static std::vector<std::string> Named(std::vector<std::string> namespaces) {
    std::erase(namespaces, "");
    return namespaces;
  }

  // Why the copies cannot stand in a namespace inside the kernel's; empty if they can.
  std::string CheckCopies(NodeId kernel) const {
    const Tree& tree = after_.parsed.tree;
    const std::vector<std::string> around = Named(NamespacesOf(tree, kernel));
    std::set<std::string> names;
    for (const std::size_t i : copied_) Names(new_.chunks[i], names);
    for (const std::size_t i : copied_) {
      const Chunk& chunk = new_.chunks[i];
      const std::string name = tree.at(chunk.declarations.front()).qualified;
      for (const NodeId id : chunk.declarations) {
        if ((tree.at(id).flags & (kDeviceAttr | kConstantAttr | kManagedAttr)) != 0 &&
            tree.at(id).kind == Kind::kVariable) {
          return "the variable " + name +
                 " depends on the tunables, and its contents cannot be copied";
        }
      }
      const std::vector<std::string> own = Named(chunk.namespaces);
      const bool outside =
          own.size() > around.size() || !std::equal(own.begin(), own.end(), around.begin());
      if (outside) {
        return name + " depends on the tunables and lies in a namespace beside the kernel's";
      }
      const std::vector<Token> tokens = Lex(chunk.text);
      for (std::size_t t = 1; t < tokens.size(); ++t) {
        const std::string word(Spelling(chunk.text, tokens[t]));
        if (Spelling(chunk.text, tokens[t - 1]) == "::" && names.count(word) > 0) {
          std::string why = name;
          why.append(" names ").append(word);
          return why.append(", which depends on the tunables, with its namespace");
        }
      }
    }
    for (const NodeId parameter : Parameters(tree, kernel)) {
      for (const NodeId used : tree.at(parameter).types_used) {
        for (const std::size_t i : copied_) {
          const std::vector<NodeId>& copies = new_.chunks[i].declarations;
          if (std::count(copies.begin(), copies.end(), TopLevel(tree, used)) > 0) {
            return "the type of a parameter depends on the tunables";
          }
        }
      }
    }
    return {};
  }

  void SetLaunch() {
    const records::Kernel& kernel = request_.kernel;
    if (kernel.launch_block.empty() && kernel.launch_grid.empty() &&
        kernel.launch_shared_bytes.empty()) {
      reply_.variant.entry = kernel.base_name;
      return;
    }
    NamedValues values;
    for (const records::Tunable& tunable : kernel.tunables) {
      const auto given = std::find_if(request_.values.begin(), request_.values.end(),
                                      [&](const auto& pair) { return pair.first == tunable.name; });
      values.emplace_back(tunable.name,
                          given == request_.values.end() ? tunable.default_value : given->second);
    }
    NamedValues own;
    for (const records::Tunable& tunable : kernel.tunables) {
      own.emplace_back(tunable.name, tunable.default_value);
    }
    records::Launch launch;
    launch.entry = kernel.base_name;
    for (const std::string& text : kernel.launch_grid) {
      launch.grid.push_back(Substitute(text, values));
      RequireWholeTiles(launch.grid.back(), Substitute(text, own));
    }
    for (const std::string& text : kernel.launch_block) {
      launch.block.push_back(Substitute(text, values));
    }
    launch.shared_bytes = Substitute(kernel.launch_shared_bytes, values);
    reply_.variant.launches = {std::move(launch)};
  }

  // A grid of n / 64 blocks says that n is a multiple of 64, or the last n % 64 are not the
  // kernel's business. With another divisor another rest were left out: the variant is for sizes at
  // which neither leaves one.
  void RequireWholeTiles(const std::string& size, const std::string& before) {
    if (size == before) return;
    for (const std::string* text : {&size, &before}) {
      const auto parsed = records::Expression::Parse(*text);
      if (!parsed || !IsQuotientOfSizes(parsed->root())) continue;
      const auto at = static_cast<std::size_t>(parsed->root().column - 1);
      std::string& guard = reply_.variant.guard;
      guard += (guard.empty() ? "(" : " && (") + text->substr(0, at) + ") % (" +
               text->substr(at + 1) + ") == 0";
    }
  }

  // Not (n + 63) / 64: that leaves nothing out.
  static bool IsQuotientOfSizes(const records::Expression::Node& node) {
    using records::Operation;
    const auto is_product = [](const auto& self, const records::Expression::Node& one) -> bool {
      if (one.operation == Operation::kName) return true;
      return one.operation == Operation::kMultiply && self(self, *one.children[0]) &&
             self(self, *one.children[1]);
    };
    return node.operation == Operation::kDivide && is_product(is_product, *node.children[0]);
  }

  const protocol::RetuneRequest& request_;
  const Unit& before_;
  const Unit& after_;
  Closure old_, new_;
  std::set<std::size_t> copied_;  // indices of new_.chunks
  protocol::RewriteReply reply_;
};

}  // namespace

base::Result<protocol::RewriteReply> Retune(const protocol::RetuneRequest& request) {
  protocol::RewriteReply declined;
  declined.declined = true;
  for (const auto& [name, value] : request.values) {
    const auto& tunables = request.kernel.tunables;
    if (std::none_of(tunables.begin(), tunables.end(),
                     [&](const records::Tunable& tunable) { return tunable.name == name; })) {
      declined.reason = "the kernel has no tunable " + name;
      return declined;
    }
  }
  TRY_ASSIGN(const auto before, LoadKeptUnit(request.command, request.source_text));
  TRY_ASSIGN(const auto after, LoadUnit(*before, request.values));
  return Retuner(request, *before, *after).Run();
}

}  // namespace cupilot::source
