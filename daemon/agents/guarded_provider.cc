#include "agents/guarded_provider.h"

#include <utility>

#include "agents/answer_soon.h"
#include "base/hash.h"
#include "log/log.h"

namespace cupilot::agents {
namespace {

ModelError Denied(Failure why, std::string message) {
  ModelError error;
  error.why = why;
  error.message = std::move(message);
  return error;
}

// Sources may be of any encoding, records are of one: what is asked and answered must be what is
// kept, or it could not be replayed.
std::string ValidUtf8(const std::string& text) {
  const auto json = records::ParseJson(records::CompactJson(records::Json(text)));
  return json && json->is_string() ? json->get<std::string>() : std::string();
}

}  // namespace

// What was set aside for a request.
struct Reserved {
  std::optional<Price> price;  // absent: it costs nothing, or nobody knows
  NanoDollars most = 0;
  std::string id;         // of the budget's reservation
  bool was_held = false;  // before it was asked this time
};

class GuardedProvider::Call final : public ModelCall {
 public:
  Call(GuardedProvider& owner, ModelRequest request, Reserved reserved, TextHandler on_text,
       AnswerHandler done)
      : owner_(owner),
        request_(std::move(request)),
        reserved_(std::move(reserved)),
        asked_(base::FormatDate(owner_.guards_.clock.WallTime())),
        done_(std::move(done)) {
    inner_ = owner_.inner_.Send(request_, std::move(on_text),
                                [this](ModelResult result) { OnDone(std::move(result)); });
  }

  // Cancelled: the provider may charge for what it did.
  ~Call() override {
    if (!inner_) return;
    inner_.reset();
    if (owner_.traits().batch) return;  // it goes on without us
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
    if (!reserved_.price) return 0;
    // What was paid for in an earlier process, and is only given once more.
    const bool repeated = result ? result->repeated : result.error().repeated;
    if (repeated && !reserved_.was_held) return 0;
    const auto of = [this](const Usage& usage) {
      return usage.known ? CostOf(*reserved_.price, usage).value_or(reserved_.most)
                         : reserved_.most;
    };
    if (result) return of(result->usage);
    const ModelError& error = result.error();
    if (!error.may_cost) return 0;
    // Only these ended as the provider says; of others it may have counted on.
    const bool complete = error.why == Failure::kTruncated || error.why == Failure::kRefused;
    return complete ? of(error.usage) : reserved_.most;
  }

  ModelResult Settle(ModelResult result) {
    const bool pending = !result && result.error().why == Failure::kPending;
    if (pending && owner_.traits().batch) return result;
    const NanoDollars cost = Cost(result);
    if (result) {
      result->cost = cost;
      result->text = ValidUtf8(owner_.redactor_(result->text));
    }
    const Usage& usage = result ? result->usage : result.error().usage;
    const auto settled =
        owner_.guards_.budget.Settle(reserved_.id, cost, usage, result.has_value());
    if (!settled) log::Error("spending is not booked", {{"error", settled.error()}});
    // Nothing was said yet.
    if (pending || !owner_.traits().sends) return result;
    const auto kept = owner_.guards_.log.Add(
        {asked_, owner_.name(), request_, owner_.inner_.Bytes(request_), result});
    if (!kept) log::Error("an exchange with a model is not kept", {{"error", kept.error()}});
    return result;
  }

  GuardedProvider& owner_;
  ModelRequest request_;  // redacted
  Reserved reserved_;
  std::string asked_;
  AnswerHandler done_;
  std::unique_ptr<ModelCall> inner_;
};

ModelRequest GuardedProvider::Redacted(ModelRequest request) const {
  request.system = ValidUtf8(redactor_(request.system));
  request.prompt = ValidUtf8(redactor_(request.prompt));
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
      return deny(Denied(Failure::kNotAllowed, "nothing of this project may be sent to: " + name() +
                                                   "; to allow it: cupilot models allow \"" +
                                                   name() + "\""));
    }
  }
  request = Redacted(std::move(request));
  Reserved reserved;
  std::optional<Price>& price = reserved.price;
  if (traits().costs) {
    price = guards_.prices.Find(name(), request.model, guards_.clock.WallTime());
    if (price && traits().batch) price = OfBatches(*price);
    const auto worst =
        price ? WorstCase(*price, inner_.Bytes(request).size(), request.max_tokens) : std::nullopt;
    if (worst) {
      reserved.most = *worst;
    } else if (settings_.allow_unknown_price) {
      price.reset();
    } else {
      return deny(Denied(Failure::kUnknownPrice, "what " + request.model + " costs at " + name() +
                                                     (price ? " for so long a prompt" : "") +
                                                     " is not known"));
    }
  }
  const Spender spender{request.kernel, name(), request.model};
  // Batches: by the request's own name, since its answer may come in another process.
  const std::string held = "batch-" + base::HashHex(name() + " " + RequestKey(request));
  reserved.was_held = traits().batch && guards_.budget.Holds(held);
  auto id = traits().batch ? guards_.budget.Hold(spender, reserved.most, held)
                           : guards_.budget.Reserve(spender, reserved.most);
  if (!id) return deny(std::move(id.error()));
  reserved.id = std::move(*id);
  return std::make_unique<Call>(*this, std::move(request), std::move(reserved), std::move(on_text),
                                std::move(done));
}

}  // namespace cupilot::agents
