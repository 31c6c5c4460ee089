// The rows of a report (`cupilot report`), made of records alone. Pure.
#pragma once

#include <string>
#include <vector>

#include "records/evaluation.h"
#include "records/json.h"
#include "records/variant.h"

namespace cupilot::service {

// One verdict, short: what passed by name, what failed with its detail. `speedup` and `interval`
// are those of the slowest case where the record states none, null where nothing was measured.
// `current`: it is evidence for the kernel's workload of now.
records::Json EvidenceRow(const records::Evaluation& evaluation, bool current);

// The variants as a tree, in the order in which they are given: `id`, `title`, `bottleneck`,
// `steps`, `values`, `parents`, and `parent`, an id of this list or "" for the original: the first
// of its parents that is known here, else the variant with the most steps of which its own are a
// continuation.
records::Json VariantTree(const std::vector<records::Variant>& variants);

// By case where the original and the variant of an evaluation stand between what the device can do
// and what was needed (microseconds, bytes, operations); empty: the record does not say.
records::Json RooflineRows(const records::Evaluation& evaluation);

}  // namespace cupilot::service
