#include "agents/consent.h"

#include <optional>

#include "base/hash.h"
#include "cache/record.h"

namespace cupilot::agents {
namespace {

using cache::Table;
using records::Json;

constexpr const char* kConsentPrefix = "consent/";

std::string ConsentKey(const std::string& project, const std::string& provider) {
  return kConsentPrefix + project + "/" + base::HashHex(provider);
}

}  // namespace

base::Result<> CheckProviderName(const std::string& name) {
  if (name == "replay") return {};
  for (const char* kind : {"openai ", "anthropic ", "ollama ", "command ", "exchange "}) {
    if (name.starts_with(kind) && name != kind) return {};
  }
  return base::Fail(base::InvalidArgument(
      "'" + name +
      "' is no provider; there are: openai ADDRESS, anthropic ADDRESS, ollama ADDRESS (such as "
      "\"openai https://api.openai.com\"), command PROGRAM, exchange FOLDER, replay"));
}

// The value must say the same as the key: a hash alone allows nothing.
base::Result<bool> Consent::Allowed(const std::string& project, const std::string& provider) const {
  TRY_ASSIGN(const auto bytes, store_.Get(Table::kCounters, ConsentKey(project, provider)));
  if (!bytes) return false;
  TRY_ASSIGN(const cache::Record record, cache::Unseal(*bytes));
  return records::TextAt(record.value, "provider") == provider &&
         records::TextAt(record.value, "project") == project;
}

base::Result<> Consent::Allow(const std::string& project, const std::string& provider) {
  TRY_ASSIGN(const bool allowed, Allowed(project, provider));
  if (allowed) return {};
  const Json value = {
      {"project", project}, {"provider", provider}, {"since", base::FormatDate(clock_.WallTime())}};
  return store_.Apply({{Table::kCounters, ConsentKey(project, provider), cache::Seal(value)}});
}

base::Result<> Consent::Forbid(const std::string& project, const std::string& provider) {
  return store_.Apply({{Table::kCounters, ConsentKey(project, provider), std::nullopt}});
}

base::Result<std::vector<Allowance>> Consent::List() const {
  std::vector<Allowance> all;
  std::optional<base::Error> broken;
  TRY(store_.Scan(Table::kCounters, kConsentPrefix,
                  [&](std::string_view key, std::string_view value) {
                    const auto record = cache::Unseal(value);
                    if (!record) {
                      broken = record.error().In(key);
                      return false;
                    }
                    all.push_back({records::TextAt(record->value, "project"),
                                   records::TextAt(record->value, "provider"),
                                   records::TextAt(record->value, "since")});
                    return true;
                  }));
  if (broken) return base::Fail(*broken);
  return all;
}

}  // namespace cupilot::agents
