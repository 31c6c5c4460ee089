#include "source/twin_obstacles.h"

#include <array>
#include <string_view>
#include <vector>

#include "source/syntax/query.h"
#include "source/twin_layout.h"
#include "source/twin_names.h"

namespace cupilot::source {
namespace {

bool IsPointerLike(std::string_view canonical) {
  return HasPart(canonical, "*") || HasPart(canonical, "[");
}

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  for (const std::string_view known : names) {
    if (name == known) return true;
  }
  return false;
}

class Obstacles {
 public:
  Obstacles(const Tree& tree, const records::Kernel& kernel, bool doubles)
      : tree_(tree), kernel_(kernel), doubles_(doubles) {}

  std::string Find() {
    const NodeId kernel = FindDefinition(tree_, kernel_.name);
    if (kernel == kNone) return "the kernel was not found in its closure";
    if (Has(tree_, kernel, kTemplate)) return "the kernel is a template";
    bool floats = false;
    for (std::size_t i = 0; i < tree_.nodes.size() && reason_.empty(); ++i) {
      const auto id = static_cast<NodeId>(i);
      const Node& node = tree_.at(id);
      if ((node.flags & kSystem) != 0) continue;
      floats = floats || Widens(node.canonical);
      Check(id, node);
    }
    for (const records::Parameter& parameter : kernel_.parameters) CheckMemory(parameter);
    if (!reason_.empty()) return reason_;
    return floats ? "" : "it does no floating-point arithmetic";
  }

 private:
  bool Widens(std::string_view canonical) const { return MentionsWidened(canonical, doubles_); }

  void Decline(const std::string& reason) {
    if (reason_.empty()) reason_ = reason;
  }

  std::string Place(NodeId id) const {
    std::string text(tree_.TextOf(id));
    for (char& c : text) {
      if (c == '\n') c = ' ';
    }
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    return "'" + text + "'";
  }

  void Check(NodeId id, const Node& node) {
    for (const std::string_view part :
         {"__half_raw", "__half2_raw", "__nv_bfloat16_raw", "__nv_bfloat162_raw", "__nv_fp8",
          "nvcuda::wmma", "long double"}) {
      if (HasPart(node.canonical, part)) return Decline("it uses " + node.canonical);
    }
    switch (node.kind) {
      case Kind::kAsm:
        return CheckAssembly(id);
      case Kind::kRecord:
        if (tree_.TextOf(id).starts_with("union") && HoldsFloats(id)) {
          Decline("a union with floating members: " + node.name);
        }
        return;
      case Kind::kVariable:
      case Kind::kParameter:
      case Kind::kField:
        return CheckName(node);
      case Kind::kCast:
        return CheckCast(id, node);
      case Kind::kCall:
        return CheckCall(id, node);
      default:
        return;
    }
  }

  // Assembly that has nothing to do with floating numbers (a lane's number, a fence) stays.
  void CheckAssembly(NodeId id) {
    const std::string_view text = tree_.TextOf(id);
    for (const std::string_view part :
         {"f32", "f64", "f16", "bf16", "\"f\"", "\"=f\"", "\"+f\"", "\"d\"", "\"=d\"", "\"+d\"",
          "\"h\"", "\"=h\"", "\"+h\"", "ld.", "st.", "mma"}) {
      if (HasPart(text, part)) return Decline("inline assembly");
    }
  }

  // A type of a header that stands for double there cannot be exchanged by its name.
  void CheckName(const Node& node) {
    if (!doubles_ || !Widens(node.canonical) || Widens(node.type)) return;
    for (const std::string_view name : {"cuDoubleComplex", "cuComplex", "double_t", "float_t"}) {
      if (HasPart(node.type, name)) return Decline("a type of a header: " + node.type);
    }
  }

  bool HoldsFloats(NodeId record) const {
    bool found = false;
    Walk(tree_, record, [&](NodeId id) {
      const Node& node = tree_.at(id);
      found = found || (node.kind == Kind::kField && Widens(node.canonical));
      return !found && node.kind != Kind::kFunction;
    });
    return found;
  }

  // The start of dynamic shared memory, alone or moved by a count of sizeof: it is widened with the
  // rest, so that floats may live there next to other things.
  bool IsDynamicShared(NodeId operand) const {
    operand = SkipParens(tree_, operand);
    if (operand == kNone) return false;
    const Node& node = tree_.at(operand);
    if (node.kind == Kind::kDeclRef) {
      return Has(tree_, node.declaration, kExtern | kSharedAttr);
    }
    if (node.kind == Kind::kBinary && node.name == "+" &&
        HasPart(tree_.TextOf(operand), "sizeof")) {
      return IsDynamicShared(Child(tree_, operand, 0));
    }
    return false;
  }

  // Whether memory of one type can be read as the other: vectors of the same scalars, or neither is
  // exchanged.
  bool SameMemory(std::string_view a, std::string_view b) const {
    if (!Widens(a) && !Widens(b)) return true;
    return FormatOf(a) == FormatOf(b);
  }

  void CheckCast(NodeId id, const Node& node) {
    if ((node.flags & kDependent) != 0) return;
    const NodeId operand = Child(tree_, id, 0);
    if (operand == kNone) return;
    const std::string& from = tree_.at(SkipParens(tree_, operand)).canonical;
    const bool in_memory = (IsPointerLike(node.canonical) && IsPointerLike(from)) ||
                           tree_.TextOf(id).starts_with("reinterpret_cast");
    if (!in_memory || SameMemory(node.canonical, from) || IsDynamicShared(operand)) return;
    Decline("a cast between floats and other types in memory: " + Place(id));
  }

  void CheckCall(NodeId id, const Node& node) {
    std::string_view name = node.name;
    if (name.starts_with("__builtin_")) name.remove_prefix(10);
    if (IsOneOf(name, {"__float_as_int", "__float_as_uint", "__half_as_short", "__half_as_ushort",
                       "__bfloat16_as_short", "__bfloat16_as_ushort"}) ||
        (doubles_ && IsOneOf(name, {"__double_as_longlong", "__double2hiint", "__double2loint"})) ||
        HasPart(name, "bit_cast")) {
      return Decline("it reads the bits of a float: " + Place(id));
    }
    if (IsOneOf(name, {"__int_as_float", "__uint_as_float", "__ushort_as_half", "__short_as_half",
                       "__ushort_as_bfloat16", "__short_as_bfloat16"}) ||
        (doubles_ && IsOneOf(name, {"__longlong_as_double", "__hiloint2double"}))) {
      // A constant (infinity, not-a-number) keeps its value.
      for (const NodeId argument : Arguments(tree_, id)) {
        if (!IsA(tree_, SkipParensAndCasts(tree_, argument), Kind::kIntLiteral)) {
          return Decline("it makes a float from bits: " + Place(id));
        }
      }
      return;
    }
    if (doubles_ && name == "printf") {
      for (const NodeId argument : Arguments(tree_, id)) {
        if (Widens(tree_.at(SkipParens(tree_, argument)).canonical)) {
          return Decline("it prints floating numbers");
        }
      }
    }
    if (name == "memcpy" || name == "memmove") {
      const std::vector<NodeId> arguments = Arguments(tree_, id);
      if (arguments.size() < 2) return;
      const std::string& to = tree_.at(SkipParens(tree_, arguments[0])).canonical;
      const std::string& from = tree_.at(SkipParens(tree_, arguments[1])).canonical;
      if (!SameMemory(to, from)) Decline("it copies floats to or from another type: " + Place(id));
    }
  }

  // Buffers and arguments are widened number by number.
  void CheckMemory(const records::Parameter& parameter) {
    if (records::PointsToPointers(parameter)) return CheckTable(parameter);
    const bool pointer = parameter.kind == records::ParameterKind::kPointer;
    const std::string& type = pointer ? parameter.element : parameter.canonical;
    const NodeId record = RecordNamed(tree_, type);
    if (record == kNone) {
      if (!Widens(type)) return;
      if (HasPart(type, "*")) Decline("pointers to pointers to floats: " + parameter.name);
      if (HasPart(type, "<")) Decline("a type with floats in an argument: " + type);
      return;
    }
    if (!HoldsFloatsInside(record)) return;
    const std::optional<Layout> layout = LayoutOf(tree_, record);
    if (!layout) {
      return Decline("a structure with floating members, whose layout is not known: " +
                     parameter.name);
    }
    for (const Member& member : layout->members) {
      if (HasPart(member.canonical, "*") && Widens(member.canonical)) {
        return Decline("a structure with pointers to floats: " + parameter.name);
      }
    }
  }

  // What tables lead to is widened where it is numbers.
  void CheckTable(const records::Parameter& parameter) {
    const NodeId record = RecordNamed(tree_, parameter.pointee);
    if (!records::IsTable(parameter)) {
      Decline("pointers of several levels: " + parameter.name);
    } else if (record != kNone ? HoldsFloatsInside(record)
                               : Widens(parameter.pointee) && HasPart(parameter.pointee, "<")) {
      Decline("pointers to structures with floats: " + parameter.name);
    }
  }

  // In members of members, too.
  bool HoldsFloatsInside(NodeId record) const {
    if (HoldsFloats(record)) return true;
    for (const NodeId child : tree_.at(record).children) {
      const Node& field = tree_.at(child);
      if (field.kind != Kind::kField) continue;
      const bool array = field.type_class == TypeClass::kArray;
      const NodeId inner = RecordNamed(tree_, array ? field.element : field.canonical);
      if (inner != kNone && inner != record && HoldsFloatsInside(inner)) return true;
    }
    return false;
  }

  const Tree& tree_;
  const records::Kernel& kernel_;
  const bool doubles_;
  std::string reason_;
};

}  // namespace

std::string ObstacleToTwin(const Tree& tree, const records::Kernel& kernel, bool doubles) {
  return Obstacles(tree, kernel, doubles).Find();
}

}  // namespace cupilot::source
