// How a worker answers a request that it cannot serve (protocol/worker_messages.h).
#pragma once

#include <string>

#include "base/result.h"
#include "records/json.h"

namespace cupilot::worker {

// To `request`, as it was parsed.
inline records::Json ErrorReply(const base::Result<records::Json>& request,
                                const base::Error& error) {
  records::Json reply = {
      {"error", {{"code", std::string(base::Name(error.code))}, {"message", error.message}}}};
  if (request && request->is_object()) reply["id"] = request->value("id", records::Json());
  return reply;
}

// Without its end; what is not UTF-8 in it is replaced.
inline std::string LineOf(const records::Json& reply) {
  return reply.dump(-1, ' ', false, records::Json::error_handler_t::replace);
}

}  // namespace cupilot::worker
