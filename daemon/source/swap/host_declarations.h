// What the host pass of a swapped source has in the place of a variant: kernels without a body, by
// the names and parameter lists of the variant's own, and its device variables by name. The device
// pass alone includes the variant's text, so no byte of it can become host code, whatever it says.
//
// nvcc's launcher functions, which it writes from the device pass, name each kernel, the types of
// its parameters and each device variable; so the host pass has to declare those. Of the variant's
// text only names come here, one identifier each; types are written out again by us, and a type of
// the variant's own is an opaque one. What cannot be written so is refused. What would be wrong for
// the compiler is its to refuse: then the original is built.
#pragma once

#include <string>

#include "base/result.h"
#include "records/kernel.h"
#include "records/variant.h"

namespace cupilot::source {

// In the variant's namespace, with its tunables' macros around, as VariantText. kUnsupported: a
// parameter whose type we cannot write, or a declaration that is none of device code; the message
// names it.
base::Result<std::string> HostDeclarations(const records::Kernel& kernel,
                                           const records::Variant& variant,
                                           const std::string& unit);

}  // namespace cupilot::source
