#include "client/completion/description.h"

namespace cupilot::client {

std::string LastWord(const std::string& name) { return name.substr(name.rfind(' ') + 1); }

std::vector<const DescribedCommand*> CommandsBelow(const DescribedProgram& program,
                                                   const std::string& group) {
  std::vector<const DescribedCommand*> commands;
  const std::string before = group.empty() ? "" : group + " ";
  for (const DescribedCommand& command : program.commands) {
    if (command.name == before + LastWord(command.name)) commands.push_back(&command);
  }
  return commands;
}

}  // namespace cupilot::client
