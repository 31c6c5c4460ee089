// Where the members of structures lie: the floating ones in the original and in its double twin,
// all numbers among them for guards and other values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/kernel.h"
#include "source/syntax/tree.h"

namespace cupilot::source {

// A scalar member, or an element of one that is an array, in the order of declaration.
struct Member {
  std::string name;  // as an expression names it: "frame.width", "dims[2]", "v.x"
  std::string canonical;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  TypeClass type_class = TypeClass::kUnknown;
};
struct Layout {
  std::vector<Member> members;
  std::int64_t bytes = 0;
  std::int64_t alignment = 1;
};

// The structure that a canonical type names; kNone if it is none of user text.
NodeId RecordNamed(const Tree& tree, std::string_view canonical);

// Of a structure of user text; nullopt where its layout is not known from its text alone: base
// classes, bit fields, unions, alignments, members of a type without a known layout.
std::optional<Layout> LayoutOf(const Tree& tree, NodeId record);

// The numbers among the members of a parameter that is a structure or a vector of the toolkit's;
// none where its layout is not known, or its size is another than `bytes`.
std::vector<records::Parameter::Member> NumbersIn(const Tree& tree, std::string_view canonical,
                                                  std::int64_t bytes);

}  // namespace cupilot::source
