// The verb "demote", and what objects do without, as documents (protocol/PROTOCOL.md).
#pragma once

#include "records/json.h"
#include "service/documents.h"
#include "service/service.h"

namespace cupilot::service {

// cupilot.demoted/1. kInvalidArgument, kNotFound.
base::Result<records::Json> DemotionDocument(Service& service, const records::Json& params);

// The kernel's variants that its object does without, with the reasons and what was measured.
records::Json RefusedJson(Service& service, const KernelPlace& place);

}  // namespace cupilot::service
