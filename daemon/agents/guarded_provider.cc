#include "agents/guarded_provider.h"

#include <utility>

#include "agents/answer_soon.h"
#include "log/log.h"

namespace cupilot::agents {
namespace {

ModelError Denied(Failure why, std::string message) {
  ModelError error;
  error.why = why;
  error.message = std::move(message);
  return error;
}

}  // namespace

class GuardedProvider::Call final : public ModelCall {
 public:
  Call(GuardedProvider& owner, ModelRequest request, std::optional<Price> price, NanoDollars most,
       std::string reservation, TextHandler on_text, AnswerHandler done)
      : owner_(owner),
        request_(std::move(request)),
        price_(std::move(price)),
        most_(most),
        reservation_(std::move(reservation)),
        asked_(base::FormatDate(owner_.guards_.clock.WallTime())),
        done_(std::move(done)) {
    inner_ = owner_.inner_.Send(request_, std::move(on_text),
                                [this](ModelResult result) { OnDone(std::move(result)); });
  }

  // Cancelled: the provider may charge for what it did.
  ~Call() override {
    if (!inner_) return;
    inner_.reset();
    ModelError error = Denied(Failure::kCancelled, "cancelled");
    error.may_cost = true;
    Settle(tl::unexpected(std::move(error)));
  }

 private:
  void OnDone(ModelResult result) {
    const auto ended = std::move(inner_);  // it runs still: gone when this returns
    result = Settle(std::move(result));
    auto done = std::move(done_);
    done(std::move(result));  // may destroy this object
  }

  // What is to be booked.
  NanoDollars Cost(const ModelResult& result) const {
    if (!price_) return 0;
    const auto of = [this](const Usage& usage) {
      return usage.known ? CostOf(*price_, usage).value_or(most_) : most_;
    };
    if (result) return of(result->usage);
    const ModelError& error = result.error();
    if (!error.may_cost) return 0;
    // Only these ended as the provider says; of others it may have counted on.
    const bool complete = error.why == Failure::kTruncated || error.why == Failure::kRefused;
    return complete ? of(error.usage) : most_;
  }

  ModelResult Settle(ModelResult result) {
    const NanoDollars cost = Cost(result);
    if (result) result->cost = cost;
    const Usage& usage = result ? result->usage : result.error().usage;
    const auto settled =
        owner_.guards_.budget.Settle(reservation_, cost, usage, result.has_value());
    if (!settled) log::Error("spending is not booked", {{"error", settled.error()}});
    // Nothing was said yet.
    if (!result && result.error().why == Failure::kPending) return result;
    if (!result && result.error().why == Failure::kMissing) return result;
    const auto kept = owner_.guards_.log.Add(
        {asked_, owner_.name(), request_, owner_.inner_.Bytes(request_), result});
    if (!kept) log::Error("an exchange with a model is not kept", {{"error", kept.error()}});
    return result;
  }

  GuardedProvider& owner_;
  ModelRequest request_;  // redacted
  std::optional<Price> price_;
  NanoDollars most_;
  std::string reservation_;
  std::string asked_;
  AnswerHandler done_;
  std::unique_ptr<ModelCall> inner_;
};

ModelRequest GuardedProvider::Redacted(ModelRequest request) const {
  request.system = redactor_(request.system);
  request.prompt = redactor_(request.prompt);
  return request;
}

std::string GuardedProvider::Bytes(const ModelRequest& request) const {
  return inner_.Bytes(Redacted(request));
}

std::unique_ptr<ModelCall> GuardedProvider::Send(ModelRequest request, TextHandler on_text,
                                                 AnswerHandler done) {
  const auto deny = [&](ModelError error) {
    return AnswerSoon(guards_.alarms, tl::unexpected(std::move(error)), nullptr, std::move(done));
  };
  if (traits().sends) {
    const auto allowed = guards_.consent.Allowed(request.project, name());
    if (!allowed) return deny(Denied(Failure::kInternal, allowed.error().message));
    if (!*allowed) {
      return deny(
          Denied(Failure::kNotAllowed, "nothing of this project may be sent to: " + name()));
    }
  }
  request = Redacted(std::move(request));
  std::optional<Price> price;
  NanoDollars most = 0;
  if (traits().costs) {
    price = guards_.prices.Find(name(), request.model, guards_.clock.WallTime());
    const auto worst =
        price ? WorstCase(*price, inner_.Bytes(request).size(), request.max_tokens) : std::nullopt;
    if (worst) {
      most = *worst;
    } else if (settings_.allow_unknown_price) {
      price.reset();
    } else {
      return deny(Denied(Failure::kUnknownPrice, "what " + request.model + " costs at " + name() +
                                                     (price ? " for so long a prompt" : "") +
                                                     " is not known"));
    }
  }
  auto reserved = guards_.budget.Reserve({request.kernel, name(), request.model}, most);
  if (!reserved) return deny(std::move(reserved.error()));
  return std::make_unique<Call>(*this, std::move(request), std::move(price), most,
                                std::move(*reserved), std::move(on_text), std::move(done));
}

}  // namespace cupilot::agents
