// The only way from the rest of the daemon to a provider: what the user has not allowed is not
// sent, what must not leave is taken out, what it may cost is set aside before, and what was said
// is kept.
#pragma once

#include <memory>
#include <string>

#include "agents/alarms.h"
#include "agents/budget.h"
#include "agents/consent.h"
#include "agents/exchange_log.h"
#include "agents/prices.h"
#include "agents/provider.h"
#include "agents/redact.h"
#include "base/clock.h"

namespace cupilot::agents {

// All must outlive the provider.
struct Guards {
  Alarms& alarms;
  const base::Clock& clock;
  const Consent& consent;
  Budget& budget;
  const PriceTable& prices;
  ExchangeLog& log;
};

// Before anything is sent: the user allowed this provider for the request's project (kNotAllowed),
// its price is known or need not be (kUnknownPrice), and the most that it may cost is within the
// limits (kOverLimit) and set aside in the store. Texts are redacted, and what is no UTF-8 in them
// is replaced; so is the answer's, that what is kept of it is what was given. Afterwards, also when
// the call is cancelled: what it cost, or where nobody knows the most that it may have, is booked,
// and the exchange is in the log, before `done` is called. Money that cannot be booked any more is
// logged; that an answer is there already does not depend on it. What is only replayed is not kept
// again.
class GuardedProvider final : public Provider {
 public:
  struct Settings {
    // What has no known price is sent, and counts as free.
    bool allow_unknown_price = false;
  };

  GuardedProvider(Provider& inner, Guards guards, Redactor redactor, Settings settings)
      : inner_(inner), guards_(guards), redactor_(std::move(redactor)), settings_(settings) {}

  const std::string& name() const override { return inner_.name(); }
  ProviderTraits traits() const override { return inner_.traits(); }
  // After redaction: what is really sent.
  std::string Bytes(const ModelRequest& request) const override;
  std::unique_ptr<ModelCall> Send(ModelRequest request, TextHandler on_text,
                                  AnswerHandler done) override;

 private:
  class Call;
  ModelRequest Redacted(ModelRequest request) const;

  Provider& inner_;
  Guards guards_;
  Redactor redactor_;
  Settings settings_;
};

}  // namespace cupilot::agents
