// A kernel's body seen as most are written: what it computes from its place, a guard that keeps
// threads beyond the data from working, and the work. Techniques that make threads work together
// take these apart: all threads of a block must reach its barriers, whether the guard holds or not.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "source/lower/edits.h"
#include "source/rewrite/draft.h"

namespace cupilot::source {

struct GuardedBody {
  // In the order of the text, before the work.
  struct Step {
    NodeId declares = kNone;  // a declaration of values that follow from place and parameters alone
    NodeId condition = kNone;  // or a guard
    bool leaves = false;       // which leaves where it holds
  };
  std::vector<Step> steps;
  std::vector<NodeId> work;  // what is done where the guards let it be
};
GuardedBody ReadBody(const Draft& draft);

// Follows from the thread's place, parameters, constants, and variables that `may_use` names: no
// memory is read, nothing is changed.
bool IsOfPlace(const Draft& draft, NodeId expression,
               const std::function<bool(NodeId)>& may_use = {});
// A declaration of variables that keep such a value.
bool DeclaresPlaces(const Draft& draft, NodeId statement);

// A place as text: what stands for blockIdx.d * blockDim.d + threadIdx.d along x and y.
struct PlaceText {
  std::string x, y;
};
// The text of a node at another place. `more` may add edits of its own to nodes that hold no such
// sum, or that it says it has replaced by returning true: nothing below is looked at then.
std::string TextAt(const Draft& draft, NodeId node, const PlaceText& place,
                   const std::function<bool(NodeId, Edits&)>& more = {});
// { steps { inner } }, with the guards around it, at that place.
std::string GuardedText(const Draft& draft, const GuardedBody& body, const PlaceText& place,
                        const std::string& inner);

// A comparison of the guard, in the sense that work is done where it holds: place < bound.
struct UpperBound {
  std::size_t axis = 0;
  std::string limit;  // as a launch expression: places below it work; "" where it is none
};
// kUnsupported where the guards are anything but upper bounds of places that are the same for all.
base::Result<std::vector<UpperBound>> UpperBounds(const Draft& draft, const GuardedBody& body);

// The launch with blocks that work on size[0] x size[1] places, by threads[0] x threads[1] threads:
// grid and block derived again, and guards that no thread beyond the original ones works.
base::Result<> CoverInTiles(Draft& draft, const GuardedBody& body, const std::int64_t (&size)[2],
                            const std::int64_t (&threads)[2]);
// Whether that is possible for the workload's launch.
base::Result<> CheckCover(const Draft& draft, const GuardedBody& body,
                          const std::int64_t (&size)[2]);

}  // namespace cupilot::source
