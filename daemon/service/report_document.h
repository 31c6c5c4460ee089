// The data of a report on a project (cupilot.report/1, protocol/PROTOCOL.md): all that is known of
// its kernels. It is larger than a message may be, so it is left in a file; verdicts, of which
// there may be thousands, are asked for a page at a time, so that nobody else has to wait.
#pragma once

#include <string>

#include "records/json.h"
#include "service/documents.h"
#include "service/service.h"

namespace cupilot::service {

// Writes the document of the project that contains `folder` into `reply_folder`;
// cupilot.reported/1: `document` (the file). kNotFound if no project contains it.
base::Result<records::Json> ReportReply(Service& service, const std::string& folder,
                                        const std::string& reply_folder);

// The document's text. Kernels come in order of file and line, so that equal data give equal bytes.
base::Result<std::string> ReportText(Service& service, const std::string& folder);

// A page of a kernel's verdicts, the oldest first (cupilot.report_evidence/1). `params`:
// `kernel_key`, `workload` (of now), `from` (the first one's number; the reply's `next`, until that
// is null).
base::Result<records::Json> EvidenceDocument(Service& service, const records::Json& params);

// The kernel's own text (`text`, the `line` at which it begins): `as_written` while the file is
// what was read, else all that it reaches as the compiler sees it, which `note` says.
records::Json OriginalOf(const records::Kernel& kernel);

}  // namespace cupilot::service
