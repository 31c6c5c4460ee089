// What the verb "demote" asks for: a variant is put aside because the program that holds it was
// seen to be slower with it (PROTOCOL.md). Pure functions.
#pragma once

#include <string>
#include <vector>

#include "base/paired_ratio.h"
#include "base/result.h"
#include "records/json.h"

namespace cupilot::protocol {

struct Demotion {
  std::string kernel;
  std::string folder;                 // where the user stands
  std::vector<std::string> variants;  // ids that the program holds; empty: what is published
  std::string program;                // as the user called it
  // The program's speedup by the variant, below 1 with its whole 95 % interval.
  double speedup = 0;
  double low = 0;
  double high = 0;
  base::TimedPairs pairs;   // seconds without and with the variant
  bool in_kernels = false;  // of the time in all kernels; else of all time
  bool operator==(const Demotion&) const = default;
};

records::Json ToJson(const Demotion& demotion);
// kInvalidArgument: the interval does not say that the program loses, or too few pairs do.
base::Result<Demotion> DemotionOf(const records::Json& params);

// "loses in the program app: 0.930x [0.910, 0.950] in 12 pairs, 2026-11-22T08:00:00Z"
std::string ReasonOf(const Demotion& demotion, const std::string& date);

}  // namespace cupilot::protocol
