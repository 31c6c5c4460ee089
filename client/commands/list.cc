#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "client/kernel_names.h"

namespace cupilot::client {

namespace {

enum ListColumn : std::size_t { kKernel = 0, kChanged = 6, kWhere = 7 };

// What a captured program spends time on without a tag.
int PrintUntagged(const records::Json& list, Output& output) {
  const records::Json kernels = ListOf(list, "untagged");
  if (kernels.empty()) {
    output.Line("no launch of an untagged kernel was seen; run `cupilot capture -- PROGRAM`");
    return kDone;
  }
  std::vector<std::vector<std::string>> rows = {{"kernel without a tag", "launches", "time"}};
  for (const records::Json& kernel : kernels) {
    rows.push_back({TextOf(kernel, "kernel"), CountOf(kernel, "calls"),
                    Microseconds(NumberOf(kernel, "microseconds")) +
                        (TextOf(kernel, "device") == "host" ? " (CPU)" : "")});
  }
  output.Table(rows, {{kKernel, 20, true}});
  output.Line("write `// cupilot: tune` above one that is yours, and build");
  return kDone;
}

}  // namespace

int RunList(const Arguments& arguments, Output& output) {
  const auto list = AskWhenRead(output, "list", {{"folder", CurrentFolder()}});
  if (!list) return output.Fail(list.error());
  output.Document(*list);
  if (arguments.untagged) return PrintUntagged(*list, output);
  const records::Json kernels = ListOf(*list, "kernels");
  if (kernels.empty()) {
    output.Line("no tagged kernel is known; write `// cupilot: tune` above one and build");
    return kDone;
  }
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "state", "tried", "speedup", "published", "to be won", "what changed", "where"}};
  const std::vector<std::string> names = KernelNames(kernels);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const records::Json& kernel = kernels[i];
    std::string why = TextOf(kernel, "why");
    const std::string where = TextOf(kernel, "file") + ":" + CountOf(kernel, "line");
    // It is said in the last column.
    if (why.starts_with(where + ": ")) why.erase(0, where.size() + 2);
    std::string marks;
    for (const records::Json& mark : ListOf(kernel, "marks")) {
      const std::string name = TextOf(mark, "mark");
      if (marks.find(name) == std::string::npos) marks += (marks.empty() ? " (" : ", ") + name;
    }
    if (!marks.empty()) marks += ")";
    rows.push_back({names[i], TextOf(kernel, "state"), CountOf(kernel, "tried"),
                    SpeedupOf(kernel, "speedup"), FlagOf(kernel, "published") ? "yes" : "no",
                    kernel.value("winnable_us", records::Json()).is_number()
                        ? Microseconds(NumberOf(kernel, "winnable_us"))
                        : "-",
                    (why.empty() ? TextOf(kernel, "strategy") : why) + marks, ShownPath(where)});
  }
  output.Table(rows, {{kChanged, 24},
                      {kWhere, 12, true},
                      {kKernel, 14, true},
                      {kChanged, 10},
                      {kWhere, 8, true},
                      {kKernel, 10, true}});
  return kDone;
}

}  // namespace cupilot::client
