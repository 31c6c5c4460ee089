// Small questions about expressions that techniques ask. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "source/syntax/built_ins.h"
#include "source/syntax/query.h"

namespace cupilot::source {

inline bool Contains(const Tree& tree, NodeId outer, NodeId inner) {
  return inner != kNone && outer != kNone && IsInside(tree, inner, outer);
}

// The first node at or below `root` for which `is` holds, kNone if there is none.
NodeId FindBelow(const Tree& tree, NodeId root, const std::function<bool(NodeId)>& is);

// The name of the system's function that a kCall calls; "" for anything else.
std::string SystemCallee(const Tree& tree, NodeId call);
// The user's function that it calls (its definition if there is one), kNone for anything else.
NodeId UserCallee(const Tree& tree, NodeId call);

// blockIdx.d * blockDim.d + threadIdx.d, in any order; the block's width may be a constant.
struct GlobalIndexForm {
  char axis = 'x';
  std::int64_t width = 0;  // 0: blockDim.d
};
std::optional<GlobalIndexForm> GlobalIndexOf(const Tree& tree, NodeId expression);

// Assignments, ++ and --, operators that assign; and what they change.
bool IsModification(const Tree& tree, NodeId expression);
NodeId TargetOf(const Tree& tree, NodeId modification);

// The variable or parameter that an expression names, kNone if it is more than a name.
NodeId VariableOf(const Tree& tree, NodeId expression);
// The variable or parameter through which an expression reaches memory: p for p[i], *(p + 1), p->x.
NodeId RootOf(const Tree& tree, NodeId expression);
// The variable or parameter of which an expression names the whole or a part: p for p.x, not for
// p->x.
NodeId OwnerOf(const Tree& tree, NodeId expression);

bool IsPointerType(std::string_view canonical);

// A name, and beginning of names, that the text does not have.
std::string FreshPrefix(const Tree& tree, const std::string& stem);

}  // namespace cupilot::source
