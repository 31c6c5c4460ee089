// Names of kernels and variables as the device's images have them, and as a project writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "recording/plan.h"

namespace cupilot::capture {

// Demangled, without scopes that people do not write: unnamed namespaces, and those by which nvcc
// tells the static names of one source from another's.
std::string PlainName(const std::string& symbol);

// Without return type, template arguments and parameters: "image::blur".
std::string QualifiedName(const std::string& symbol);

// Whether the name holds something that every build, or every compiler, calls differently.
bool NamedByCompiler(std::string_view symbol);

// The planned kernel that `symbol` is: of that signature, or the only one whose signature says the
// same without what compilers add (nvcc does not mark static functions, others do). Null if none.
const PlannedKernel* FindPlanned(const std::vector<PlannedKernel>& kernels,
                                 const std::string& symbol);

// What a variable with external linkage may be called: "c" or "_ZN5image1cE".
std::string MangledVariable(const std::string& qualified);

}  // namespace cupilot::capture
