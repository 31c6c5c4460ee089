#include "client/commands/ask.h"
#include "client/commands/commands.h"

namespace cupilot::client {

int RunList(const Arguments&, Output& output) {
  const auto list = AskDaemon(output, "list", {{"folder", CurrentFolder()}});
  if (!list) return output.Fail(list.error());
  output.Document(*list);
  const records::Json kernels = ListOf(*list, "kernels");
  if (kernels.empty()) {
    output.Line("no tagged kernel is known; write `// cupilot: tune` above one and build");
    return kDone;
  }
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "state", "tried", "speedup", "published", "what changed", "where"}};
  for (const records::Json& kernel : kernels) {
    const std::string why = TextOf(kernel, "why");
    rows.push_back({TextOf(kernel, "kernel"), TextOf(kernel, "state"), CountOf(kernel, "tried"),
                    SpeedupOf(kernel, "speedup"), FlagOf(kernel, "published") ? "yes" : "no",
                    why.empty() ? TextOf(kernel, "strategy") : why,
                    ShownPath(TextOf(kernel, "file")) + ":" + CountOf(kernel, "line")});
  }
  output.Table(rows);
  return kDone;
}

}  // namespace cupilot::client
