#include "worker/wide_values.h"

#include <cstring>

#include "device/element.h"

namespace cupilot::worker {

std::vector<std::byte> WideBytes(const records::Parameter& parameter,
                                 const std::vector<std::byte>& bytes) {
  const auto type = device::ElementTypeOf(parameter.canonical, parameter.bytes);
  if (!type.floating()) return bytes;
  const device::ElementType wide = device::Widened(type);
  std::vector<std::byte> widened(static_cast<std::size_t>(wide.size()));
  for (std::int64_t lane = 0; lane < type.lanes; ++lane) {
    device::WriteNumber(widened.data(), lane, wide, device::ReadNumber(bytes.data(), lane, type));
  }
  return widened;
}

std::int64_t PlaceOf(const protocol::TwinStructure& structure, std::int64_t from) {
  for (const protocol::TwinMember& member : structure.members) {
    if (member.from == from) return member.to;
  }
  return from;
}

std::vector<std::byte> WideStructure(const protocol::TwinStructure& structure,
                                     const std::vector<std::byte>& bytes) {
  std::vector<std::byte> wide(static_cast<std::size_t>(structure.bytes));
  for (const protocol::TwinMember& member : structure.members) {
    const std::byte* from = bytes.data() + member.from;
    std::byte* to = wide.data() + member.to;
    const auto type = device::ElementTypeOf(member.canonical, member.from_bytes);
    if (type.floating() && member.to_bytes != member.from_bytes) {
      device::WriteNumber(to, 0, device::Widened(type), device::ReadNumber(from, 0, type));
    } else {
      std::memcpy(to, from, static_cast<std::size_t>(member.from_bytes));
    }
  }
  return wide;
}

}  // namespace cupilot::worker
