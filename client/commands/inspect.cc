#include <string>
#include <vector>

#include "base/file.h"
#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "client/program_variants.h"

namespace cupilot::client {

using records::Json;

int RunInspect(const Arguments& arguments, Output& output) {
  const std::string path = base::AbsolutePath(arguments.program, CurrentFolder());
  if (!base::FileExists(path)) {
    return output.Fail(base::InvalidArgument(path + ": there is no such file"));
  }
  const auto variants = VariantsOfProgram(path);
  if (!variants) return output.Fail(base::InvalidArgument(variants.error().message));
  output.Document({{"schema", "cupilot.inspect/1"}, {"program", path}, {"variants", *variants}});
  if (variants->empty()) {
    output.Line(ShownPath(path) + " holds no variants: all its kernels are the originals");
    return kDone;
  }
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "what changed", "speedup when proven", "target", "variant"}};
  for (const Json& variant : *variants) {
    rows.push_back({TextOf(variant, "kernel"), TextOf(variant, "title"),
                    SpeedupOf(variant, "speedup"), TextOf(variant, "target"),
                    TextOf(variant, "id").substr(0, 16)});
  }
  output.Table(rows);
  output.Line("CUPILOT_STATS=1 in the program's environment prints which of them ran;");
  output.Line("CUPILOT_DISABLE=1 runs the originals; `cupilot bench -- PROGRAM` compares both");
  return kDone;
}

}  // namespace cupilot::client
