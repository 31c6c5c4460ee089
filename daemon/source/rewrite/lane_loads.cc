#include "source/rewrite/lane_loads.h"

#include <algorithm>
#include <iterator>

#include "source/rewrite/inspect.h"
#include "source/rewrite/place.h"

namespace cupilot::source {
namespace {

constexpr const char* kComponents[] = {"x", "y", "z", "w"};

bool IsAmong(const Tree& tree, NodeId id, std::span<const NodeId> statements) {
  return std::any_of(statements.begin(), statements.end(),
                     [&](NodeId statement) { return IsInside(tree, id, statement); });
}

// The element of the thread: the sum itself, or a local that is nothing else.
bool IsElementIndex(const Draft& draft, NodeId index) {
  const Tree& tree = draft.tree;
  index = SkipParensAndCasts(tree, index);
  const NodeId variable = VariableOf(tree, index);
  if (variable != kNone && IsLocalVariable(tree, draft.facts, variable) &&
      IsIntegerType(tree.at(variable).canonical) && tree.at(variable).type_bytes >= 4 &&
      draft.facts.modifications.count(variable) == 0 &&
      draft.facts.address_taken.count(variable) == 0) {
    index = SkipParensAndCasts(tree, Initialiser(tree, variable));
  }
  if (index == kNone) return false;
  const auto form = GlobalIndexOf(tree, index);
  return form && form->axis == 'x';
}

// The leading declarations that read no memory: they can run for an element before it is known
// whether there is one.
std::vector<NodeId> PlainDeclarations(const Draft& draft, std::span<const NodeId> statements) {
  std::vector<NodeId> plain;
  for (const NodeId id : statements) {
    if (!IsA(draft.tree, id, Kind::kDeclStatement)) break;
    if (LoadsMemory(draft.tree, draft.facts, id) || !IsPure(draft.tree, draft.facts, id)) break;
    plain.push_back(id);
  }
  return plain;
}

class TermCollector {
 public:
  TermCollector(const Draft& draft, std::span<const NodeId> statements, LaneLoads& loads)
      : draft_(draft), tree_(draft.tree), statements_(statements), loads_(loads) {}

  // Whether the conditions under which an expression runs are known before it does.
  bool Around(NodeId expression) {
    for (NodeId at = expression;; at = tree_.at(at).parent) {
      const auto own = std::find(statements_.begin(), statements_.end(), at);
      if (own != statements_.end()) return Leaving(std::span(statements_.begin(), own));
      const NodeId parent = tree_.at(at).parent;
      if (parent == kNone || !Through(parent, at)) return false;
    }
  }

 private:
  bool Through(NodeId parent, NodeId child) {
    const Node& node = tree_.at(parent);
    if (IsLoop(node.kind) || node.kind == Kind::kSwitch || node.kind == Kind::kLambda) return false;
    if (node.kind == Kind::kCompound) {
      const auto own = std::find(node.children.begin(), node.children.end(), child);
      return Leaving(std::span(node.children.begin(), own));
    }
    const bool choice = node.kind == Kind::kIf || node.kind == Kind::kConditional;
    if (choice) {
      const NodeId condition = Condition(tree_, parent);
      if (child == condition) return true;
      const bool yes = child == Child(tree_, parent, node.kind == Kind::kIf ? 2 : 1);
      return Add(condition, yes);
    }
    if (node.kind == Kind::kBinary && (node.name == "&&" || node.name == "||")) {
      if (child == Child(tree_, parent, 0)) return true;
      return Add(Child(tree_, parent, 0), node.name == "&&");
    }
    return true;
  }

  // Statements before it by which an element may be left: if (condition) return.
  bool Leaving(std::span<const NodeId> before) {
    for (const NodeId id : before) {
      const NodeId leaves =
          FindBelow(tree_, id, [&](NodeId at) { return tree_.at(at).kind == Kind::kReturn; });
      if (leaves == kNone) continue;
      NodeId yes = IsA(tree_, id, Kind::kIf) ? Child(tree_, id, 2) : kNone;
      if (IsA(tree_, yes, Kind::kCompound) && tree_.at(yes).children.size() == 1) {
        yes = Child(tree_, yes, 0);
      }
      if (yes != leaves || Child(tree_, id, 3) != kNone) return false;
      if (!Add(Condition(tree_, id), false)) return false;
    }
    return true;
  }

  bool Add(NodeId condition, bool holds) {
    const Facts& facts = draft_.facts;
    if (!IsPure(tree_, facts, condition) || LoadsMemory(tree_, facts, condition)) return false;
    const NodeId unknown = FindBelow(tree_, condition, [&](NodeId id) {
      const NodeId variable = IsA(tree_, id, Kind::kDeclRef) ? VariableOf(tree_, id) : kNone;
      if (variable == kNone || !IsLocalVariable(tree_, facts, variable)) return false;
      if (facts.modifications.count(variable) > 0) return true;
      return IsAmong(tree_, variable, statements_) &&
             !IsAmong(tree_, variable, loads_.declarations);
    });
    if (unknown != kNone) return false;
    const auto same = [&](const LaneLoads::Term& term) {
      return term.holds == holds && tree_.TextOf(term.condition) == tree_.TextOf(condition);
    };
    if (std::none_of(loads_.terms.begin(), loads_.terms.end(), same)) {
      loads_.terms.push_back({condition, holds});
    }
    return true;
  }

  const Draft& draft_;
  const Tree& tree_;
  std::span<const NodeId> statements_;
  LaneLoads& loads_;
};

}  // namespace

std::string VectorForm::Lane(const std::string& vector, int lane) const {
  if (bytes == element_bytes) return vector;
  if (element_bytes >= 4) return vector + "." + kComponents[lane];
  const auto word = static_cast<int>(4 / element_bytes);
  const std::string from = bytes == 4 ? vector : vector + "." + kComponents[lane / word];
  const std::string bits = std::to_string(lane % word * static_cast<int>(8 * element_bytes));
  return "((" + element + ")(" + from + " >> " + bits + "))";
}

std::optional<VectorForm> VectorFormOf(const std::string& element, std::int64_t element_bytes,
                                       std::int64_t width) {
  VectorForm form{"", element_bytes * width, element, element_bytes};
  const std::string count = std::to_string(width);
  if (width == 1 && element.find_first_of("*<:") == std::string::npos) {
    form.type = element;
  } else if ((width == 2 || width == 4) && element_bytes == 4) {
    if (element == "float" || element == "int") form.type = element + count;
    if (element == "unsigned int") form.type = "uint" + count;
  } else if (width == 2 && element == "double") {
    form.type = "double2";
  }
  static constexpr std::string_view kNarrow[] = {"char", "signed char", "unsigned char", "short",
                                                 "unsigned short"};
  if (std::find(std::begin(kNarrow), std::end(kNarrow), element) != std::end(kNarrow)) {
    if (form.bytes == 4) form.type = "unsigned int";
    if (form.bytes == 8) form.type = "uint2";
    if (form.bytes == 16) form.type = "uint4";
  }
  return form.type.empty() ? std::nullopt : std::optional(form);
}

base::Result<LaneLoads> FindLaneLoads(const Draft& draft, std::span<const NodeId> statements) {
  const Tree& tree = draft.tree;
  LaneLoads loads;
  loads.declarations = PlainDeclarations(draft, statements);
  std::string reason = "no array is read at the thread's own element";
  for (const NodeId parameter : Parameters(tree, draft.function)) {
    if (!IsPointerType(tree.at(parameter).canonical)) continue;
    const auto uses = draft.facts.references.find(parameter);
    if (uses == draft.facts.references.end()) continue;
    if (draft.facts.written.count(parameter) > 0) continue;
    LaneLoads::Pointer pointer{parameter, {}};
    LaneLoads with = loads;
    bool fits = true;
    for (const NodeId use : uses->second) {
      const NodeId subscript = tree.at(use).parent;
      fits = fits && IsAmong(tree, use, statements) && IsA(tree, subscript, Kind::kSubscript) &&
             Child(tree, subscript, 0) == use && IsElementIndex(draft, Child(tree, subscript, 1)) &&
             !(IsA(tree, tree.at(subscript).parent, Kind::kUnary) &&
               tree.at(tree.at(subscript).parent).name == "&");
      if (fits && !TermCollector(draft, statements, with).Around(subscript)) {
        reason = "'" + tree.at(parameter).name + "' is read under a condition of its own";
        fits = false;
      }
      pointer.subscripts.push_back(subscript);
    }
    if (!fits) continue;
    loads = std::move(with);
    loads.pointers.push_back(std::move(pointer));
  }
  if (loads.pointers.empty()) return Declined(reason);
  return loads;
}

std::vector<int> WidthsOf(const Draft& draft, const LaneLoads& loads, std::span<const int> widths) {
  std::vector<int> fitting;
  for (const int width : widths) {
    const bool fits = std::all_of(
        loads.pointers.begin(), loads.pointers.end(), [&](const LaneLoads::Pointer& pointer) {
          const Node& node = draft.tree.at(pointer.parameter);
          return VectorFormOf(node.element, node.element_bytes, width).has_value();
        });
    if (fits) fitting.push_back(width);
  }
  return fitting;
}

VectorForm LaneWriter::FormOf(const LaneLoads::Pointer& pointer) const {
  const Node& node = draft_.tree.at(pointer.parameter);
  return VectorFormOf(node.element, node.element_bytes, width_).value_or(VectorForm{});
}

std::string LaneWriter::NameOf(const LaneLoads::Pointer& pointer) const {
  return prefix_ + "_of_" + draft_.tree.at(pointer.parameter).name;
}

std::string LaneWriter::Declarations(int slots) const {
  std::string text;
  for (const LaneLoads::Pointer& pointer : loads_.pointers) {
    text += FormOf(pointer).type + " " + NameOf(pointer) + "[" + std::to_string(slots) + "];\n";
  }
  return text;
}

std::string LaneWriter::Load(const std::string& slot, const std::string& first,
                             const std::string& ok) const {
  std::string text;
  for (int lane = 0; lane < width_ && !loads_.terms.empty(); ++lane) {
    const std::string place = first + " + " + std::to_string(lane);
    text += "{\n";
    for (const NodeId id : loads_.declarations) text += Alone(id, place);
    for (const LaneLoads::Term& term : loads_.terms) {
      text += ok + " = " + ok + " && " + (term.holds ? "(" : "!(") +
              Text(term.condition, place, nullptr, 0) + ");\n";
    }
    text += "}\n";
  }
  text += "if (" + ok + ") {\n";
  for (const LaneLoads::Pointer& pointer : loads_.pointers) {
    text += NameOf(pointer) + "[" + slot + "] = *reinterpret_cast<const " + FormOf(pointer).type +
            "*>(" + draft_.tree.at(pointer.parameter).name + " + " + first + ");\n";
  }
  return text + "}\n";
}

std::string LaneWriter::Alone(NodeId part, const std::string& place) const {
  return Text(part, place, nullptr, 0) + End(part);
}

std::string LaneWriter::Lane(NodeId part, const std::string& slot, const std::string& first,
                             int lane) const {
  return Text(part, first + " + " + std::to_string(lane), &slot, lane) + End(part);
}

std::string LaneWriter::Text(NodeId part, const std::string& place, const std::string* slot,
                             int lane) const {
  const Tree& tree = draft_.tree;
  PartEdits edits(tree, part);
  if (slot != nullptr) {
    for (const LaneLoads::Pointer& pointer : loads_.pointers) {
      const std::string text = FormOf(pointer).Lane(NameOf(pointer) + "[" + *slot + "]", lane);
      for (const NodeId id : pointer.subscripts) edits.Replace(tree.at(id), text);
    }
  }
  for (const GlobalIndex& index : GlobalIndices(draft_)) {
    if (index.axis != 'x') continue;
    const Node& node = tree.at(index.sum);
    edits.Replace(node, "((" + node.canonical + ")(" + place + "))");
  }
  more_(edits);
  return edits.Apply();
}

std::string LaneWriter::End(NodeId part) const {
  const Kind kind = draft_.tree.at(part).kind;
  return kind == Kind::kCompound || kind == Kind::kDeclStatement ? "\n" : ";\n";
}

void LaneWriter::Guard(Draft& draft) const {
  if (width_ == 1) return;
  for (const LaneLoads::Pointer& pointer : loads_.pointers) {
    AddGuard(draft, "aligned(" + NameInExpressions(draft, pointer.parameter) + ", " +
                        std::to_string(FormOf(pointer).bytes) + ")");
  }
}

}  // namespace cupilot::source
