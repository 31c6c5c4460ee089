// The part of JSON Schema that the roles' answers are described with: type, properties, required,
// additionalProperties, items, enum, anyOf, and the limits maxLength (bytes), minLength, maxItems,
// minItems, minimum, maximum. Pure; any thread.
#pragma once

#include <string>

#include "records/json.h"

namespace cupilot::agents {

// What does not fit, with its path ("launches[0].grid: expected an array, found a number"); empty:
// it fits. Texts hold no NUL.
std::string WhyNotFits(const records::Json& value, const records::Json& schema);

// The same schema without limits, which not all providers know.
records::Json SentSchema(const records::Json& schema);

}  // namespace cupilot::agents
