// Money: what was spent, what may still be, and what is under way. Kept in the store, so that
// limits hold across restarts and kills. Days and months are those of UTC.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agents/prices.h"
#include "agents/provider.h"
#include "base/clock.h"
#include "base/result.h"
#include "cache/store.h"

namespace cupilot::agents {

// What may be spent at most; 0: nothing that costs is sent.
struct SpendingLimits {
  NanoDollars kernel = 0;  // on one kernel, ever
  NanoDollars day = 0;
  NanoDollars month = 0;
};

// For whom.
struct Spender {
  std::string kernel;    // kernel_key
  std::string provider;  // its name
  std::string model;
};

// Of one model since the store began.
struct ModelTotals {
  std::string provider;
  std::string model;
  std::int64_t requests = 0;
  std::int64_t answers = 0;  // of them, with an answer
  std::int64_t input = 0;    // tokens
  std::int64_t output = 0;
  NanoDollars spent = 0;
  // Of variants that were accepted and came from it: sum of the logarithms of their factors.
  double gain = 0;
};

struct SpentSums {
  NanoDollars kernel = 0;
  NanoDollars day = 0;
  NanoDollars month = 0;
};

// On the loop thread; one for a store. What is written is on disk when a call returns.
class Budget {
 public:
  Budget(cache::Store& store, const base::Clock& clock, SpendingLimits limits);

  // Once, before the first reservation: what an earlier process had reserved and not settled counts
  // as spent, since nobody knows what became of it. What it held is held.
  base::Result<> Adopt();

  // Sets `most` aside, in the store before it returns; kOverLimit with what is left where it would
  // exceed a limit together with what was spent and is set aside, kInternal where the store fails.
  // 0 is always free.
  tl::expected<std::string, ModelError> Reserve(const Spender& spender, NanoDollars most);
  // As above under a name, for an answer that may come in another process: it stays set aside until
  // it is settled, whoever starts and ends. Where it is set aside already it is not again.
  tl::expected<std::string, ModelError> Hold(const Spender& spender, NanoDollars most,
                                             const std::string& name);
  bool Holds(const std::string& name) const { return open_.count(name) != 0; }
  // What became of it. The reservation is gone; `cost` is spent, more than was reserved too.
  base::Result<> Settle(const std::string& reservation, NanoDollars cost, const Usage& usage,
                        bool answered);
  // A variant of this model's was accepted and is this much faster (logarithm of the factor).
  base::Result<> AddGain(const std::string& provider, const std::string& model, double gain);

  // Spent and set aside, for the kernel and now's day and month.
  base::Result<SpentSums> Sums(const std::string& kernel) const;
  base::Result<std::vector<ModelTotals>> Totals() const;
  const SpendingLimits& limits() const { return limits_; }

 private:
  struct Open {
    Spender spender;
    std::string day;  // "2026-11-23"
    NanoDollars most = 0;
    bool held = false;  // its answer may come in another process
  };
  // Adds to the sums of the reservation's kernel, day, month and model.
  base::Result<> Book(const std::string& id, const Open& open, NanoDollars cost, const Usage& usage,
                      bool answered);
  tl::expected<std::string, ModelError> SetAside(const std::string& id, const Open& open);
  base::Result<NanoDollars> Spent(const std::string& key) const;
  base::Result<ModelTotals> TotalsOf(const std::string& provider, const std::string& model) const;
  std::string Today() const;

  cache::Store& store_;
  const base::Clock& clock_;
  SpendingLimits limits_;
  std::map<std::string, Open> open_;
  std::int64_t last_ = 0;
};

}  // namespace cupilot::agents
