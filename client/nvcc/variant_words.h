// What the compiler itself read of a variant: its words once macros are replaced, directives
// carried out and files included, checked by the rules by which the daemon checks a variant's text
// (source/whitelist_words.h, source/whitelist.h). What two readers of one text make of it may
// differ; these are the words that become code, in the place where they do.
#pragma once

#include <string>
#include <string_view>

#include "source/syntax/parse.h"

namespace cupilot::nvcc {

// Whether a namespace is a variant's, as records::VariantNamespace names them.
bool IsVariantNamespace(std::string_view name);

enum class VariantPlace {
  kCandidate,  // the one variant stands at the end of the text, behind the closure
  kSwapped,    // each variant is a file of its own that the swapped source includes
};

// What is wrong with the variants of a preprocessed text, as a sentence; empty: nothing. A variant
// is what lies in its namespace (records::VariantNamespace).
std::string WhyNotVariants(const source::ParseOutcome& unit, VariantPlace place);

}  // namespace cupilot::nvcc
