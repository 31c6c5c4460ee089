// The types of a launch's {"type", "value"} arguments: one table for the evaluation, which passes
// the bytes, and for the hook, whose text names the type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupilot::records {

struct ArgumentType {
  std::string_view name;       // as variants write it: "size_t", "int64_t", "unsigned"
  std::string_view canonical;  // as clang prints it and the hook writes it: "unsigned long"
  bool floating = false;
  // The bytes of the value, converted as C++ converts a long long to the type. nullopt: it is an
  // integer type that does not hold the value; the hook then runs the original.
  std::optional<std::vector<std::byte>> (*encode)(std::int64_t value) = nullptr;
};

// nullptr: no argument has such a type, since a model's text would get into host code.
const ArgumentType* FindArgumentType(std::string_view name);

// The names, for messages: "bool, char, ...".
std::string ArgumentTypeNames();

}  // namespace cupilot::records
