// Requests out of prompts: what each role's request is made with.
#pragma once

#include <cstdint>
#include <string>

#include "agents/roles/role.h"
#include "records/json.h"

namespace cupilot::agents {

struct Asked {
  std::string prompt;  // "translator.v1"
  std::int64_t max_tokens = 0;
  std::string schema_name;
  const records::Json& schema;  // with limits
  std::string kernel_key;
};

// Ends the program where the prompt cannot be rendered: it is a part of it.
ModelRequest MakeRequest(const Asked& asked, const records::Json& data,
                         const RoleSettings& settings);

}  // namespace cupilot::agents
