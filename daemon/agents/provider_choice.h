// How a user names a provider and a model: the text of `--provider` and of the setting.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace cupilot::agents {

enum class ProviderKind { kOpenAi, kAnthropic, kOllama, kCommand, kExchange, kReplay };

// "openai:MODEL", "anthropic:MODEL", "ollama:MODEL", each with "@ADDRESS" where it is not the
// service's own; "openai-batch:MODEL" and "anthropic-batch:MODEL" likewise; "command:PROGRAM
// WORDS..."; "exchange:FOLDER" and "exchange:FOLDER#MODEL"; "replay:FILE".
struct ProviderChoice {
  ProviderKind kind = ProviderKind::kReplay;
  std::string model;               // of command and replay: empty
  std::string address;             // of services
  std::string path;                // of exchange and replay; absolute
  std::vector<std::string> words;  // of command; "..." and '...' hold blanks together
  bool batch = false;              // answers come hours later, for half the price
  bool own_service = false;        // the address is the one that everybody means
};

// Relative paths are taken from `folder`. kInvalidArgument with what may stand there.
base::Result<ProviderChoice> ParseProvider(const std::string& text, const std::string& folder);

// Several, separated by commas that are followed by a blank or a line end, as the setting has
// them. "none" and nothing at all: no provider.
base::Result<std::vector<ProviderChoice>> ParseProviders(const std::string& text,
                                                         const std::string& folder);

}  // namespace cupilot::agents
