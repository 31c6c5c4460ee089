// Texts in structures that are passed by value (arrays of char), which are a program's own words
// more often than anything that a kernel acts on.
#pragma once

#include <cstddef>
#include <vector>

#include "records/kernel.h"
#include "records/variant.h"

namespace cupilot::worker {

// Whether the member is a letter of a text that the kernel's source declares and names nowhere
// else, nor the variant, which does not look at bytes either: then what it says need not be as it
// was.
bool IsUnread(const records::Parameter::Member& member, const records::Kernel& kernel,
              const records::Variant& variant);

// The structure's bytes with other letters in the texts that the kernel does not read; the same
// bytes where it has none.
std::vector<std::byte> WithOtherTexts(std::vector<std::byte> bytes,
                                      const records::Parameter& parameter,
                                      const records::Kernel& kernel);

}  // namespace cupilot::worker
