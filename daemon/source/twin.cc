#include "source/twin.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "source/closure_options.h"
#include "source/syntax/query.h"
#include "source/twin_layout.h"
#include "source/twin_names.h"
#include "source/twin_obstacles.h"
#include "source/twin_precision.h"
#include "source/twin_text.h"

namespace cupilot::source {
namespace {

using protocol::TwinReply;

TwinReply Declined(std::string reason) {
  TwinReply reply;
  reply.declined = true;
  reply.reason = std::move(reason);
  return reply;
}

bool MentionsFloats(const Tree& tree, NodeId record, bool doubles) {
  bool found = false;
  Walk(tree, record, [&](NodeId id) {
    const Node& node = tree.at(id);
    found = found || (node.kind == Kind::kField && MentionsWidened(node.canonical, doubles));
    return !found;
  });
  return found;
}

// Whether a parameter of the twin has the size that was worked out for it.
bool HasSize(const Tree& twin, const std::string& kernel, std::size_t parameter,
             std::int64_t bytes) {
  const NodeId function = FindDefinition(twin, kernel);
  if (function == kNone) return false;
  const std::vector<NodeId> parameters = Parameters(twin, function);
  return parameter < parameters.size() && twin.at(parameters[parameter]).type_bytes == bytes;
}

// By how much the dynamic shared memory grows; 1: not at all. Raw bytes hold numbers too where the
// text casts them; more than needed does no harm.
std::int64_t SharedGrowth(const Tree& original, bool doubles) {
  std::int64_t growth = 1;
  bool raw = false, halves = false;
  for (const Node& node : original.nodes) {
    if ((node.flags & kSystem) != 0) continue;
    halves = halves || MentionsFormat(node.canonical, Format::kHalf) ||
             MentionsFormat(node.canonical, Format::kBfloat16);
    if (node.kind != Kind::kVariable) continue;
    if ((node.flags & (kExtern | kSharedAttr)) != (kExtern | kSharedAttr)) continue;
    const Format format = FormatOf(node.canonical);
    const bool small = format == Format::kHalf || format == Format::kBfloat16;
    if (MentionsWidened(node.canonical, doubles))
      growth = std::max<std::int64_t>(growth, small ? 4 : 2);
    raw = raw || format == Format::kNoFormat;
  }
  return raw ? std::max<std::int64_t>(growth, halves ? 4 : 2) : growth;
}

// Of a structure in `parameter`; false: the layout of one of the two is not known.
bool DescribeStructure(const Tree& original, const Tree& twin, const records::Kernel& kernel,
                       std::size_t parameter, bool doubles, TwinReply& reply) {
  const records::Parameter& given = kernel.parameters[parameter];
  const bool pointer = given.kind == records::ParameterKind::kPointer;
  const std::string& type = pointer ? given.element : given.canonical;
  const NodeId from = RecordNamed(original, type), to = RecordNamed(twin, type);
  if (from == kNone || to == kNone) return true;
  const auto narrow = LayoutOf(original, from), wide = LayoutOf(twin, to);
  if (!narrow || !wide) return !MentionsFloats(original, from, doubles);
  if (narrow->members.size() != wide->members.size()) return false;
  const std::int64_t bytes = pointer ? given.element_bytes : given.bytes;
  if (bytes != 0 && narrow->bytes != bytes) return false;
  if (!pointer && !HasSize(twin, kernel.name, parameter, wide->bytes)) return false;
  protocol::TwinStructure structure;
  structure.parameter = static_cast<std::int64_t>(parameter);
  structure.bytes = wide->bytes;
  for (std::size_t i = 0; i < narrow->members.size(); ++i) {
    const Member &member = narrow->members[i], &widened = wide->members[i];
    if (widened.bytes != member.bytes && !MentionsWidened(member.canonical, doubles)) return false;
    structure.members.push_back(
        {member.canonical, member.offset, member.bytes, widened.offset, widened.bytes});
  }
  if (wide->bytes == narrow->bytes) return true;
  reply.widened[parameter] = true;
  reply.structures.push_back(std::move(structure));
  return true;
}

// Which structure could not be described; empty: all were.
std::string DescribeMemory(const Tree& original, const Tree& twin, const records::Kernel& kernel,
                           bool doubles, TwinReply& reply) {
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const records::Parameter& parameter = kernel.parameters[i];
    const bool pointer = parameter.kind == records::ParameterKind::kPointer;
    const std::string& type = pointer ? parameter.element : parameter.canonical;
    const bool record = RecordNamed(original, type) != kNone;
    reply.widened.push_back(!record && MentionsWidened(type, doubles));
    if (!DescribeStructure(original, twin, kernel, i, doubles, reply)) return parameter.name;
  }
  for (const records::ClosureGlobal& global : kernel.globals) {
    if (MentionsWidened(global.element, doubles)) reply.widened_globals.push_back(global.symbol);
  }
  reply.shared_growth = SharedGrowth(original, doubles);
  return {};
}

}  // namespace

base::Result<TwinReply> Twin(const protocol::TwinRequest& request) {
  const records::Kernel& kernel = request.kernel;
  TRY_ASSIGN(const ParseOutcome original, ParseClosure(kernel, kernel.closure_source));
  if (!original.errors.empty()) {
    return Declined("its closure does not parse: " + FirstError(original));
  }
  const Format arithmetic = ArithmeticOf(original.tree);
  const bool doubles = arithmetic == Format::kDouble;
  const std::string obstacle = ObstacleToTwin(original.tree, kernel, doubles);
  if (!obstacle.empty()) return Declined(obstacle);

  TwinReply reply;
  const WideText wide = Widen(original.tree, doubles);
  reply.source = wide.text;
  reply.entry = kernel.name;
  reply.significand_bits = SignificandBits(arithmetic);
  if (doubles) reply.device = "host";
  TRY_ASSIGN(const ParseOutcome twin, ParseClosure(kernel, reply.source));
  if (!twin.errors.empty()) {
    return Declined("the widened text does not parse: " + FirstError(twin));
  }
  const std::string remainder = NotWidened(twin.tree, wide, doubles);
  if (!remainder.empty()) return Declined("no wider form is known of: " + remainder);
  const std::string unknown = DescribeMemory(original.tree, twin.tree, kernel, doubles, reply);
  if (!unknown.empty()) {
    return Declined("a structure with floating members, whose layout is not known: " + unknown);
  }
  return reply;
}

}  // namespace cupilot::source
