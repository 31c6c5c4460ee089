// Kernels that no text can name: instantiations by lambdas. Their types are written by us
// (records::MadeType), and their originals are found when the program registers them: with nvcc by
// the name that the object's own registration gives the runtime, on the host device by the launcher
// function itself. What is not found, or has arguments of other sizes than ours, stays the
// original.
//
// nvcc's names are those of the Itanium ABI but for what is internal to a file, which it puts into
// a namespace of the file's; so demangled names are compared, without it. Texts of a swapped
// source; pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "source/swap/swapped_source.h"

namespace cupilot::source {

bool IsNameless(const records::Kernel& kernel);

// The types, in an inline namespace of the object inside their own, since the same text may mean
// other things in another object; each once. Behind the user's file, for host and device. Empty
// where all kernels have names, like the texts below.
std::string MadeTypes(const SwapRequest& request);

// The rows by which kernels are found (`functions` holds 0 for them). kInvalidArgument: a name that
// is none.
base::Result<std::string> NamelessRows(const SwapRequest& request);

// What fills `functions`: behind the machinery, inside its namespace.
std::string NamelessMachinery(const SwapRequest& request);

// Behind all: the functions that registrations call, <hook>_register or <hook>_instance.
std::string NamelessEpilogue(const SwapRequest& request, const std::string& hook);

}  // namespace cupilot::source
