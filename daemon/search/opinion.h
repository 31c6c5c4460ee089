// A technique's opinion of the kernel (protocol::Proposal by another name: search knows no
// protocol).
#pragma once

#include <string>
#include <vector>

#include "records/json.h"

namespace cupilot::search {

struct Opinion {
  std::string technique;
  bool applies = false;
  std::string reason;                     // why not
  std::vector<records::Json> parameters;  // worth trying, the most promising first
};

}  // namespace cupilot::search
