#include "source/scalar_cases.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "source/syntax/lexer.h"
#include "source/syntax/query.h"

namespace cupilot::source {
namespace {

bool IsComparison(const Node& node) {
  static constexpr std::array<std::string_view, 6> kSigns = {"==", "!=", "<", "<=", ">", ">="};
  return node.kind == Kind::kBinary &&
         std::find(kSigns.begin(), kSigns.end(), node.name) != kSigns.end();
}

// Each with a blank before it, which makes them comparable.
std::string WordsOf(std::string_view text) {
  std::string words;
  for (const Token& token : Lex(text)) words += ' ' + std::string(Spelling(text, token));
  return words;
}

class Cases {
 public:
  Cases(const Tree& tree, NodeId root, const records::Kernel& kernel,
        const records::Variant& variant)
      : tree_(tree), root_(root), kernel_(kernel), guard_(WordsOf(variant.guard) + ' ') {}

  NodeId First() {
    Walk(tree_, root_, [this](NodeId id) {
      Look(id);
      return found_ == kNone;
    });
    return found_;
  }

 private:
  void Look(NodeId id) {
    const Node& node = tree_.at(id);
    if (node.kind == Kind::kParameter && node.type_class == TypeClass::kFloating &&
        Has(tree_, node.parent, kGlobalAttr)) {
      if (guard_.find(' ' + node.name + ' ') == std::string::npos) scalars_.insert(id);
    } else if (node.kind == Kind::kVariable && (node.flags & kLocal) != 0) {
      if (const NodeId value = Initialiser(tree_, id); value != kNone && IsOfScalars(value)) {
        scalars_.insert(id);
      }
    } else if (IsComparison(node) && IsOfScalars(id)) {
      if (original_.empty()) original_ = WordsOf(kernel_.closure_source) + ' ';
      const std::string words = WordsOf(tree_.TextOf(id)) + ' ';
      if (original_.find(words) == std::string::npos) found_ = id;
    }
  }

  bool IsOfScalars(NodeId root) const {
    bool some = false, all = true;
    Walk(tree_, root, [&](NodeId id) {
      const Node& node = tree_.at(id);
      if (node.declaration == kNone) return true;
      const bool scalar = scalars_.contains(node.declaration);
      const Node& named = tree_.at(node.declaration);
      const bool constant = named.kind == Kind::kEnumerator || (named.flags & kConstexpr) != 0 ||
                            named.kind == Kind::kFunction;
      some = some || scalar;
      all = all && (scalar || constant);
      return true;
    });
    return some && all;
  }

  const Tree& tree_;
  NodeId root_;
  const records::Kernel& kernel_;
  std::string guard_;
  std::string original_;
  std::set<NodeId> scalars_;
  NodeId found_ = kNone;
};

}  // namespace

NodeId UnstatedScalarCase(const Tree& tree, NodeId root, const records::Kernel& kernel,
                          const records::Variant& variant) {
  return Cases(tree, root, kernel, variant).First();
}

}  // namespace cupilot::source
