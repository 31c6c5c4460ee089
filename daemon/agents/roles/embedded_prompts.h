// The texts of prompts/*.v*.md, in a source that the build makes of them (EmbedPrompts.cmake).
#pragma once

#include <string_view>

namespace cupilot::agents {

struct EmbeddedPrompt {
  std::string_view name;  // "translator.v1"
  std::string_view text;
};

// By name; the last one is empty.
extern const EmbeddedPrompt kEmbeddedPrompts[];

}  // namespace cupilot::agents
