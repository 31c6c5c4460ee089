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

// What a variant is, without its source: `id`, `parents`, `title`, `bottleneck`, `steps`, `values`.
records::Json VariantRow(const records::Variant& variant);

// By case where the original and the variant of an evaluation stand between what the device can do
// and what was needed (microseconds, bytes, operations); empty: the record does not say.
records::Json RooflineRows(const records::Evaluation& evaluation);

}  // namespace cupilot::service
