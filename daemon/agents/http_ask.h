// One request with a whole answer, as the services' interfaces beside the streams want them.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "agents/alarms.h"
#include "agents/provider.h"
#include "base/clock.h"
#include "loop/http_client.h"

namespace cupilot::agents {

struct HttpReply {
  std::string body;
};
using ReplyHandler = base::UniqueFunction<void(tl::expected<HttpReply, ModelError> reply)>;

// `done` is called once, never before this returns, with the body of a 2xx status, or with the
// reason. Destroying what is returned cancels it. may_cost says whether the service may have acted.
std::unique_ptr<ModelCall> AskHttp(loop::HttpClient& client, Alarms& alarms,
                                   const base::Clock& clock, loop::HttpRequest request,
                                   std::chrono::milliseconds limit, ReplyHandler done);

}  // namespace cupilot::agents
