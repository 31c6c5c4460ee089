// The variants of a kernel as a tree. Pure.
#pragma once

#include "records/json.h"

namespace cupilot::client {

// Gives each row (`id`, `parents`, `steps`) its `parent`, an id of this list or "" for the
// original: the first of its parents that is known here, else the variant with the most steps of
// which its own are a continuation. There are no circles.
void PlaceVariants(records::Json& variants);

}  // namespace cupilot::client
