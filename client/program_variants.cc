#include "client/program_variants.h"

#include <utility>

#include "client/output.h"
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

base::Result<Json> VariantsOfProgram(const std::string& path) {
  TRY_ASSIGN(const std::string section, source::ElfSection(path, ".cupilot"));
  return VariantsIn(section);
}

}  // namespace cupilot::client
