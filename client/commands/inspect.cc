#include <string>
#include <vector>

#include "base/file.h"
#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "source/swap/elf_file.h"

namespace cupilot::client {
namespace {

using records::Json;

// The section holds one document a line: for each swapped object a head with its source, then its
// variants. The linker joins the objects' pieces; strings end with a zero byte.
Json VariantsIn(const std::string& section) {
  Json variants = Json::array();
  std::string source;
  std::size_t begin = 0;
  while (begin < section.size()) {
    std::size_t end = section.find_first_of(std::string("\n\0", 2), begin);
    if (end == std::string::npos) end = section.size();
    const auto line = records::ParseJson(std::string_view(section).substr(begin, end - begin));
    begin = end + 1;
    if (!line || !line->is_object()) continue;
    if (line->contains("schema")) {
      source = TextOf(*line, "source");
      continue;
    }
    Json variant = *line;
    variant["source"] = source;
    variants.push_back(std::move(variant));
  }
  return variants;
}

}  // namespace

int RunInspect(const Arguments& arguments, Output& output) {
  const std::string path = base::AbsolutePath(arguments.program, CurrentFolder());
  if (!base::FileExists(path)) {
    return output.Fail(base::InvalidArgument(path + ": there is no such file"));
  }
  const auto section = source::ElfSection(path, ".cupilot");
  if (!section) {
    return output.Fail(base::InvalidArgument(section.error().message));
  }
  const Json variants = VariantsIn(*section);
  output.Document({{"schema", "cupilot.inspect/1"}, {"program", path}, {"variants", variants}});
  if (variants.empty()) {
    output.Line(ShownPath(path) + " holds no variants: all its kernels are the originals");
    return kDone;
  }
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "what changed", "speedup when proven", "target", "variant"}};
  for (const Json& variant : variants) {
    rows.push_back({TextOf(variant, "kernel"), TextOf(variant, "title"),
                    SpeedupOf(variant, "speedup"), TextOf(variant, "target"),
                    TextOf(variant, "id").substr(0, 16)});
  }
  output.Table(rows);
  output.Line("CUPILOT_STATS=1 in the program's environment prints which of them ran;");
  output.Line("CUPILOT_DISABLE=1 runs the originals");
  return kDone;
}

}  // namespace cupilot::client
