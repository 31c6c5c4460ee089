#include "client/commands/ask.h"
#include "client/commands/commands.h"

namespace cupilot::client {

int RunApply(const Arguments&, Output& output) {
  const auto applied = AskDaemon(output, "apply", {{"folder", CurrentFolder()}});
  if (!applied) return output.Fail(applied.error());
  output.Document(*applied);
  const records::Json published = ListOf(*applied, "published");
  if (published.empty()) output.Line("nothing new to publish");
  for (const records::Json& source : published) {
    if (source.is_string()) output.Line("published for " + ShownPath(source.get<std::string>()));
  }
  if (!published.empty()) output.Line("the next build uses it");
  return kDone;
}

}  // namespace cupilot::client
