#include "records/compile_command.h"

#include <set>

#include "base/hash.h"
#include "records/compile_flags.h"
#include "records/read_parts.h"
#include "records/reader.h"

namespace cupilot::records {
void Read(const Json& json, const std::string& path, CompileCommand& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Schema(CompileCommand::kSchema);
  object.Required("directory", out.directory)
      .Required("arguments", out.arguments)
      .Required("source", out.source)
      .Optional("object", out.object)
      .Optional("environment", out.environment)
      .Optional("folder", out.folder)
      .Optional("setup", out.setup);
  object.Finish();
}

base::Result<CompileCommand> ParseCompileCommand(const Json& json) {
  return ReadDocument<CompileCommand>(json, Strictness::kLenient);
}

Json ToJson(const CompileCommand& command) {
  Json json = {{"schema", CompileCommand::kSchema},
               {"directory", command.directory},
               {"arguments", command.arguments},
               {"source", command.source},
               {"object", command.object}};
  if (!command.environment.empty()) {
    json["environment"] = Json::array();
    for (const auto& [name, value] : command.environment) {
      json["environment"].push_back(Json::array({name, value}));
    }
  }
  Put(json, "folder", command.folder);
  if (command.setup) json["setup"] = ToJson(*command.setup);
  return json;
}

std::string CommandHash(const CompileCommand& command) {
  base::Hasher hasher;
  hasher.Add("command").Add(command.directory);
  for (const std::string& argument : RelevantArguments(command.arguments)) hasher.Add(argument);
  return hasher.Hex();
}

std::string EnvironmentHash(const CompileCommand& command) {
  const std::set<std::pair<std::string, std::string>> sorted(command.environment.begin(),
                                                             command.environment.end());
  base::Hasher hasher;
  hasher.Add("environment");
  for (const auto& [name, value] : sorted) hasher.Add(name).Add(value);
  return hasher.Hex();
}

}  // namespace cupilot::records
