#include "worker/members.h"

#include "device/element.h"

namespace cupilot::worker {
namespace {

bool Holds(const std::vector<std::byte>& bytes, std::int64_t offset, std::int64_t size) {
  return offset >= 0 && size >= 1 && offset + size <= static_cast<std::int64_t>(bytes.size());
}

}  // namespace

std::optional<std::int64_t> IntegerAt(const std::vector<std::byte>& bytes, std::int64_t offset,
                                      std::int64_t size, bool is_signed) {
  if (!Holds(bytes, offset, size) || size > 8) return std::nullopt;
  std::uint64_t value = 0;
  for (std::int64_t b = offset + size; b-- > offset;) {
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[static_cast<std::size_t>(b)]);
  }
  if (!is_signed) {
    if (value > std::uint64_t{0x7fffffffffffffff}) return std::nullopt;
    return static_cast<std::int64_t>(value);
  }
  const int unused = static_cast<int>(64 - 8 * size);
  return static_cast<std::int64_t>(value << unused) >> unused;
}

std::optional<double> NumberAt(const std::vector<std::byte>& bytes,
                               const records::Parameter::Member& member) {
  if (!Holds(bytes, member.offset, member.bytes)) return std::nullopt;
  return device::ReadNumber(bytes.data() + member.offset, 0,
                            device::ElementTypeOf(member.canonical, member.bytes));
}

std::vector<std::byte> WithNumber(std::vector<std::byte> bytes,
                                  const records::Parameter::Member& member, double number) {
  if (Holds(bytes, member.offset, member.bytes)) {
    device::WriteNumber(bytes.data() + member.offset, 0,
                        device::ElementTypeOf(member.canonical, member.bytes), number);
  }
  return bytes;
}

void NameMembers(const records::Parameter& parameter, std::size_t index,
                 const std::vector<std::byte>& bytes, records::Environment& environment) {
  for (const records::Parameter::Member& member : parameter.members) {
    const std::string behind = "." + member.name;
    const std::string position = "$" + std::to_string(index) + behind;
    if (member.kind == records::ParameterKind::kFloating) {
      const auto number = NumberAt(bytes, member);
      if (!number) continue;
      environment.floats[position] = *number;
      if (!parameter.name.empty()) environment.floats[parameter.name + behind] = *number;
    } else {
      const auto integer = IntegerAt(bytes, member.offset, member.bytes, member.is_signed);
      if (!integer) continue;
      environment.integers[position] = *integer;
      if (!parameter.name.empty()) environment.integers[parameter.name + behind] = *integer;
    }
  }
}

}  // namespace cupilot::worker
