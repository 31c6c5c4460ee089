// `cupilot pin` and `cupilot reject`.
#include <string>

#include "client/commands/ask.h"
#include "client/commands/commands.h"

namespace cupilot::client {
namespace {

using records::Json;

constexpr std::size_t kIdOfDecision = 16;

int PrintDecision(const base::Result<Json>& reply, Output& output) {
  if (!reply) return output.Fail(reply.error());
  output.Document(*reply);
  for (const Json& one : ListOf(*reply, "variants")) {
    output.Line(TextOf(*reply, "kernel") + ": " + TextOf(*reply, "what") + " variant " +
                TextOf(one, "variant").substr(0, kIdOfDecision) +
                (TextOf(one, "title").empty() ? "" : " (" + TextOf(one, "title") + ")"));
  }
  const Json now = ListOf(*reply, "now");
  for (const Json& one : now) {
    output.Line("now chosen for " + TextOf(one, "target") + ": " + TextOf(one, "title") + ", " +
                SpeedupOf(one, "speedup") + ", variant " +
                TextOf(one, "variant").substr(0, kIdOfDecision));
  }
  if (now.empty()) output.Line("now chosen: the original");
  output.Line(TextOf(*reply, "message"));
  return kDone;
}

}  // namespace

int RunPin(const Arguments& arguments, Output& output) {
  if (arguments.none == !arguments.variant.empty()) {
    return output.Fail(base::InvalidArgument(
        "pin: name a VARIANT of the kernel (`cupilot history KERNEL` shows them), or say --none"));
  }
  Json params = KernelParams(arguments.kernel);
  if (arguments.none) {
    params["none"] = true;
  } else {
    params["variant"] = arguments.variant;
  }
  return PrintDecision(AskWhenRead(output, "pin", params), output);
}

int RunReject(const Arguments& arguments, Output& output) {
  Json params = {{"what", arguments.variant}, {"folder", CurrentFolder()}};
  if (arguments.undo) params["undo"] = true;
  return PrintDecision(AskWhenRead(output, "reject", params), output);
}

}  // namespace cupilot::client
