// How keys of the catalog's records begin, for all who read its tables (cache/FORMAT.md).
#pragma once

#include <string>

namespace cupilot::service {

inline const std::string kJobPrefix = "job/";               // counters
inline const std::string kLongCasesPrefix = "long_cases/";  // counters
inline const std::string kImportedPrefix = "imported/";     // variants: proposals

}  // namespace cupilot::service
