// What the compiled code of a variant may be, looked up in the object itself: whatever a text
// hides, it does nothing at start or exit and calls nothing but what device code may call.
//
// Of a candidate, which stands alone with what its kernel reaches, the whole object is looked at.
// In an object of the user's a variant is what lies in its namespace (records::VariantNamespace);
// the rest is the user's own. (It is not joined from an object of its own: device variables of the
// user's are static, and objects for link-time optimisation cannot be joined before it. What words
// could hide in its place is asked of the words there, variant_words.h.) Names are read as the
// Itanium C++ ABI writes them, files as ELF (System V ABI, relocatable objects of 64 bits).
#pragma once

#include <string>

#include "base/result.h"
#include "client/nvcc/variant_words.h"

namespace cupilot::nvcc {

// What is wrong with it, as a sentence; empty: nothing, or it is no machine code yet (link-time
// optimisation of the user's object). Errors: the file cannot be read.
base::Result<std::string> WhyNotDeviceCode(const std::string& path, VariantPlace place);

}  // namespace cupilot::nvcc
