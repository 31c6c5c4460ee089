// Why the last kernel failed, in words, for people; and what cannot go on.
#pragma once

#include <string>

namespace cupilot_host {

void SetFailureText(const std::string& text);
[[noreturn]] void Die(const char* text);

}  // namespace cupilot_host
