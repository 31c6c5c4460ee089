#include "source/kernel_key.h"

#include <set>

#include "base/hash.h"
#include "source/syntax/lexer.h"
#include "source/syntax/query.h"

namespace cupilot::source {

std::string KernelKey(const Tree& tree, NodeId kernel, const Closure& closure,
                      const std::vector<std::string>& code_flags) {
  base::Hasher hasher;
  hasher.Add("cupilot.kernel_key/1");
  hasher.Add(tree.at(kernel).qualified).Add(tree.at(kernel).mangled);
  for (const std::string& header : closure.headers) hasher.Add(header);
  hasher.Add("tokens");
  for (const Chunk& chunk : closure.chunks) {
    for (const Scope& scope : chunk.scopes) hasher.Add(scope.open);
    for (const Token& token : Lex(chunk.text)) hasher.Add(Spelling(chunk.text, token));
    hasher.Add("end");
  }
  hasher.Add("types");
  std::set<std::string> used;
  for (const Chunk& chunk : closure.chunks) {
    for (const NodeId id : NodesOf(tree, chunk)) {
      const Node& node = tree.at(id);
      if (node.kind == Kind::kVariable || node.kind == Kind::kParameter ||
          node.kind == Kind::kField || node.kind == Kind::kRecord) {
        hasher.Add(node.canonical).Add(std::to_string(node.type_bytes));
      }
      if (node.declaration == kNone || !Has(tree, node.declaration, kSystem)) continue;
      const Node& leaf = tree.at(node.declaration);
      used.insert(leaf.qualified + " " + leaf.mangled + " " + leaf.canonical);
    }
  }
  for (const std::string& name : used) hasher.Add(name);
  hasher.Add("flags");
  for (const std::string& flag : code_flags) hasher.Add(flag);
  return hasher.Hex();
}

}  // namespace cupilot::source
