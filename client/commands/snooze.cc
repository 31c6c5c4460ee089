#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "client/commands/status_text.h"

namespace cupilot::client {

int RunSnooze(const Arguments& arguments, Output& output) {
  const auto status =
      AskDaemon(output, "snooze", records::Json{{"seconds", arguments.seconds.value_or(3600)}});
  if (!status) return output.Fail(status.error());
  output.Document(*status);
  output.Line("tuning is paused until " + TextOf(*status, "snoozed_until") +
              "; `cupilot resume` ends it earlier");
  return kDone;
}

}  // namespace cupilot::client
