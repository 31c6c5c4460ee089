// Looks at the machine for doctor: files, programs that are asked, the daemon if one runs.
#pragma once

#include "client/doctor/facts.h"

namespace cupilot::client {

// Blocks for as long as the programs that are asked need, 20 s each at most. Makes the user's
// folders where they are missing, and changes nothing else.
DoctorFacts GatherDoctorFacts();

}  // namespace cupilot::client
