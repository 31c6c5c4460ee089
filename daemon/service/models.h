// Language models, as the daemon's documents show them: what they were asked, what that cost and
// brought, and what the user allows (the verbs "models...", protocol/PROTOCOL.md).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agents/alarms.h"
#include "agents/budget.h"
#include "agents/consent.h"
#include "agents/exchange_log.h"
#include "agents/guarded_provider.h"
#include "agents/model_settings.h"
#include "agents/prices.h"
#include "agents/provider.h"
#include "base/clock.h"
#include "cache/store.h"
#include "records/json.h"

namespace cupilot::service {

class Service;

// A model that is asked, and by whom. What `provider` points at is somebody else's.
struct ModelSource {
  agents::Provider* provider = nullptr;
  std::string model;  // as the provider names it; may be empty
};

// What main made of the user's choice.
struct ModelSurroundings {
  agents::Alarms* alarms = nullptr;
  agents::PriceTable prices;
  std::vector<ModelSource> providers;  // as they are: without guards
};

// Whose sources would be sent.
struct ModelOwner {
  std::string key;  // ModelProject() of its source folder
  // Absolute folders and what stands in their place in all that is sent.
  std::vector<std::pair<std::string, std::string>> folders;
};

// What is kept of models, and the way to them. On the loop thread.
class Models {
 public:
  // `folder`: of exchanges. Nothing is read or written before somebody asks, or Use().
  Models(cache::Store& store, const base::Clock& clock, const std::string& folder,
         agents::ModelSettings settings)
      : Models(store, store, clock, folder, std::move(settings)) {}
  // What the user allows is kept apart, for one run.
  Models(cache::Store& store, cache::Store& allowed, const base::Clock& clock,
         const std::string& folder, agents::ModelSettings settings)
      : settings_(std::move(settings)),
        clock_(clock),
        consent_(allowed, clock),
        budget_(store, clock, settings_.limits),
        log_(store, clock, folder, {}) {}

  // Models may be asked from now on. Once, before the first is asked: what an earlier process had
  // reserved is adopted, and what is kept of exchanges trimmed. Outlives this.
  base::Result<> Use(const ModelSurroundings& surroundings);
  bool used() const { return surroundings_ != nullptr; }
  // Those that may be asked of a project's kernels, guarded: in the order of the user's choice, and
  // the same each time. Empty without any.
  const std::vector<ModelSource>& For(const ModelOwner& owner);
  // Of the user's choice, by name.
  std::vector<std::string> ProviderNames() const;
  agents::Alarms* alarms() const {
    return surroundings_ == nullptr ? nullptr : surroundings_->alarms;
  }

  const agents::ModelSettings& settings() const { return settings_; }
  agents::Consent& consent() { return consent_; }
  agents::Budget& budget() { return budget_; }
  agents::ExchangeLog& log() { return log_; }

 private:
  struct Guarded {
    std::vector<std::unique_ptr<agents::GuardedProvider>> providers;
    std::vector<ModelSource> sources;
  };
  agents::ModelSettings settings_;
  const base::Clock& clock_;
  agents::Consent consent_;
  agents::Budget budget_;
  agents::ExchangeLog log_;
  const ModelSurroundings* surroundings_ = nullptr;
  std::map<std::string, Guarded> guarded_;  // by the owner's key
};

// cupilot.models/1; `folder` says which project's allowances are shown.
base::Result<records::Json> ModelsDocument(Service& service, const std::string& folder);
// For the status: what is asked now, what is open, and what the work of this daemon has cost; null
// where no model is set.
records::Json ModelsStatusJson(Service& service);
// cupilot.models_last/1: the newest exchange, in a file of `reply_folder`. kNotFound if there is
// none.
base::Result<records::Json> LastExchangeDocument(Service& service, const std::string& reply_folder);
// The same for all that are kept, oldest first: a document a line, which is what `replay:FILE`
// answers from.
base::Result<records::Json> AllExchangesDocument(Service& service, const std::string& reply_folder);
// Allows the provider of this name (or forbids it) for the project that contains the folder.
// kNotFound where no project does, kInvalidArgument without a name.
base::Result<records::Json> AllowModel(Service& service, const records::Json& params, bool allow);

// What a project is called where models are concerned: a hash of its source folder.
std::string ModelProject(const std::string& source_folder);

}  // namespace cupilot::service
