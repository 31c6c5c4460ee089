// A kernel template with known arguments, written as an ordinary kernel of the same name: so that
// everything that analyses, rewrites, builds and checks kernels needs to know nothing of templates.
// Template parameters may not be hidden inside their template ([temp.local]), so that each token
// that spells one, but for members, means it. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "source/closure.h"
#include "source/syntax/tree.h"

namespace cupilot::source {

// "float", "4": of all parameters, packs flattened, as they stand between < and >. kUnsupported for
// arguments that cannot be written.
base::Result<std::vector<std::string>> ArgumentTexts(const Instantiation& instantiation);

// Values of the template's integer parameters by name, for expressions of the tag.
std::vector<std::pair<std::string, std::int64_t>> IntegerArguments(
    const Tree& tree, const Instantiation& instantiation);

// The instantiation's declaration as a text. kUnsupported with the reason for what is not written
// so.
base::Result<std::string> SpecialisedText(const Tree& tree, const Instantiation& instantiation);

// The closure of the template's definition with the instantiation in the template's place (behind
// the types of its arguments), and what stands for lambdas before it. `host_toolkit`: of the host
// device.
base::Result<Closure> SpecialisedClosure(const Tree& tree, const Instantiation& instantiation,
                                         Closure closure, bool host_toolkit);

// `text` (a unit whose tree this is) with each `if constexpr` of the function whose condition is
// known as the branch that is taken: outside of a template the other one would have to compile.
// The text itself if there is none.
std::string WithoutDiscardedBranches(const Tree& tree, NodeId function);

}  // namespace cupilot::source
