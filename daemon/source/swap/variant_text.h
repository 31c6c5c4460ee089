// The text of a variant as it is compiled, in candidates and in swapped sources alike: its tunables
// as macros around it, in a namespace of its own inside the kernel's. Pure functions of their
// arguments.
//
// What a model or a cache wrote and that is not the device code itself (names of tunables and their
// values, includes) is checked here word by word: nothing else reaches the text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/kernel.h"
#include "records/variant.h"

namespace cupilot::source {

// `namespace image { namespace cupilot_<16 digits> { source } }` with the macros of variant.values
// around it. `targets` are the targets of the compile command that the variant was proven for:
// where they name virtual architectures ("compute_90,sm_90"), the bodies of its entries are
// compiled for these only and trap elsewhere (an empty body would be a wrong result without an
// error). Without targets, and for the host, bodies are as they are. kInvalidArgument: a value, a
// name or the brackets of the source are not what they may be. `unit`: the object, in an inline
// namespace of which it stands inside its own, since two objects of a program may hold the same
// variant (of a kernel template, or of a kernel in a header). In an unnamed namespace each launch
// cost 45 ns more on an H200. That namespace also carries the kernel's name, so that whatever the
// variant's entries are called, debuggers and profilers show whose variant they are.
base::Result<std::string> VariantText(const records::Kernel& kernel,
                                      const records::Variant& variant,
                                      const std::vector<std::string>& targets = {},
                                      const std::string& unit = {});

// `text` in the namespace of the variant, with the macros of its values around it.
base::Result<std::string> InVariantNamespace(const records::Kernel& kernel,
                                             const records::Variant& variant,
                                             const std::string& unit, const std::string& text,
                                             bool in_host_pass = false);

// "of_<kernel>_<16 digits>": of SwapRequest::unit.
std::string UnitNamespace(const records::Kernel& kernel, const std::string& unit);

// A self-contained unit with the original and the variant: what is built, verified and measured.
// `closure`, if it is not empty, stands in it instead of the kernel's own closure_source.
base::Result<std::string> CandidateText(const records::Kernel& kernel,
                                        const records::Variant& variant,
                                        const std::string& closure = {});

// Whether variants may include it.
bool IsKnownHeader(std::string_view name);

// `#include <...>` lines of the variant's includes; kInvalidArgument for a header that is not on
// the list of those that variants may use.
base::Result<std::string> IncludeLines(const records::Variant& variant);

// "::image::cupilot_0123456789abcdef::blur_t4"; and the same without the leading "::", which is how
// the host runtime's table and tools name it. A variant without a text is code of the user's object
// (evaluate/object_checker.h): its entry is the mangled name there.
std::string QualifiedEntry(const records::Kernel& kernel, const records::Variant& variant,
                           const std::string& entry);
std::string EntryName(const records::Kernel& kernel, const records::Variant& variant,
                      const std::string& entry);

// A C++ identifier that is not reserved for the implementation or a keyword that could do harm.
bool IsIdentifier(const std::string& text);

// "compute_90,sm_90" -> 900; 0 for what is not a virtual architecture (the host).
int ArchitectureNumber(const std::string& target);
// "compute_90a,sm_90a" -> 'a'; 0 for a plain one.
char ArchitectureSuffix(const std::string& target);

}  // namespace cupilot::source
