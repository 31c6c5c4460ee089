// The verbs "prune", "forget", "export" and "import", as documents (protocol/PROTOCOL.md).
#pragma once

#include <string>

#include "records/json.h"
#include "service/service.h"

namespace cupilot::service {

// cupilot.pruned/1. `older_seconds?`, `max_bytes?` in the place of the settings' limits,
// `dry_run?`. kInvalidArgument, kUnavailable.
base::Result<records::Json> PruneDocument(Service& service, const records::Json& params);

// cupilot.forgotten/1. `project` (the absolute path of a source or build folder, or the name of a
// source folder), or `all`: true; `dry_run?`. kNotFound names those that there are.
base::Result<records::Json> ForgetDocument(Service& service, const records::Json& params);

// cupilot.exported/1: cupilot.export/1 (cache/FORMAT.md) in a file of `reply_folder`, of the
// project that contains `folder`, or of all that the store has (`all`: true). kNotFound.
base::Result<records::Json> ExportDocument(Service& service, const records::Json& params,
                                           const std::string& reply_folder);
// cupilot.imported/1: takes the accepted variants of a `file` (cupilot.export/1) as proposals, and
// with `marks`: true what was pinned and rejected there, but of variants that are marked here.
// Errors name the file and the key; then nothing is taken.
base::Result<records::Json> ImportDocument(Service& service, const records::Json& params);

}  // namespace cupilot::service
