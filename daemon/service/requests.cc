#include "service/requests.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "service/capture_requests.h"
#include "service/decisions.h"
#include "service/demotion.h"
#include "service/documents.h"
#include "service/lock_document.h"
#include "service/models.h"
#include "service/report_document.h"
#include "service/storage_documents.h"
#include "service/strategies.h"

namespace cupilot::service {
namespace {

using records::Json;

constexpr const char* kVerbs[] = {"ping",
                                  "status",
                                  "list",
                                  "explain",
                                  "best",
                                  "history",
                                  "apply",
                                  "lock",
                                  "snooze",
                                  "resume",
                                  "stop",
                                  "hand_over",
                                  "subscribe",
                                  "demote",
                                  "capture_plan",
                                  "workload_add",
                                  "workload_list",
                                  "workload_show",
                                  "workload_drop",
                                  "models",
                                  "models_last",
                                  "models_allow",
                                  "models_forbid",
                                  "strategies_list",
                                  "strategies_show",
                                  "strategies_export",
                                  "strategies_import",
                                  "pin",
                                  "reject",
                                  "diff",
                                  "prune",
                                  "forget",
                                  "export",
                                  "import",
                                  "report",
                                  "report_evidence"};

// Those that change nothing, and what makes them dear is in their answers.
constexpr const char* kReadingVerbs[] = {"ping", "status", "list", "explain", "best", "history"};
// What is read by eye, or asked again and again, need not be newer. Fifty clients that ask for
// everything then cost what a few do.
constexpr std::chrono::milliseconds kAsGoodAsNew{20};
constexpr std::size_t kMostAnswers = 64;
constexpr std::size_t kMostShared = std::size_t{256} << 10;  // of an answer

using protocol::DaemonMessage;

DaemonMessage ErrorReply(Json id, base::Error error) {
  return {DaemonMessage::Kind::kError, std::move(id), {}, "", std::move(error)};
}

}  // namespace

Requests::Requests(Service& service, std::string state_folder, base::UniqueFunction<void()> stop)
    : service_(service),
      state_folder_(std::move(state_folder)),
      replies_(state_folder_ + "/replies"),
      history_(service),
      stop_(std::move(stop)) {}

std::string Requests::Handle(const std::string& peer, std::string_view message) {
  auto asked = protocol::ParseClientMessage(message);
  DaemonMessage reply = asked ? Answer(peer, *asked) : ErrorReply({}, std::move(asked.error()));
  std::string text = protocol::TextOf(reply);
  if (text.size() <= Replies::kLargest) return text;
  auto named = replies_.InFile(reply.content_text);
  if (!named) {
    return protocol::TextOf(ErrorReply(std::move(reply.id), std::move(named.error())));
  }
  reply.content = std::move(*named);
  reply.content_text.clear();
  return protocol::TextOf(reply);
}

void Requests::OnTime(std::chrono::nanoseconds now) {
  if (since_ && now - *since_ < kAsGoodAsNew) return;
  answers_.clear();
  since_ = now;
}

base::Result<std::string> Requests::ResultText(const std::string& peer,
                                               const protocol::ClientRequest& request) {
  const bool reads = std::any_of(std::begin(kReadingVerbs), std::end(kReadingVerbs),
                                 [&](const char* verb) { return request.verb == verb; });
  if (!reads) answers_.clear();
  const std::string question = request.verb + records::CompactJson(request.params);
  const auto known = answers_.find(question);
  if (known != answers_.end()) return known->second;
  std::string text;
  if (request.verb == "history") {
    TRY_ASSIGN(text, HistoryText(request.params));
  } else {
    TRY_ASSIGN(const Json result, Dispatch(peer, request.verb, request.params));
    text = records::CompactJson(result);
  }
  if (!reads || !since_ || text.size() > kMostShared) return text;
  if (answers_.size() >= kMostAnswers) answers_.clear();
  answers_.emplace(question, text);
  return text;
}

DaemonMessage Requests::Answer(const std::string& peer, const protocol::ClientMessage& message) {
  DaemonMessage reply;
  if (const auto* hello = std::get_if<protocol::ClientHello>(&message)) {
    reply.kind = DaemonMessage::Kind::kHello;
    auto greeting = Hello(*hello);
    if (!greeting) return ErrorReply({}, std::move(greeting.error()));
    reply.content = std::move(*greeting);
    return reply;
  }
  const auto& request = std::get<protocol::ClientRequest>(message);
  auto text = ResultText(peer, request);
  if (!text) return ErrorReply(request.id, std::move(text.error()));
  reply.id = request.id;
  reply.content_text = std::move(*text);
  return reply;
}

base::Result<Json> Requests::Hello(const protocol::ClientHello& hello) const {
  if (!hello.Speaks(protocol::kClientProtocol)) {
    return base::Fail(base::ProtocolError("this daemon (" CUPILOT_VERSION ") speaks protocol " +
                                          std::to_string(protocol::kClientProtocol) +
                                          "; restart it: cupilot daemon stop"));
  }
  return Json{{"protocol", protocol::kClientProtocol},
              {"version", CUPILOT_VERSION},
              {"pid", ::getpid()},
              {"state_folder", state_folder_},
              {"capabilities", kVerbs}};
}

Json Requests::Status() const {
  Json status = StatusDocument(service_);
  status["started_because"] = start_.because;
  status["settings"] = start_.settings;
  status["leaving"] = service_.leaving();
  status["counters"]["abandoned"] = abandoned_();
  return status;
}

base::Result<Json> Requests::HandOver(const Json& params) {
  const std::string version = records::TextAt(params, "version");
  if (version.empty() || version.size() > 100) {
    return base::Fail(base::InvalidArgument("hand_over: whose version takes over is missing"));
  }
  if (!hand_over_) return base::Fail(base::Unsupported("this daemon cannot make way; stop it"));
  hand_over_(version);
  return Json{{"by_systemd", start_.by_systemd}};
}

base::Result<Json> Requests::AboutKernel(const std::string& verb, const Json& params) {
  TRY_ASSIGN(const KernelPlace place, FindKernel(service_, records::TextAt(params, "kernel"),
                                                 records::TextAt(params, "folder")));
  if (verb == "explain") return ExplainDocument(service_, place);
  return BestDocument(service_, place, records::TextAt(params, "arch"));
}

base::Result<std::string> Requests::HistoryText(const Json& params) {
  TRY_ASSIGN(const KernelPlace place, FindKernel(service_, records::TextAt(params, "kernel"),
                                                 records::TextAt(params, "folder")));
  const Json from = params.value("from", Json());
  if (!from.is_number_unsigned()) return history_.Text(place);
  return history_.Text(place, from.get<std::size_t>());
}

base::Result<Json> Requests::Dispatch(const std::string& peer, const std::string& verb,
                                      const Json& params) {
  if (verb == "ping") return Json::object();
  if (verb == "status") return Status();
  if (verb == "list") return ListDocument(service_, records::TextAt(params, "folder"));
  if (verb == "explain" || verb == "best") return AboutKernel(verb, params);
  if (verb == "apply") {
    return Json{{"schema", "cupilot.apply/1"},
                {"published", service_.Apply(records::TextAt(params, "folder"))}};
  }
  if (verb == "lock") {
    return LockDocument(service_, records::TextAt(params, "folder"),
                        records::TextAt(params, "output"), replies_.folder());
  }
  if (verb == "capture_plan") return CapturePlanDocument(service_, params);
  if (verb == "workload_add") return AddCaptures(service_, params);
  if (verb == "workload_list") return WorkloadListDocument(service_, params);
  if (verb == "workload_show") return WorkloadDocument(service_, params);
  if (verb == "workload_drop") return DropWorkload(service_, params);
  if (verb == "demote") return DemotionDocument(service_, params);
  if (verb == "pin") return PinDocument(service_, params);
  if (verb == "reject") return RejectDocument(service_, params);
  if (verb == "diff") return DiffDocument(service_, params);
  if (verb == "prune") return PruneDocument(service_, params);
  if (verb == "forget") return ForgetDocument(service_, params);
  if (verb == "export") return ExportDocument(service_, params, replies_.folder());
  if (verb == "import") return ImportDocument(service_, params);
  if (verb == "models") return ModelsDocument(service_, records::TextAt(params, "folder"));
  if (verb == "models_last") {
    const std::string& replies = replies_.folder();
    return params.value("all", false) ? AllExchangesDocument(service_, replies)
                                      : LastExchangeDocument(service_, replies);
  }
  if (verb == "models_allow") return AllowModel(service_, params, true);
  if (verb == "models_forbid") return AllowModel(service_, params, false);
  if (verb == "strategies_list") return StrategiesDocument(service_);
  if (verb == "strategies_show") return StrategyDocument(service_, records::TextAt(params, "id"));
  if (verb == "strategies_export") {
    return ExportStrategies(service_, params.value("names", Json()) == true, replies_.folder());
  }
  if (verb == "strategies_import") {
    return ImportStrategies(service_, records::TextAt(params, "file"));
  }
  if (verb == "report") {
    return ReportReply(service_, records::TextAt(params, "folder"), replies_.folder());
  }
  if (verb == "report_evidence") return EvidenceDocument(service_, params);
  if (verb == "snooze") {
    TRY_ASSIGN(const std::int64_t seconds, protocol::SnoozeSecondsOf(params));
    TRY(service_.Snooze(seconds));
    return Status();
  }
  if (verb == "resume") {
    TRY(service_.Resume());
    return Status();
  }
  if (verb == "subscribe") {
    subscribers_.insert(peer);
    return Json::object();
  }
  if (verb == "hand_over") return HandOver(params);
  if (verb == "stop") {
    stop_();
    return Json::object();
  }
  return base::Fail(base::Unsupported("unknown verb '" + verb + "'"));
}

}  // namespace cupilot::service
