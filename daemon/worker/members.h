// Numbers in the bytes of structures that are passed by value. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/expression.h"
#include "records/kernel.h"

namespace cupilot::worker {

// The integer of 1 to 8 bytes at `offset`; nullopt: it lies outside, or is beyond what expressions
// count with.
std::optional<std::int64_t> IntegerAt(const std::vector<std::byte>& bytes, std::int64_t offset,
                                      std::int64_t size, bool is_signed);

// Of a floating member; nullopt: it lies outside.
std::optional<double> NumberAt(const std::vector<std::byte>& bytes,
                               const records::Parameter::Member& member);

// The bytes with another number in the member's place.
std::vector<std::byte> WithNumber(std::vector<std::byte> bytes,
                                  const records::Parameter::Member& member, double number);

// "f.width" and "$2.width" for all members of parameter number `index`.
void NameMembers(const records::Parameter& parameter, std::size_t index,
                 const std::vector<std::byte>& bytes, records::Environment& environment);

}  // namespace cupilot::worker
