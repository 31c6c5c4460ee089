// What `cupilot lock` is made of: the lock files of a project, as they would be now.
#pragma once

#include <string>

#include "service/service.h"

namespace cupilot::service {

// For the projects that contain `folder`. `output` (absolute): one file for all of them; empty: the
// files that targets name, or cupilot.lock in the source folder where none does. The files' texts
// are written into `reply_folder`, since they may be larger than a message.
base::Result<records::Json> LockDocument(Service& service, const std::string& folder,
                                         const std::string& output,
                                         const std::string& reply_folder);

}  // namespace cupilot::service
