#include "agents/provider_factory.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "agents/anthropic_format.h"
#include "agents/batch_provider.h"
#include "agents/command_provider.h"
#include "agents/exchange_provider.h"
#include "agents/ollama_format.h"
#include "agents/openai_format.h"
#include "agents/replay_provider.h"
#include "base/hash.h"

namespace cupilot::agents {
namespace {

bool IsService(ProviderKind kind) {
  return kind == ProviderKind::kOpenAi || kind == ProviderKind::kAnthropic ||
         kind == ProviderKind::kOllama;
}

std::string KindName(ProviderKind kind) {
  switch (kind) {
    case ProviderKind::kAnthropic:
      return "anthropic";
    case ProviderKind::kOllama:
      return "ollama";
    default:
      return "openai";
  }
}

std::unique_ptr<WireFormat> FormatOf(const ProviderChoice& choice) {
  switch (choice.kind) {
    case ProviderKind::kAnthropic:
      return std::make_unique<AnthropicFormat>();
    case ProviderKind::kOllama:
      return std::make_unique<OllamaFormat>();
    default:
      // What others made compatible knows the older name of the limit for certain.
      return std::make_unique<OpenAiFormat>(
          OpenAiFormat::Settings{.older_limit = !choice.own_service});
  }
}

std::unique_ptr<BatchFormat> BatchFormatOf(const ProviderChoice& choice) {
  if (choice.kind == ProviderKind::kAnthropic) return std::make_unique<AnthropicBatchFormat>();
  return std::make_unique<OpenAiBatchFormat>();
}

base::Result<std::unique_ptr<Provider>> MakeBatches(const ProviderChoice& choice,
                                                    const std::string& folder, base::Secret key,
                                                    HttpSurroundings surroundings) {
  if (folder.empty()) return base::Fail(base::Unavailable("batches need the daemon"));
  TRY_ASSIGN(const std::string origin, loop::OriginOf(choice.address));
  BatchServiceSettings settings;
  settings.address = choice.address;
  settings.key = std::move(key);
  TRY_ASSIGN(auto service, choice.kind == ProviderKind::kAnthropic
                               ? MakeAnthropicBatches(surroundings, std::move(settings))
                               : MakeOpenAiBatches(surroundings, std::move(settings)));
  const std::string name = KindName(choice.kind) + " " + origin;
  TRY_ASSIGN(auto made, BatchProvider::Create(surroundings.alarms, std::move(service),
                                              BatchFormatOf(choice), BatchFormatOf(choice), name,
                                              {.folder = folder + "/" + base::HashHex(name)}));
  return std::unique_ptr<Provider>(std::move(made));
}

}  // namespace

KeySource KeySourceOf(const ProviderChoice& choice, const std::string& keys_folder) {
  if (!IsService(choice.kind)) return {};
  std::string name = KindName(choice.kind);
  std::string variable = name + "_api_key";
  if (!choice.own_service) {
    const auto origin = loop::OriginOf(choice.address);
    if (!origin) return {};
    name = origin->substr(origin->find("//") + 2);
    std::replace_if(
        name.begin(), name.end(),
        [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.'; }, '-');
    variable = "cupilot_key_" + name;
  }
  for (char& c : variable) {
    c = std::isalnum(static_cast<unsigned char>(c)) != 0
            ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
            : '_';
  }
  return {variable, keys_folder.empty() ? "" : keys_folder + "/" + name, "cupilot-" + name};
}

base::Result<std::unique_ptr<Provider>> MakeProvider(const ProviderChoice& choice,
                                                     const ProviderFolders& folders, KeyRing& keys,
                                                     loop::Loop& loop,
                                                     HttpSurroundings surroundings) {
  Alarms& alarms = surroundings.alarms;
  if (choice.kind == ProviderKind::kCommand) {
    return std::make_unique<CommandProvider>(loop, alarms,
                                             CommandProvider::Settings{.arguments = choice.words});
  }
  if (choice.kind == ProviderKind::kExchange) {
    return std::make_unique<ExchangeProvider>(alarms, choice.path);
  }
  if (choice.kind == ProviderKind::kReplay) {
    TRY_ASSIGN(auto replay, ReplayProvider::Load(alarms, choice.path));
    return std::unique_ptr<Provider>(std::move(replay));
  }
  HttpProvider::Settings settings;
  settings.kind = KindName(choice.kind);
  settings.address = choice.address;
  settings.costs = choice.kind != ProviderKind::kOllama && !loop::IsLoopback(choice.address);
  if (auto key = keys.Take(KeySourceOf(choice, folders.keys))) {
    settings.key = std::move(*key);
  } else if (key.error().code != base::ErrorCode::kNotFound ||
             (choice.own_service && choice.kind != ProviderKind::kOllama)) {
    return base::Fail(key.error().In("provider " + settings.kind));
  }
  if (choice.batch) {
    return MakeBatches(choice, folders.batches, std::move(settings.key), surroundings);
  }
  TRY_ASSIGN(auto made, HttpProvider::Create(surroundings, FormatOf(choice), std::move(settings)));
  return std::unique_ptr<Provider>(std::move(made));
}

}  // namespace cupilot::agents
