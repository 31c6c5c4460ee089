// The user's settings about language models (records/settings.h has the keys).
#pragma once

#include <cstdint>
#include <string>

#include "agents/budget.h"
#include "records/json.h"

namespace cupilot::agents {

struct ModelSettings {
  std::string models = "none";  // as ParseProviders takes them (provider_choice.h)
  SpendingLimits limits;
  std::int64_t requests = 60;  // for one kernel, at most
  // Of a kernel's budget, at which models are asked at the latest; before that, when nothing else
  // is left to try.
  double begin_share = 0.5;
  int votes = 0;  // of a judge on a variant
  bool allow_unknown_price = false;
  std::uint64_t kept_bytes = 0;  // of exchanges that are kept, the newest
};

// Of what records::ReadSettingsFile gives: every key is there.
ModelSettings ReadModelSettings(const records::Json& settings);

}  // namespace cupilot::agents
