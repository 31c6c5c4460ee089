#include "source/twin_layout.h"

#include <algorithm>
#include <array>

#include "source/syntax/query.h"

namespace cupilot::source {
namespace {

struct Scalar {
  std::string_view name;
  std::int64_t bytes;
  TypeClass type_class;
};
// Whose vectors are named with a digit behind.
constexpr std::array<Scalar, 12> kVectors = {{{"float", 4, TypeClass::kFloating},
                                              {"double", 8, TypeClass::kFloating},
                                              {"char", 1, TypeClass::kSigned},
                                              {"uchar", 1, TypeClass::kUnsigned},
                                              {"short", 2, TypeClass::kSigned},
                                              {"ushort", 2, TypeClass::kUnsigned},
                                              {"int", 4, TypeClass::kSigned},
                                              {"uint", 4, TypeClass::kUnsigned},
                                              {"long", 8, TypeClass::kSigned},
                                              {"ulong", 8, TypeClass::kUnsigned},
                                              {"longlong", 8, TypeClass::kSigned},
                                              {"ulonglong", 8, TypeClass::kUnsigned}}};
constexpr std::array<std::string_view, 4> kLanes = {"x", "y", "z", "w"};
constexpr std::int64_t kLargestAlignment = 16;

std::string_view Plain(std::string_view canonical) {
  for (const std::string_view prefix : {"const ", "volatile ", "struct ", "class ", "::"}) {
    if (canonical.starts_with(prefix)) canonical.remove_prefix(prefix.size());
  }
  return canonical;
}

// Of a type that is no structure of user text: its parts are all alike. nullopt: none that is
// known.
// `scalar`: what it is where it is one.
std::optional<Layout> OfKnown(std::string_view name, std::int64_t bytes, TypeClass scalar) {
  Layout layout;
  layout.bytes = bytes;
  const auto parts = [&](std::string_view part, std::int64_t count, TypeClass type_class) {
    const std::int64_t size = bytes / count;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto lane = static_cast<std::size_t>(i);
      const std::string_view own = count > 1 && lane < kLanes.size() ? kLanes[lane] : "";
      layout.members.push_back({std::string(own), std::string(part), i * size, size, type_class});
    }
  };
  if (name == "dim3" && bytes == 12) {
    layout.alignment = 4;
    parts("uint", 3, TypeClass::kUnsigned);
    return layout;
  }
  const std::string_view vector = name.empty() ? name : name.substr(0, name.size() - 1);
  const std::int64_t lanes = name.empty() ? 0 : name.back() - '0';
  for (const Scalar& known : kVectors) {
    if (vector != known.name || lanes < 1 || lanes > 4 || bytes != lanes * known.bytes) continue;
    layout.alignment = lanes == 3 ? known.bytes : std::min(lanes * known.bytes, kLargestAlignment);
    parts(known.name, lanes, known.type_class);
    return layout;
  }
  if (name == "__half2" || name == "__nv_bfloat162") {
    layout.alignment = bytes;
    parts(name.substr(0, name.size() - 1), 2, TypeClass::kFloating);
    return layout;
  }
  for (const std::string_view twin : {"cupilot_twin_half", "cupilot_twin_bfloat16"}) {
    if (name != twin && name != std::string(twin) + "2") continue;
    layout.alignment = 8;
    parts("double", bytes / 8, TypeClass::kFloating);
    return layout;
  }
  if (name.starts_with("cupilot_twin_long") && bytes % 16 == 0 && bytes > 0) {
    layout.alignment = 16;
    parts("long double", bytes / 16, TypeClass::kFloating);
    return layout;
  }
  const bool small = name == "__half" || name == "__nv_bfloat16";
  if (scalar == TypeClass::kUnknown && !small) return std::nullopt;
  layout.alignment = bytes;
  parts(name, 1, small ? TypeClass::kFloating : scalar);
  return layout;
}

TypeClass ScalarOf(TypeClass type) {
  const bool scalar = type == TypeClass::kPointer || type == TypeClass::kSigned ||
                      type == TypeClass::kUnsigned || type == TypeClass::kFloating;
  return scalar ? type : TypeClass::kUnknown;
}

// Of an array's elements, by their type's name alone.
TypeClass ScalarNamed(std::string_view type, std::int64_t bytes) {
  if (bytes > 16) return TypeClass::kUnknown;
  if (type.ends_with('*')) return TypeClass::kPointer;
  if (type == "float" || type == "double" || type == "long double") return TypeClass::kFloating;
  if (type == "bool" || type.starts_with("unsigned ")) return TypeClass::kUnsigned;
  for (const std::string_view name : {"char", "signed char", "short", "int", "long", "long long"}) {
    if (type == name) return TypeClass::kSigned;
  }
  return TypeClass::kOther;  // an enumeration, say
}

// The member's own part's name behind the name of what holds it.
std::string Joined(const std::string& holder, const std::string& part) {
  if (part.empty() || part.front() == '[') return holder + part;
  return holder + "." + part;
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
      element = OfKnown(type, bytes, array ? ScalarNamed(type, bytes) : ScalarOf(field.type_class));
    }
    if (!element || element->bytes != bytes) return std::nullopt;
    layout.alignment = std::max(layout.alignment, element->alignment);
    layout.bytes =
        (layout.bytes + element->alignment - 1) / element->alignment * element->alignment;
    for (std::int64_t i = 0; i < count; ++i) {
      for (const Member& member : element->members) {
        const std::string own = field.name + (array ? "[" + std::to_string(i) + "]" : "");
        layout.members.push_back({Joined(own, member.name), member.canonical,
                                  layout.bytes + member.offset, member.bytes, member.type_class});
      }
      layout.bytes += bytes;
    }
  }
  layout.bytes = std::max<std::int64_t>(layout.bytes, 1);
  layout.bytes = (layout.bytes + layout.alignment - 1) / layout.alignment * layout.alignment;
  return layout;
}

std::vector<records::Parameter::Member> NumbersIn(const Tree& tree, std::string_view canonical,
                                                  std::int64_t bytes) {
  const NodeId record = RecordNamed(tree, canonical);
  const auto layout = record != kNone ? LayoutOf(tree, record)
                                      : OfKnown(Plain(canonical), bytes, TypeClass::kUnknown);
  std::vector<records::Parameter::Member> numbers;
  if (!layout || layout->bytes != bytes) return numbers;
  for (const Member& member : layout->members) {
    const bool is_signed = member.type_class == TypeClass::kSigned;
    const bool integer = is_signed || member.type_class == TypeClass::kUnsigned;
    if (member.name.empty() || (!integer && member.type_class != TypeClass::kFloating)) continue;
    if (integer && member.bytes > 8) continue;
    const auto kind =
        integer ? records::ParameterKind::kInteger : records::ParameterKind::kFloating;
    numbers.push_back(
        {member.name, member.canonical, kind, member.offset, member.bytes, is_signed});
  }
  return numbers;
}

}  // namespace cupilot::source
