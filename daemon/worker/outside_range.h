// What is made of an original that fails where numbers leave the range that their fill names: an
// index that it computes of them leads astray. On a GPU each such failure costs a process (a
// quarter of a second), and there are dozens of such contents, which say nothing of a candidate.
#pragma once

#include "worker/case_inputs.h"
#include "worker/case_plan.h"

namespace cupilot::worker {

// Whether a floating number of a region whose fill is uniform lies outside [low, high], or is none.
bool LeavesRange(const Layout& layout, const CaseInputs& inputs);

// Of one case's original. After some failures on contents that leave the ranges no other such ones
// are asked.
class OutsideRange {
 public:
  static constexpr int kMostFailures = 4;
  void Failed(const Layout& layout, const CaseInputs& inputs) {
    if (failures_ < kMostFailures && LeavesRange(layout, inputs)) ++failures_;
  }
  bool IsAsked(const Layout& layout, const CaseInputs& inputs) const {
    return failures_ < kMostFailures || !LeavesRange(layout, inputs);
  }

 private:
  int failures_ = 0;
};

}  // namespace cupilot::worker
