// The little of an ELF file that we read ourselves: a section's bytes, and whether code of an
// object refers to a symbol. 64-bit little-endian files only; every offset is checked, so any bytes
// may come.
#pragma once

#include <string>

#include "base/result.h"

namespace cupilot::source {

// The bytes of all sections with this name, joined; empty if there is none.
base::Result<std::string> ElfSection(const std::string& path, const std::string& name);

// Whether an object file has a relocation against this symbol in a section of code: what a call
// leaves. kUnsupported for what is no relocatable ELF object (link-time optimisation).
base::Result<bool> ObjectRefersTo(const std::string& path, const std::string& symbol);

}  // namespace cupilot::source
