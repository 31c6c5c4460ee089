// What the client asks about captured workloads (protocol/PROTOCOL.md). On the loop thread.
#pragma once

#include "records/json.h"
#include "service/service.h"

namespace cupilot::service {

// The tagged kernels of the project that contains params.folder (or the one that params.kernel
// names), with what is needed to record and to replay their launches. `complete` is false while
// sources are still to be read.
base::Result<records::Json> CapturePlanDocument(Service& service, const records::Json& params);

// Takes the records of params.file (`cupilot.captures/1`) and tunes on them from now on.
base::Result<records::Json> AddCaptures(Service& service, const records::Json& params);

base::Result<records::Json> WorkloadListDocument(Service& service, const records::Json& params);
// The record of params.kernel.
base::Result<records::Json> WorkloadDocument(Service& service, const records::Json& params);
base::Result<records::Json> DropWorkload(Service& service, const records::Json& params);

}  // namespace cupilot::service
