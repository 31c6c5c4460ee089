// The variants that a built program or library holds (section .cupilot).
#pragma once

#include <string>

#include "base/result.h"
#include "records/json.h"

namespace cupilot::client {

// A list of `kernel`, `id`, `target`, `title`, `speedup`, `guard`, `source`; empty: it holds none.
// An error for what is no ELF file.
base::Result<records::Json> VariantsOfProgram(const std::string& path);

}  // namespace cupilot::client
