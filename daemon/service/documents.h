// The documents that the daemon answers with (protocol/PROTOCOL.md). Pure readers of the service.
#pragma once

#include <string>

#include "records/json.h"
#include "service/service.h"
#include "service/status_document.h"

namespace cupilot::service {

records::Json ListDocument(Service& service, const std::string& folder);

// Whether the object is of the project that contains the folder; of any project, if it is empty.
bool InProject(Service& service, const ObjectState& state, const std::string& folder);
// The source folder of the project that contains the folder; the folder itself where none does.
std::string SourceFolderOf(Service& service, const std::string& folder);

// Where a kernel is; from FindKernel.
struct KernelPlace {
  const ObjectState* object = nullptr;
  const records::Kernel* kernel = nullptr;
};
// KERNEL as people write it: qualified name, a unique suffix, or file:line (the line of the
// kernel's head or one beside it), in the project that contains `folder`; of several build trees of
// one source in that which contains it, else in the one that was built last. kNotFound;
// kInvalidArgument with the candidates if it is ambiguous.
base::Result<KernelPlace> FindKernel(Service& service, const std::string& name,
                                     const std::string& folder);

records::Json ExplainDocument(Service& service, const KernelPlace& place);
base::Result<records::Json> BestDocument(Service& service, const KernelPlace& place,
                                         const std::string& arch);

}  // namespace cupilot::service
