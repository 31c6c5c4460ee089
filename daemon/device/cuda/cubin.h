// What a cubin says of itself: the variables that it defines, which the driver does not enumerate,
// and the names behind mangled ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupilot::device::cuda {

struct CubinVariable {
  std::string symbol;  // as the driver finds it
  std::string name;    // qualified
  std::int64_t bytes = 0;
  bool constant = false;
};

// __constant__ and __device__ variables of a cubin (a 64-bit ELF file). kInvalidArgument if it is
// none; every offset is checked, so any bytes may come.
base::Result<std::vector<CubinVariable>> VariablesOf(std::string_view cubin);

// "app::blur" of "_ZN3app4blurEPf": without return type, parameters and unnamed namespaces, whose
// mangled names differ between compilers and runs. Names that are not mangled stay.
std::string QualifiedName(const std::string& symbol);

// The same of a name as sources write it: without "(anonymous namespace)::".
std::string WithoutUnnamedNamespaces(const std::string& name);

}  // namespace cupilot::device::cuda
