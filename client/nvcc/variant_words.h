// What the compiler itself read of a variant: its words once macros are replaced, directives
// carried out and files included, checked as the daemon checks a variant's text
// (source/whitelist_words.h). What two readers of one text make of it may differ; these are the
// words that become code.
#pragma once

#include <string>

#include "source/syntax/tree.h"

namespace cupilot::nvcc {

// What is wrong with the variants of a preprocessed text, as a sentence; empty: nothing. A variant
// is what lies in its namespace (records::VariantNamespace), which opens once.
std::string WhyNotVariantWords(const source::Tree& tree);

}  // namespace cupilot::nvcc
