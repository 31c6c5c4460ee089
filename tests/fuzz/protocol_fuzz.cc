#include "protocol/client_messages.h"
#include "protocol/worker_messages.h"
#include "tests/fuzz/fuzz_targets.h"

namespace cupilot::fuzz {
namespace {

template <class T>
std::string MessageReadsBack(const records::Json& json,
                             base::Result<T> (*parse)(const records::Json&)) {
  const auto message = parse(json);
  if (!message) return {};
  const records::Json written = protocol::ToJson(*message);
  const auto text = records::ParseJson(records::CompactJson(written));
  if (!text) return "what was written is not JSON: " + text.error().message;
  const auto again = parse(*text);
  if (!again) return "not read again: " + again.error().message + "\n" + written.dump();
  if (protocol::ToJson(*again) != written) return "read otherwise: " + written.dump();
  return {};
}

// What was understood, written, says the same when it is read again.
template <class T>
std::string SaysTheSame(std::string_view bytes, base::Result<T> (*parse)(std::string_view)) {
  const auto message = parse(bytes);
  if (!message) return {};
  const std::string written = protocol::TextOf(*message);
  const auto again = parse(written);
  if (!again) return "not read again: " + again.error().message + "\n" + written;
  return protocol::TextOf(*again) == written ? "" : "read otherwise: " + written;
}

// What the daemon does with a request before it knows what is asked.
std::string RequestIsUnderstood(std::string_view bytes) {
  const auto message = protocol::ParseClientMessage(bytes);
  if (!message) return {};
  if (!std::holds_alternative<protocol::ClientRequest>(*message)) return {};
  const auto& request = std::get<protocol::ClientRequest>(*message);
  if (!request.params.is_object()) return "params are no object";
  const auto seconds = protocol::SnoozeSecondsOf(request.params);
  return seconds && (*seconds < 0 || *seconds > 366 * 86400) ? "a snooze of other length" : "";
}

}  // namespace

// Any message between client and daemon; the params or the result of any between daemon and worker.
std::string Protocol(std::string_view bytes) {
  for (std::string wrong :
       {SaysTheSame<protocol::ClientMessage>(bytes, protocol::ParseClientMessage),
        SaysTheSame<protocol::DaemonMessage>(bytes, protocol::ParseDaemonMessage),
        RequestIsUnderstood(bytes)}) {
    if (!wrong.empty()) return wrong;
  }
  const auto json = records::ParseJson(bytes);
  if (!json) return {};
  for (std::string wrong :
       {MessageReadsBack<protocol::ScanRequest>(*json, protocol::ParseScanRequest),
        MessageReadsBack<protocol::ScanReply>(*json, protocol::ParseScanReply),
        MessageReadsBack<protocol::RewriteRequest>(*json, protocol::ParseRewriteRequest),
        MessageReadsBack<protocol::RewriteReply>(*json, protocol::ParseRewriteReply),
        MessageReadsBack<protocol::ProposeRequest>(*json, protocol::ParseProposeRequest),
        MessageReadsBack<protocol::ProposeReply>(*json, protocol::ParseProposeReply),
        MessageReadsBack<protocol::RetuneRequest>(*json, protocol::ParseRetuneRequest),
        MessageReadsBack<protocol::TwinReply>(*json, protocol::ParseTwinReply),
        MessageReadsBack<protocol::CheckVariantReply>(*json, protocol::ParseCheckVariantReply),
        MessageReadsBack<protocol::BuildRequest>(*json, protocol::ParseBuildRequest),
        MessageReadsBack<protocol::BuildReply>(*json, protocol::ParseBuildReply),
        MessageReadsBack<protocol::VerifyRequest>(*json, protocol::ParseVerifyRequest),
        MessageReadsBack<protocol::VerifyReply>(*json, protocol::ParseVerifyReply),
        MessageReadsBack<protocol::MeasureRequest>(*json, protocol::ParseMeasureRequest),
        MessageReadsBack<protocol::MeasureReply>(*json, protocol::ParseMeasureReply)}) {
    if (!wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace cupilot::fuzz
