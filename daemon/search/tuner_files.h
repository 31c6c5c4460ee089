// Measured spaces in the formats of other autotuners: the cache of Kernel Tuner (which is appended
// to and may lack its end) and T4 (github: odgaard/TuningSchema; Kernel Tuner and KTT write it) are
// read, T4 is written. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "search/measured.h"
#include "search/t1_space.h"

namespace cupilot::search {

struct ImportedSpace {
  MeasuredSpace measured;
  std::vector<std::string> notes;  // what the user should know of it: what was cut off, for one
};

// A cache of Kernel Tuner, a T4 file, or one of ours. Times of T4 are in the unit that the file
// says, else milliseconds. Compiling is the file's compile time; measuring its benchmark time (else
// the sum of the runs) and its verification. `description`: null, or where the space comes from;
// without it, and where it has constraints that cannot be said, the valid points are those of the
// file. kInvalidArgument names the row.
base::Result<ImportedSpace> ImportResults(std::string_view text,
                                          const SpaceDescription* description);

// As T4, times in milliseconds; what the compiler said of a point as further measurements. Truth
// values are written as 0 and 1, texts that are numbers as these, and a space's constraints, its
// standard values and what was launched have no place in it.
std::string T4Of(const MeasuredSpace& measured);

// The text with what brackets lack closed, behind its last whole entry; NaN and Infinity, which
// Python writes and JSON has not, become null. Nothing else changes. `cut`, where it is given: set
// where brackets had to be closed.
std::string CompletedJson(std::string_view text, bool* cut = nullptr);

}  // namespace cupilot::search
