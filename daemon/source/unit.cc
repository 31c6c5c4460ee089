#include "source/unit.h"

#include "base/file.h"

namespace cupilot::source {

base::Result<std::unique_ptr<Unit>> LoadUnit(
    const records::CompileCommand& command, const std::string& text,
    const std::vector<std::pair<std::string, std::int64_t>>& values) {
  auto unit = std::make_unique<Unit>();
  TRY_ASSIGN(unit->flags, TranslateCommand(command));
  const std::string& path = unit->flags.preprocess.file_name;
  unit->text = text;
  if (text.empty()) {
    TRY_ASSIGN(unit->text, base::ReadFile(path));
  }
  for (const auto& [name, value] : values) {
    unit->flags.preprocess.macros.push_back("-U" + name);
    unit->flags.preprocess.macros.push_back("-D" + name + "=" + std::to_string(value));
  }
  TRY_ASSIGN(unit->source, Preprocess(unit->text, unit->flags.preprocess));
  ParseOptions options;
  options.preprocessed = true;
  options.file_name = path;
  options.standard = unit->flags.preprocess.standard;
  options.system_folders = unit->flags.preprocess.toolkit_folders;
  TRY_ASSIGN(unit->parsed, Parse(unit->source.text, options));
  unit->places = Places(unit->parsed.tree.text);
  return unit;
}

}  // namespace cupilot::source
