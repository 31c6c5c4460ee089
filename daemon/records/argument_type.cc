#include "records/argument_type.h"

#include <array>
#include <bit>
#include <type_traits>

namespace cupilot::records {
namespace {

template <class T>
std::optional<std::vector<std::byte>> Encode(std::int64_t value) {
  const T converted = static_cast<T>(value);
  // As the hook tests it.
  if constexpr (!std::is_floating_point_v<T>) {
    if (static_cast<std::int64_t>(converted) != value) return std::nullopt;
    if constexpr (std::is_signed_v<T>) {
      if ((converted < 0) != (value < 0)) return std::nullopt;
    } else if (value < 0) {
      return std::nullopt;
    }
  }
  const auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(converted);
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

template <class T>
constexpr ArgumentType Row(std::string_view name, std::string_view canonical) {
  return {name, canonical, std::is_floating_point_v<T>, &Encode<T>};
}
template <class T>
constexpr ArgumentType Row(std::string_view name) {
  return Row<T>(name, name);
}

// The sizes are those of the hosts that CUDA knows.
constexpr std::array<ArgumentType, 24> kTypes = {
    Row<bool>("bool"),
    Row<char>("char"),
    Row<signed char>("signed char"),
    Row<unsigned char>("unsigned char"),
    Row<short>("short"),
    Row<unsigned short>("unsigned short"),
    Row<int>("int"),
    Row<unsigned>("unsigned int"),
    Row<unsigned>("unsigned", "unsigned int"),
    Row<long>("long"),
    Row<unsigned long>("unsigned long"),
    Row<long long>("long long"),
    Row<unsigned long long>("unsigned long long"),
    Row<float>("float"),
    Row<double>("double"),
    Row<unsigned long>("size_t", "unsigned long"),
    Row<signed char>("int8_t", "signed char"),
    Row<unsigned char>("uint8_t", "unsigned char"),
    Row<short>("int16_t", "short"),
    Row<unsigned short>("uint16_t", "unsigned short"),
    Row<int>("int32_t", "int"),
    Row<unsigned>("uint32_t", "unsigned int"),
    Row<long>("int64_t", "long"),
    Row<unsigned long>("uint64_t", "unsigned long"),
};

}  // namespace

const ArgumentType* FindArgumentType(std::string_view name) {
  for (const ArgumentType& type : kTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

std::string ArgumentTypeNames() {
  std::string names;
  for (const ArgumentType& type : kTypes) {
    names += (names.empty() ? "" : ", ") + std::string(type.name);
  }
  return names;
}

}  // namespace cupilot::records
