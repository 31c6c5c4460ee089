// What `status` tells, and what other documents have of it (documents.h).
#pragma once

#include <string>

#include "records/json.h"
#include "service/service.h"

namespace cupilot::service {

records::Json StatusDocument(Service& service);

records::Json DeviceJson(const evaluate::DeviceDescription& description);
// As WhyUntuned; of a kernel that a test of the project is to show a workload of, what came of
// that.
std::string WhyNotTuned(const Service& service, const ObjectState& state,
                        const records::Kernel& kernel);

}  // namespace cupilot::service
