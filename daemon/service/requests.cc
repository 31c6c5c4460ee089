#include "service/requests.h"

#include <unistd.h>

#include <utility>

#include "service/documents.h"

namespace cupilot::service {
namespace {

using records::Json;

constexpr int kProtocol = 1;
constexpr const char* kVerbs[] = {"ping",  "status", "list",   "explain", "best",     "history",
                                  "apply", "snooze", "resume", "stop",    "subscribe"};

Json ErrorJson(const base::Error& error) {
  return {{"code", std::string(base::Name(error.code))}, {"message", error.message}};
}

std::string Text(const Json& params, const char* key) {
  const auto it = params.find(key);
  return it != params.end() && it->is_string() ? it->get<std::string>() : "";
}

}  // namespace

Requests::Requests(Service& service, std::string state_folder, base::UniqueFunction<void()> stop)
    : service_(service), state_folder_(std::move(state_folder)), stop_(std::move(stop)) {}

std::string Requests::Handle(const std::string& peer, std::string_view message) {
  const auto json = records::ParseJson(message);
  if (!json || !json->is_object()) {
    const base::Error error = base::ProtocolError("a message must be a JSON object");
    return Json{{"error", ErrorJson(error)}}.dump();
  }
  if (json->contains("hello")) return Hello((*json)["hello"]).dump();
  Json reply;
  reply["id"] = json->value("id", Json());
  const Json params = json->contains("params") && (*json)["params"].is_object() ? (*json)["params"]
                                                                                : Json::object();
  auto result = Dispatch(peer, Text(*json, "verb"), params);
  if (result) {
    reply["result"] = std::move(*result);
  } else {
    reply["error"] = ErrorJson(result.error());
  }
  return reply.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json Requests::Hello(const Json& hello) const {
  const auto range = hello.find("protocol");
  const bool speaks = range != hello.end() && range->is_array() && range->size() == 2 &&
                      (*range)[0].is_number_integer() && (*range)[1].is_number_integer() &&
                      (*range)[0].get<int>() <= kProtocol && (*range)[1].get<int>() >= kProtocol;
  if (!speaks) {
    const std::string version = std::to_string(kProtocol);
    return {{"error",
             ErrorJson(base::ProtocolError("this daemon (" CUPILOT_VERSION ") speaks protocol " +
                                           version + "; restart it: cupilot daemon stop"))}};
  }
  Json answer;
  answer["hello"] = {{"protocol", kProtocol},
                     {"version", CUPILOT_VERSION},
                     {"pid", ::getpid()},
                     {"state_folder", state_folder_},
                     {"capabilities", kVerbs}};
  return answer;
}

base::Result<Json> Requests::AboutKernel(const std::string& verb, const Json& params) {
  TRY_ASSIGN(const KernelPlace place,
             FindKernel(service_, Text(params, "kernel"), Text(params, "folder")));
  if (verb == "explain") return ExplainDocument(service_, place);
  if (verb == "history") return HistoryDocument(service_, place);
  return BestDocument(service_, place, Text(params, "arch"));
}

base::Result<Json> Requests::Dispatch(const std::string& peer, const std::string& verb,
                                      const Json& params) {
  if (verb == "ping") return Json::object();
  if (verb == "status") return StatusDocument(service_);
  if (verb == "list") return ListDocument(service_, Text(params, "folder"));
  if (verb == "explain" || verb == "best" || verb == "history") return AboutKernel(verb, params);
  if (verb == "apply") {
    return Json{{"schema", "cupilot.apply/1"},
                {"published", service_.Apply(Text(params, "folder"))}};
  }
  if (verb == "snooze") {
    const auto seconds = params.find("seconds");
    if (seconds == params.end() || !seconds->is_number() || seconds->get<double>() <= 0) {
      return base::Fail(base::InvalidArgument("snooze: seconds must be a positive number"));
    }
    TRY(service_.Snooze(static_cast<std::int64_t>(seconds->get<double>())));
    return StatusDocument(service_);
  }
  if (verb == "resume") {
    TRY(service_.Resume());
    return StatusDocument(service_);
  }
  if (verb == "subscribe") {
    subscribers_.insert(peer);
    return Json::object();
  }
  if (verb == "stop") {
    stop_();
    return Json::object();
  }
  return base::Fail(base::Unsupported("unknown verb '" + verb + "'"));
}

}  // namespace cupilot::service
