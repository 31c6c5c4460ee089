#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "client/commands/status_text.h"

namespace cupilot::client {

int RunResume(const Arguments&, Output& output) {
  const auto status = AskDaemon(output, "resume", records::Json::object());
  if (!status) return output.Fail(status.error());
  output.Document(*status);
  PrintStatus(*status, output);
  return kDone;
}

}  // namespace cupilot::client
