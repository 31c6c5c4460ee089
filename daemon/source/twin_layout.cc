#include "source/twin_layout.h"

#include <algorithm>
#include <array>

#include "source/syntax/query.h"

namespace cupilot::source {
namespace {

struct Scalar {
  std::string_view name;
  std::int64_t bytes;
};
// Whose vectors are named with a digit behind.
constexpr std::array<Scalar, 12> kVectors = {{{"float", 4},
                                              {"double", 8},
                                              {"char", 1},
                                              {"uchar", 1},
                                              {"short", 2},
                                              {"ushort", 2},
                                              {"int", 4},
                                              {"uint", 4},
                                              {"long", 8},
                                              {"ulong", 8},
                                              {"longlong", 8},
                                              {"ulonglong", 8}}};
constexpr std::int64_t kLargestAlignment = 16;

std::string_view Plain(std::string_view canonical) {
  for (const std::string_view prefix : {"const ", "volatile ", "struct ", "class ", "::"}) {
    if (canonical.starts_with(prefix)) canonical.remove_prefix(prefix.size());
  }
  return canonical;
}

// Of a type that is no structure of user text: its parts are all alike. nullopt: none that is
// known.
std::optional<Layout> OfKnown(std::string_view name, std::int64_t bytes, bool scalar) {
  Layout layout;
  layout.bytes = bytes;
  const auto parts = [&](std::string_view part, std::int64_t count) {
    const std::int64_t size = bytes / count;
    for (std::int64_t i = 0; i < count; ++i) {
      layout.members.push_back({std::string(part), i * size, size});
    }
  };
  const std::string_view vector = name.empty() ? name : name.substr(0, name.size() - 1);
  const std::int64_t lanes = name.empty() ? 0 : name.back() - '0';
  for (const Scalar& known : kVectors) {
    if (vector != known.name || lanes < 1 || lanes > 4 || bytes != lanes * known.bytes) continue;
    layout.alignment = lanes == 3 ? known.bytes : std::min(lanes * known.bytes, kLargestAlignment);
    parts(known.name, lanes);
    return layout;
  }
  if (name == "__half2" || name == "__nv_bfloat162") {
    layout.alignment = bytes;
    parts(name.substr(0, name.size() - 1), 2);
    return layout;
  }
  for (const std::string_view twin : {"cupilot_twin_half", "cupilot_twin_bfloat16"}) {
    if (name != twin && name != std::string(twin) + "2") continue;
    layout.alignment = 8;
    parts("double", bytes / 8);
    return layout;
  }
  if (name.starts_with("cupilot_twin_long") && bytes % 16 == 0 && bytes > 0) {
    layout.alignment = 16;
    parts("long double", bytes / 16);
    return layout;
  }
  const bool small = name == "__half" || name == "__nv_bfloat16";
  if (!scalar && !small) return std::nullopt;
  layout.alignment = bytes;
  parts(name, 1);
  return layout;
}

bool IsScalar(TypeClass type) {
  return type == TypeClass::kPointer || type == TypeClass::kSigned ||
         type == TypeClass::kUnsigned || type == TypeClass::kFloating;
}

// Where the text says more than the order of its members.
bool IsPlain(const Tree& tree, NodeId record) {
  const std::string_view text = tree.TextOf(record);
  if (!text.starts_with("struct") && !text.starts_with("class")) return false;
  if (Has(tree, record, kTemplate)) return false;
  const std::string_view head = text.substr(0, text.find('{'));
  if (head.find(':') != std::string_view::npos) return false;
  for (const std::string_view word : {"align", "__attribute__", "virtual", "packed", "#pragma"}) {
    if (text.find(word) != std::string_view::npos) return false;
  }
  return true;
}

}  // namespace

NodeId RecordNamed(const Tree& tree, std::string_view canonical) {
  return FindDefinition(tree, Plain(canonical), Kind::kRecord);
}

std::optional<Layout> LayoutOf(const Tree& tree, NodeId record) {
  if (!IsPlain(tree, record)) return std::nullopt;
  Layout layout;
  for (const NodeId child : tree.at(record).children) {
    const Node& field = tree.at(child);
    if (field.kind != Kind::kField) continue;
    const bool array = field.type_class == TypeClass::kArray;
    const std::string_view type = Plain(array ? field.element : field.canonical);
    const std::int64_t count = array ? field.element_count : 1;
    const std::int64_t bytes = array ? field.element_bytes : field.type_bytes;
    // A bit field's width is its child; an initialiser makes no difference to us.
    const bool whole = tree.TextOf(child).find(':') == std::string_view::npos ||
                       tree.TextOf(child).find("::") != std::string_view::npos;
    if (count < 1 || bytes < 1 || !whole || (field.flags & kReference) != 0) return std::nullopt;
    std::optional<Layout> element;
    if (const NodeId inner = RecordNamed(tree, type); inner != kNone && inner != record) {
      element = LayoutOf(tree, inner);
    } else {
      const bool scalar = array ? field.element_bytes <= 16 && RecordNamed(tree, type) == kNone
                                : IsScalar(field.type_class);
      element = OfKnown(type, bytes, scalar);
    }
    if (!element || element->bytes != bytes) return std::nullopt;
    layout.alignment = std::max(layout.alignment, element->alignment);
    layout.bytes =
        (layout.bytes + element->alignment - 1) / element->alignment * element->alignment;
    for (std::int64_t i = 0; i < count; ++i) {
      for (const Member& member : element->members) {
        layout.members.push_back({member.canonical, layout.bytes + member.offset, member.bytes});
      }
      layout.bytes += bytes;
    }
  }
  layout.bytes = std::max<std::int64_t>(layout.bytes, 1);
  layout.bytes = (layout.bytes + layout.alignment - 1) / layout.alignment * layout.alignment;
  return layout;
}

}  // namespace cupilot::source
