// What the user allowed: which provider may see which project. Kept in the store; nothing is
// allowed that was not said.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cache/store.h"

namespace cupilot::agents {

struct Allowance {
  std::string project;   // hash of its source folder
  std::string provider;  // its name, which holds to whom it talks
  std::string since;     // "2026-11-21T08:30:00Z"
};

// kInvalidArgument with the kinds (provider_choice.h) where no provider can have this name.
base::Result<> CheckProviderName(const std::string& name);

// On the loop thread.
class Consent {
 public:
  Consent(cache::Store& store, const base::Clock& clock) : store_(store), clock_(clock) {}

  base::Result<bool> Allowed(const std::string& project, const std::string& provider) const;
  // Both are fine if it was so already.
  base::Result<> Allow(const std::string& project, const std::string& provider);
  base::Result<> Forbid(const std::string& project, const std::string& provider);
  base::Result<std::vector<Allowance>> List() const;

 private:
  cache::Store& store_;
  const base::Clock& clock_;
};

}  // namespace cupilot::agents
