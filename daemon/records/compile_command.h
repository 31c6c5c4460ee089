// One recorded compile of one object, as the launcher saw it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "records/compiler_text.h"
#include "records/json.h"

namespace cupilot::records {

struct CompileCommand {
  static constexpr const char* kSchema = "cupilot.command/1";
  std::string directory;  // working folder, absolute
  std::vector<std::string>
      arguments;       // compiler first; response files expanded; without our additions
  std::string source;  // absolute
  std::string object;  // absolute
  std::vector<std::pair<std::string, std::string>> environment;  // variables that nvcc reads
  std::string folder;  // our folder of this object: .../cupilot/<target>/<object>
  // How its compiler reads the source, where it was asked (a worker's outer process does).
  std::optional<CompilerSetup> setup;

  bool operator==(const CompileCommand&) const = default;
};

base::Result<CompileCommand> ParseCompileCommand(const Json& json);
Json ToJson(const CompileCommand& command);
// What the selection is bound to: directory and arguments without output, dependency-file, debug
// and warning options; and the environment.
std::string CommandHash(const CompileCommand& command);
std::string EnvironmentHash(const CompileCommand& command);

}  // namespace cupilot::records
