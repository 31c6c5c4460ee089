// What a mechanical technique is: two pure functions on a draft, and a row in the table of
// technique_list.cc. Techniques look at the syntax tree, never at names.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/json.h"
#include "source/rewrite/draft.h"

namespace cupilot::source {

struct RewriteTechnique {
  const char* name;  // of a row in search/techniques
  // Parameters worth trying on the draft, the most promising first; kUnsupported with the reason
  // why it is not safe, or cannot help here. Null: it has no opinion of a kernel; what was measured
  // speaks for it (search/size_classes.h).
  base::Result<std::vector<records::Json>> (*propose)(const Draft& draft);
  // Changes the draft; gives a few words for the strategy's title. Checks safety itself: a strategy
  // may come from anywhere. kUnsupported, kInvalidArgument: declined, with the reason.
  base::Result<std::string> (*apply)(Draft& draft, const records::Json& parameters);
};

std::span<const RewriteTechnique> RewriteTechniques();

}  // namespace cupilot::source
