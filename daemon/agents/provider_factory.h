// Makes the provider that a user named.
#pragma once

#include <memory>
#include <string>

#include "agents/http_provider.h"
#include "agents/keys.h"
#include "agents/provider.h"
#include "agents/provider_choice.h"
#include "base/result.h"
#include "loop/loop.h"

namespace cupilot::agents {

// Where the key of a choice may be: for services everybody's variable (OPENAI_API_KEY,
// ANTHROPIC_API_KEY, OLLAMA_API_KEY), the file KIND of `keys_folder`, systemd's credential
// cupilot-KIND. Another address than the service's own has a key of its own, that nobody else's is
// sent there: CUPILOT_KEY_HOST_PORT, file and credential by the host. All empty: it needs none.
KeySource KeySourceOf(const ProviderChoice& choice, const std::string& keys_folder);

// Where things of the daemon's are.
struct ProviderFolders {
  std::string keys;     // files with keys (KeySourceOf); empty: none
  std::string batches;  // one folder a service is made below it; empty: batches are kUnavailable
};

// Takes the key too, from `keys` (keys.h: before there are other threads). A service of somebody
// else's costs; one on this machine, and Ollama's, does not. kNotFound where OpenAI's or
// Anthropic's own service has no key.
base::Result<std::unique_ptr<Provider>> MakeProvider(const ProviderChoice& choice,
                                                     const ProviderFolders& folders, KeyRing& keys,
                                                     loop::Loop& loop,
                                                     HttpSurroundings surroundings);

}  // namespace cupilot::agents
