// The C++ function of the hook that checks one variant and launches it.
#pragma once

#include <string>

#include "base/result.h"
#include "source/swap/swapped_source.h"

namespace cupilot::source {

struct VariantFunction {
  std::string text;  // static bool NAME(const launch&, const geometry&, cudaError_t*)
  std::string name;
  // Whether its entries take what it gives them: of the variant's own text, so where that is
  // compiled, behind HookTypes().
  std::string checks;
  bool needs_workspaces = false;  // calls what HookWorkspaces() defines
};

// `kernel_index` and `variant_index` name the function; `first_entry` is the index of the variant's
// first entry in the hook's table of functions, which lists EntriesOf(variant) in order.
base::Result<VariantFunction> WriteVariantFunction(const records::Kernel& kernel,
                                                   const SwappedVariant& variant,
                                                   std::size_t kernel_index,
                                                   std::size_t variant_index,
                                                   std::size_t first_entry);

// The kernels that the variant launches, each once, in the order of first use.
std::vector<std::string> EntriesOf(const records::Variant& variant);

}  // namespace cupilot::source
