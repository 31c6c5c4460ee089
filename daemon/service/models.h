// Language models, as the daemon's documents show them: what they were asked, what that cost and
// brought, and what the user allows (the verbs "models...", protocol/PROTOCOL.md).
#pragma once

#include <string>

#include "agents/budget.h"
#include "agents/consent.h"
#include "agents/exchange_log.h"
#include "agents/model_settings.h"
#include "base/clock.h"
#include "cache/store.h"
#include "records/json.h"

namespace cupilot::service {

class Service;

// What is kept of models. On the loop thread.
class Models {
 public:
  // `folder`: of exchanges. Nothing is read or written before somebody asks.
  Models(cache::Store& store, const base::Clock& clock, const std::string& folder,
         agents::ModelSettings settings)
      : settings_(std::move(settings)),
        consent_(store, clock),
        budget_(store, clock, settings_.limits),
        log_(store, clock, folder, {}) {}

  const agents::ModelSettings& settings() const { return settings_; }
  agents::Consent& consent() { return consent_; }
  agents::Budget& budget() { return budget_; }
  agents::ExchangeLog& log() { return log_; }

 private:
  agents::ModelSettings settings_;
  agents::Consent consent_;
  agents::Budget budget_;
  agents::ExchangeLog log_;
};

// cupilot.models/1; `folder` says which project's allowances are shown.
base::Result<records::Json> ModelsDocument(Service& service, const std::string& folder);
// cupilot.models_last/1: the newest exchange, in a file of `reply_folder`. kNotFound if there is
// none.
base::Result<records::Json> LastExchangeDocument(Service& service, const std::string& reply_folder);
// Allows the provider of this name (or forbids it) for the project that contains the folder.
// kNotFound where no project does, kInvalidArgument without a name.
base::Result<records::Json> AllowModel(Service& service, const records::Json& params, bool allow);

// What a project is called where models are concerned: a hash of its source folder.
std::string ModelProject(const std::string& source_folder);

}  // namespace cupilot::service
