#include "agents/http_ask.h"

#include <utility>

#include "agents/wire_format.h"

namespace cupilot::agents {
namespace {

class HttpQuestion final : public ModelCall {
 public:
  HttpQuestion(loop::HttpClient& client, Alarms& alarms, const base::Clock& clock,
               loop::HttpRequest request, std::chrono::milliseconds limit, ReplyHandler done)
      : clock_(clock), done_(std::move(done)) {
    limit_ = alarms.After(limit, [this] { Fail(Failure::kTimeout, "no answer in time"); });
    transfer_ = client.Start(
        std::move(request),
        [this](const loop::HttpHead&, std::string_view bytes) { reply_.body += bytes; },
        [this](const loop::HttpResult& result) { OnEnd(result); });
  }

 private:
  void OnEnd(const loop::HttpResult& result) {
    const int status = result.head.status;
    if (result.end == loop::HttpEnd::kUnreachable) {
      return Fail(Failure::kUnreachable, "no connection: " + ShortText(result.message));
    }
    if (status != 0 && (status < 200 || status > 299)) {
      return Finish(tl::unexpected(
          ErrorOfStatus(status, result.head.headers, reply_.body, clock_.WallTime())));
    }
    if (result.end == loop::HttpEnd::kTooLarge) {
      return Fail(Failure::kTooLarge, "the answer is too long");
    }
    if (result.end != loop::HttpEnd::kComplete) {
      return Fail(Failure::kBroken, "the connection ended: " + ShortText(result.message));
    }
    Finish(std::move(reply_));
  }

  void Fail(Failure why, std::string message) {
    ModelError error;
    error.why = why;
    error.message = std::move(message);
    error.may_cost = why != Failure::kUnreachable;
    Finish(tl::unexpected(std::move(error)));
  }

  // Runs in callbacks of what it destroys, which allow that.
  void Finish(tl::expected<HttpReply, ModelError> reply) {
    auto transfer = std::move(transfer_);
    auto limit = std::move(limit_);
    auto done = std::move(done_);
    done(std::move(reply));  // may destroy this object
  }

  const base::Clock& clock_;
  ReplyHandler done_;
  HttpReply reply_;
  std::unique_ptr<Alarm> limit_;
  std::unique_ptr<loop::HttpTransfer> transfer_;
};

}  // namespace

std::unique_ptr<ModelCall> AskHttp(loop::HttpClient& client, Alarms& alarms,
                                   const base::Clock& clock, loop::HttpRequest request,
                                   std::chrono::milliseconds limit, ReplyHandler done) {
  return std::make_unique<HttpQuestion>(client, alarms, clock, std::move(request), limit,
                                        std::move(done));
}

}  // namespace cupilot::agents
