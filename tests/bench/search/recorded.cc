#include "tests/bench/search/recorded.h"

#include <utility>

#include "agents/answer_soon.h"
#include "agents/roles/plain_text.h"
#include "base/hash.h"

namespace cupilot::bench {
namespace {

using agents::ModelRequest;
using agents::ModelResult;
using records::Json;

// The fact of this key: recorded, or known of another arm while this one is live.
const Json* FindFact(const std::map<std::string, Json>& recorded,
                     const std::map<std::string, Json>& shared, bool live, const std::string& key) {
  if (const auto found = recorded.find(key); found != recorded.end()) return &found->second;
  if (!live) return nullptr;
  const auto found = shared.find(key);
  return found == shared.end() ? nullptr : &found->second;
}

// Of the machine as it was just then: asked once more, the same may have another answer.
bool IsPassing(const base::Error& error) {
  using base::ErrorCode;
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kCancelled ||
         error.code == ErrorCode::kTimeout || error.code == ErrorCode::kIo;
}

// What holds on each machine: messages of compilers name folders of this one.
void DropFolders(records::Evaluation& evaluation) {
  evaluation.detail = agents::WithoutFolders(evaluation.detail);
  for (records::Check& check : evaluation.checks) {
    check.detail = agents::WithoutFolders(check.detail);
  }
}

base::Result<records::Evaluation> EvaluationOf(const Json& fact) {
  TRY_ASSIGN(const Json json, ResultOf(fact));
  return records::ParseEvaluation(json);
}

std::string MatchOf(const ModelRequest& request) {
  base::Hasher hasher;
  hasher.Add(request.role).Add(request.system).Add(request.prompt);
  return hasher.Add(std::to_string(request.sample)).Hex();
}

// An answer, if one of no use; the others say something of the way to the model.
bool IsSaid(const ModelResult& result) {
  using agents::Failure;
  if (result) return true;
  const Failure why = result.error().why;
  return why == Failure::kRefused || why == Failure::kTruncated || why == Failure::kTooLarge ||
         why == Failure::kMalformed;
}

}  // namespace

std::string ReplyKey(const evaluate::WorkerCall& call) {
  Json asked = Json::object();
  for (const char* part : {"strategy", "values", "device"}) {
    if (call.params.contains(part)) asked[part] = call.params[part];
  }
  return call.op + " " + base::HashHex(records::CanonicalJson(asked));
}

void RecordedWorkers::Call(evaluate::WorkerCall call, base::Callback<Json> done) {
  const std::string key = ReplyKey(call);
  const Json* fact =
      FindFact(desk_.recording.facts.replies, desk_.shared.replies, live_ != nullptr, key);
  if (fact != nullptr) {
    desk_.used.facts.replies[key] = *fact;
    desk_.loop.Post([fact = *fact, done = std::move(done)]() mutable { done(ResultOf(fact)); });
    return;
  }
  if (live_ != nullptr) {
    live_->Call(std::move(call),
                [this, key, done = std::move(done)](base::Result<Json> reply) mutable {
                  if (!reply && IsPassing(reply.error())) {
                    desk_.Miss("a source worker failed: " + reply.error().message);
                    return done(std::move(reply));
                  }
                  desk_.used.facts.replies[key] = desk_.shared.replies[key] = FactOf(reply);
                  done(std::move(reply));
                });
    return;
  }
  desk_.Miss("no reply was recorded to " + call.op + " " +
             call.params.value("strategy", call.params.value("values", Json())).dump());
  desk_.loop.Post([done = std::move(done)]() mutable {
    done(base::Fail(base::Unavailable("it was not recorded")));
  });
}

void RecordedEvaluator::Evaluate(evaluate::EvaluateRequest request,
                                 base::Callback<records::Evaluation> done) {
  const std::string variant = request.variant.id;
  const Json* fact = FindFact(desk_.recording.facts.evaluations, desk_.shared.evaluations,
                              live_ != nullptr, variant);
  if (fact != nullptr) {
    desk_.used.facts.evaluations[variant] = *fact;
    desk_.loop.Post([fact = *fact, done = std::move(done)]() mutable { done(EvaluationOf(fact)); });
    return;
  }
  if (live_ != nullptr) {
    request.best_so_far = nullptr;
    request.same_code = nullptr;
    live_->Evaluate(std::move(request), [this, variant, done = std::move(done)](
                                            base::Result<records::Evaluation> result) mutable {
      if (!result && IsPassing(result.error())) {
        desk_.Miss("an evaluation ended without a verdict: " + result.error().message);
        return done(std::move(result));
      }
      if (result) DropFolders(*result);
      const Json said = FactOf(result ? base::Result<Json>(records::ToJson(*result))
                                      : base::Result<Json>(base::Fail(result.error())));
      desk_.used.facts.evaluations[variant] = desk_.shared.evaluations[variant] = said;
      done(EvaluationOf(said));
    });
    return;
  }
  const std::string title = request.variant.strategy ? request.variant.strategy->title : "";
  desk_.Miss("no evaluation was recorded of variant " + variant + " (" + title + ")");
  desk_.loop.Post([done = std::move(done)]() mutable {
    done(base::Fail(base::Unavailable("it was not recorded")));
  });
}

void RecordedEvaluator::Profile(evaluate::EvaluateRequest, records::Evaluation,
                                base::Callback<records::Evaluation> done) {
  desk_.loop.Post([done = std::move(done)]() mutable {
    done(base::Fail(base::Unsupported("comparisons are made without profiles")));
  });
}

void RecordedEvaluator::Replay(evaluate::EvaluateRequest, protocol::LeftBehind,
                               base::Callback<protocol::ReplayReply> done) {
  desk_.loop.Post([done = std::move(done)]() mutable {
    done(base::Fail(base::Unsupported("comparisons have no captured workloads")));
  });
}

RecordedProvider::RecordedProvider(Desk& desk, agents::Alarms& alarms, const base::Clock& clock,
                                   agents::Provider* live)
    : desk_(desk), alarms_(alarms), clock_(clock), live_(live) {
  for (std::size_t i = 0; i < desk_.recording.exchanges.size(); ++i) {
    recorded_[MatchOf(desk_.recording.exchanges[i].request)].push_back(i);
  }
  if (live_ != nullptr) name_ = live_->name();
}

agents::ProviderTraits RecordedProvider::traits() const {
  return live_ != nullptr ? live_->traits() : agents::ProviderTraits{false, false};
}

std::string RecordedProvider::Bytes(const ModelRequest& request) const {
  return live_ != nullptr ? live_->Bytes(request) : request.system + "\n" + request.prompt;
}

// Who answered is said without the place: a folder's name is nobody else's matter.
void RecordedProvider::Keep(const ModelRequest& request, const std::string& time,
                            const ModelResult& result) {
  agents::ExchangeRecord record{time, name_.substr(0, name_.find(' ')), request, Bytes(request),
                                result};
  desk_.used.exchanges.push_back(std::move(record));
}

std::unique_ptr<agents::ModelCall> RecordedProvider::Send(ModelRequest request,
                                                          agents::TextHandler on_text,
                                                          agents::AnswerHandler done) {
  const std::string key = MatchOf(request);
  const auto found = recorded_.find(key);
  const std::size_t before = asked_[key]++;
  if (found != recorded_.end() && before < found->second.size()) {
    const agents::ExchangeRecord& record = desk_.recording.exchanges[found->second[before]];
    desk_.used.exchanges.push_back(record);
    ModelResult result = record.result;
    if (result) {
      result->repeated = true;
    } else {
      result.error().repeated = true;
    }
    return agents::AnswerSoon(alarms_, std::move(result), std::move(on_text), std::move(done));
  }
  if (live_ != nullptr) {
    auto keep = [this, request, time = base::FormatDate(clock_.WallTime()),
                 done = std::move(done)](ModelResult result) mutable {
      const bool pending = !result && result.error().why == agents::Failure::kPending;
      if (IsSaid(result)) {
        Keep(request, time, result);
      } else if (!pending) {
        desk_.Miss("a model gave no answer: " + result.error().message);
      }
      // It is asked for again, and is the same question then.
      if (pending) --asked_[MatchOf(request)];
      done(std::move(result));
    };
    return live_->Send(std::move(request), std::move(on_text), std::move(keep));
  }
  desk_.Miss("no answer was recorded for this request\nrole: " + request.role +
             ", sample: " + std::to_string(request.sample) + "\n--- system\n" + request.system +
             "\n--- prompt\n" + request.prompt + "\n--- end");
  agents::ModelError error;
  error.why = agents::Failure::kMissing;
  error.message = "it was not recorded";
  return agents::AnswerSoon(alarms_, tl::unexpected(std::move(error)), std::move(on_text),
                            std::move(done));
}

}  // namespace cupilot::bench
