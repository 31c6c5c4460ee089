// Spaces as T1 describes them, the format that Kernel Tuner, KTT and others read (github:
// odgaard/TuningSchema): parameters with values, and constraints in Python.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/json.h"
#include "search/space.h"
#include "search/space_json.h"

namespace cupilot::search {

struct SpaceDescription {
  SpaceFile space;
  // Constraints that our expressions cannot say, each named with the reason; without them the
  // space has points that are not valid.
  std::vector<std::string> untold;
};

bool IsT1(const records::Json& json);

// A T1 file, or ours (`cupilot.space/1`). kInvalidArgument names the parameter, or the constraint
// that makes no sense.
base::Result<SpaceDescription> ReadSpaceDescription(const records::Json& json);

// A parameter of these values, which are numbers, truth values or texts; its kind is guessed from
// them. Others than whole numbers become texts. `standard`: null where nothing is known.
base::Result<SpaceParameter> ParameterOf(const std::string& name,
                                         const std::vector<records::Json>& values,
                                         const records::Json& standard);

}  // namespace cupilot::search
