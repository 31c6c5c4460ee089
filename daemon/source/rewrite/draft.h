// A kernel on its way from the original to a variant: its closure's text as far as steps have
// changed it, the tree of that text, and the launch that goes with it. Steps compose: each sees
// what the one before it left. A value.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "records/kernel.h"
#include "records/variant.h"
#include "records/workload.h"
#include "source/lower/edits.h"
#include "source/rewrite/facts.h"
#include "source/syntax/tree.h"

namespace cupilot::source {

// The dimensions' names, in the order in which arrays hold them.
inline constexpr const char* kAxes[] = {"x", "y", "z"};

// A technique's answer where a kernel is none for it.
inline tl::unexpected<base::Error> Declined(const std::string& why) {
  return base::Fail(base::Unsupported(why));
}

struct Draft {
  records::Kernel kernel;  // the original
  records::Case workload;  // the heaviest case: what sizes to expect
  std::string device;      // "host" | "cuda"

  Tree tree;                // of the closure with the changed kernel in the original's place
  NodeId function = kNone;  // the kernel's definition in it; it keeps its name until the end
  Facts facts;              // of it

  // Always three expressions each, over the original launch (grid_x, block_x, ... and scalars).
  std::vector<std::string> grid, block;
  // A step has made the kernel one for blocks of any shape, as long as grid times block is the
  // same.
  bool any_block = false;
  std::string guard;                     // "" for always
  std::vector<records::Json> arguments;  // empty: the kernel's own, in order
  std::vector<std::string> added;  // qualified names of device functions that steps have added
};

base::Result<Draft> OpenDraft(const records::Kernel& kernel, const records::Case& workload,
                              const std::string& device);

// Makes the edited text of `draft.tree.text` the draft's, and looks at it anew. kInternal if it
// does not parse: the step is at fault, and the draft is not to be used.
base::Result<> Change(Draft& draft, const Edits& edits);

// One more parameter of the kernel, an int, for which launches give `value`.
void AddParameter(Draft& draft, Edits& edits, const std::string& name, const std::string& value);

// "(a) && (b)".
void AddGuard(Draft& draft, const std::string& condition);
// How expressions reach a parameter of the kernel.
std::string NameInExpressions(const Draft& draft, NodeId parameter);

// The variant: the kernel's text under a name of its own. A kernel that was given parameters
// (draft.arguments) must name all its arguments there.
records::Variant CloseDraft(const Draft& draft, const records::Strategy& strategy);

// Block and grid of the workload's case as numbers; 1 where they cannot be known.
struct Geometry {
  std::int64_t grid[3] = {1, 1, 1};
  std::int64_t block[3] = {1, 1, 1};
};
// Of the original launch, and of the draft's launch.
Geometry OriginalGeometry(const Draft& draft);
Geometry DraftGeometry(const Draft& draft);

}  // namespace cupilot::source
