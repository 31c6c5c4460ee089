// How the daemon and all that it starts give way to the user's own programs.
#pragma once

#include "service/settings.h"

namespace cupilot {

// Processor priority, and that of reading and writing files. What the system refuses stays as it
// is.
void GiveWay(service::IoClass io);

}  // namespace cupilot
