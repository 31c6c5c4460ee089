// Lambdas that kernel templates are instantiated with, as function objects: a type with a name,
// whose members are what the lambda captures, in its order, and whose call operator has its text.
// What runs, and is measured, in the place of the original is then an ordinary kernel with a
// structure among its parameters. The structure's bytes are those of the kernel's own argument:
// with nvcc 12 and 13 its wrappers of extended lambdas (__nv_dl_wrapper_t, __nv_hdl_wrapper_t) hold
// the captures one after another, and for __host__ __device__ lambdas that capture something one
// pointer behind them, for the host; with g++ it is the lambda itself. Seen in what nvcc --keep
// writes; the sizes of all arguments are compared at run time before a variant is used. Pure
// functions.
#pragma once

#include <string>
#include <vector>

#include "records/kernel.h"
#include "source/closure.h"
#include "source/syntax/tree.h"

namespace cupilot::source {

// Of an instantiation's arguments, each once, in their order.
std::vector<const Lambda*> LambdasOf(const Instantiation& instantiation);

// "struct cupilot_lambda_... {...};". `host_toolkit`: for the host device's compiler.
records::MadeType MadeTypeOf(const Lambda& lambda, bool host_toolkit);

// "user::cupilot_lambda_...".
std::string QualifiedName(const Lambda& lambda);

// The type's declaration, as a part of a kernel's closure; and where the user's text has what it
// says: the function around the lambda, since types of captures are declared there.
Chunk ChunkOf(const Lambda& lambda, bool host_toolkit);
Chunk PlaceOfLambda(const Lambda& lambda);

// By what the kernel's registration is recognised (records::Kernel::instance). kUnsupported: two
// instantiations, or two lambdas, could be taken for each other.
base::Result<std::string> InstanceOf(const Tree& tree, const Instantiation& instantiation,
                                     bool host_toolkit);

}  // namespace cupilot::source
