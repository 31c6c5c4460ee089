// The verbs "pin", "reject" and "diff", and what the user decided, as documents
// (protocol/PROTOCOL.md).
#pragma once

#include <string>
#include <vector>

#include "records/json.h"
#include "service/documents.h"
#include "service/service.h"

namespace cupilot::service {

// The kernel's variant whose id is this or begins with it, of all that were evaluated. kNotFound,
// and kInvalidArgument where several do.
base::Result<records::Variant> FindVariantOf(Service& service, const records::Kernel& kernel,
                                             const std::string& id);

// cupilot.decided/1. `kernel`, `folder`, and `variant` or `none`: true. kInvalidArgument,
// kNotFound: nothing was proven of the variant here, so there is nothing to keep.
base::Result<records::Json> PinDocument(Service& service, const records::Json& params);
// The same. `what`: an id, the beginning of one, or a kernel, whose variants in use are meant;
// `undo`: true takes it back.
base::Result<records::Json> RejectDocument(Service& service, const records::Json& params);

// cupilot.diff/1: the kernel's text and its winner's, or `variant`'s.
base::Result<records::Json> DiffDocument(Service& service, const records::Json& params);

// A sentence for each variant that is pinned and not in use all the same.
std::vector<std::string> IdlePins(Service& service, const ObjectState& state,
                                  const records::Kernel& kernel);

// The kernel's marks.
records::Json MarksJson(Service& service, const records::Kernel& kernel);

}  // namespace cupilot::service
