// What `cupilot doctor --fix` does: only what loses nothing and concerns cuPilot's own files.
#pragma once

#include <string>

#include "base/result.h"
#include "client/doctor/check.h"

namespace cupilot::client {

// What would be done, or was: "closed FOLDER to other users". Empty where there is nothing to do.
std::string MendText(const DoctorCheck& check);

// Does it. kIo with the reason.
base::Result<> Mend(const DoctorCheck& check);

}  // namespace cupilot::client
