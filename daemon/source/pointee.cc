#include "source/pointee.h"

#include <string_view>

#include "source/syntax/query.h"
#include "source/twin_layout.h"

namespace cupilot::source {
namespace {

constexpr int kMembersDeep = 4;

// Of a type that is none itself: whether there is an address in it.
bool HoldsPointers(const Tree& tree, std::string_view type, int deep) {
  const NodeId record = RecordNamed(tree, type);
  if (record == kNone || deep == 0) return false;
  for (const NodeId child : tree.at(record).children) {
    const Node& field = tree.at(child);
    if (field.kind != Kind::kField) continue;
    const bool array = field.type_class == TypeClass::kArray;
    const std::string& member = array ? field.element : field.canonical;
    if (member.find('*') != std::string::npos || HoldsPointers(tree, member, deep - 1)) return true;
  }
  return false;
}

}  // namespace

void TakePointee(const Tree& tree, const Node& node, records::Parameter& parameter) {
  std::string_view type = parameter.element;
  if (!type.ends_with('*')) {
    parameter.element_has_pointers = HoldsPointers(tree, type, kMembersDeep);
    return;
  }
  type.remove_suffix(1);
  while (type.ends_with(' ')) type.remove_suffix(1);
  const bool is_const = type.starts_with("const ");
  if (is_const) type.remove_prefix(6);
  const bool data = !type.empty() && type.find_first_of("*&([") == std::string_view::npos;
  if (!data || HoldsPointers(tree, type, kMembersDeep)) return;
  parameter.pointee = type;
  parameter.pointee_bytes = node.pointee_bytes;
  parameter.pointee_const = is_const;
}

}  // namespace cupilot::source
