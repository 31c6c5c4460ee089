#include "base/file.h"
#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "client/named_output.h"

namespace cupilot::client {

int RunBest(const Arguments& arguments, Output& output) {
  records::Json params = KernelParams(arguments.kernel);
  if (!arguments.arch.empty()) params["arch"] = arguments.arch;
  const auto best = AskWhenRead(output, "best", params);
  if (!best) return output.Fail(best.error());
  const records::Json variant = ObjectOf(*best, "variant");
  const records::Json evaluation = ObjectOf(*best, "evaluation");
  if (!arguments.output_file.empty()) {
    const std::string path = base::AbsolutePath(arguments.output_file, CurrentFolder());
    if (auto written = WriteNamedOutput(path, records::PrettyJson(variant)); !written) {
      return output.Fail(written.error());
    }
  }
  output.Document(*best);
  const records::Json strategy = ObjectOf(variant, "strategy");
  output.Line("// " + TextOf(variant, "kernel") + ": " + TextOf(strategy, "title") + ", " +
              SpeedupOf(evaluation, "speedup"));
  output.Line("// variant " + TextOf(variant, "id"));
  output.Line(TextOf(variant, "source"));
  return kDone;
}

}  // namespace cupilot::client
