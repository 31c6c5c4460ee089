// What a kernel does, as far as techniques must know it before they change how its threads are
// arranged. Computed once a draft; a value.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "source/rewrite/inspect.h"

namespace cupilot::source {

struct Facts {
  NodeId function = kNone;
  NodeId body = kNone;
  bool barrier = false;  // __syncthreads in the kernel itself
  bool shared = false;   // declares shared memory
  bool dynamic_shared = false;
  bool atomics = false;
  bool atomic_result_used = false;  // order of arrival shows
  bool device_index = false;        // a device function that it calls reads threadIdx and the like
  bool device_effects = false;      // a device function that it calls writes memory or synchronises
  bool launch_bounds = false;
  // Why no technique may rearrange the kernel's threads, else empty: warp intrinsics, fences,
  // volatile, asm, goto, grid-wide behaviour, output of text, calls that cannot be followed.
  std::string rigid;
  // The same, with the exchange of values between a warp's threads left out.
  std::string rigid_besides_warps;
  std::set<NodeId> written;     // variables behind which memory is written (pointers, arrays)
  bool writes_unknown = false;  // something is written that has no clear root
  std::map<NodeId, std::vector<NodeId>> modifications;  // variable: nodes that change it
  std::set<NodeId> address_taken;  // or bound to a reference, or passed whole as an array
  std::map<NodeId, std::vector<NodeId>> references;  // variable: kDeclRef nodes in the kernel
};

// The facts of one kernel definition.
Facts FactsOf(const Tree& tree, NodeId function);

// A variable that is declared in the kernel's body (not a parameter, not shared, not global).
bool IsLocalVariable(const Tree& tree, const Facts& facts, NodeId variable);

// The first node that changes a variable itself, wholly or in part, and not only what it points to;
// kNone if there is none.
NodeId OwnChange(const Tree& tree, const Facts& facts, NodeId variable);

// No assignment, no call with effects, no atomic in the expression or statement.
bool IsPure(const Tree& tree, const Facts& facts, NodeId expression);
// Reads memory through a pointer, an array that is not local, or a structure behind one.
bool LoadsMemory(const Tree& tree, const Facts& facts, NodeId expression);
// Changes memory that other threads may see (stores through pointers, shared arrays, atomics).
bool StoresMemory(const Tree& tree, const Facts& facts, NodeId statement);

bool IsBarrierCall(const Tree& tree, NodeId expression);
bool ContainsBarrier(const Tree& tree, NodeId statement);

}  // namespace cupilot::source
