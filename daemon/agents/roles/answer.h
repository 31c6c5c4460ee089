// The JSON document in the text that a model answered, whatever stands around it.
#pragma once

#include <string>
#include <string_view>

#include "agents/roles/role.h"
#include "records/json.h"

namespace cupilot::agents {

// An answer that is longer is not looked at.
inline constexpr std::size_t kMostAnswer = 512 * 1024;

// The one document that fits the schema: the whole text, or what stands in fences, or between other
// words. A complaint: there is none, it is cut off, it does not fit (with the path of what is
// wrong), or several different ones fit.
Answer<records::Json> FindDocument(std::string_view text, const records::Json& schema);

}  // namespace cupilot::agents
