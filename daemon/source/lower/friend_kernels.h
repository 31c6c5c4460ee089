// Kernels that classes call their friends. What a kernel becomes are several functions, and the
// friend is the launcher alone: body and entry stand in a structure of their own, which every such
// class gets for a friend, too. Pure.
#pragma once

#include <map>
#include <string>

#include "source/lower/edits.h"
#include "source/syntax/tree.h"

namespace cupilot::source {

// The structure of each kernel's definition that is a friend of a class: its name is of no other
// translation unit.
std::map<NodeId, std::string> FriendStructures(const Tree& tree);

// Declares the structures as friends beside the kernels, and ahead of the classes where a kernel is
// declared there.
void DeclareFriends(const Tree& tree, const std::map<NodeId, std::string>& structures,
                    Edits& edits);

}  // namespace cupilot::source
