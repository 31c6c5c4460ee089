#include <string>

#include "client/completion/description.h"

namespace cupilot::client {
namespace {

std::string FishText(const std::string& text) {
  std::string quoted = "'";
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return quoted + "'";
}

// Whether the words so far are exactly this command.
std::string IsCommand(const std::string& name) { return " -n " + FishText("__cupilot_is " + name); }

std::string ValueArguments(const std::string& value) {
  if (value == "FILE" || value == "PROGRAM") return " -F";
  if (value == "FOLDER") return " -f -a '(__fish_complete_directories)'";
  if (value == "KERNEL") return " -f -a '(__cupilot_kernels)'";
  if (value == "DEVICE") return " -f -a 'host cuda:0'";
  return " -f";
}

std::string FishOption(const DescribedOption& option, const std::string& condition) {
  std::string text = "complete -c cupilot" + condition;
  if (option.positional) return text + ValueArguments(option.value) + "\n";
  for (const std::string& name : option.names) {
    text += name.rfind("--", 0) == 0 ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.value.empty()) text += " -r" + ValueArguments(option.value);
  return text + " -d " + FishText(option.about) + "\n";
}

constexpr const char* kFishHead = R"sh(# fish completion of cupilot; made by cupilot itself
# The words that are commands, in front of the one that is completed.
function __cupilot_command
    set -l command
    for word in (commandline -opc)[2..]
        test "$word" = -- && break
        contains -- (string join -- ' ' $command $word) $__cupilot_commands && set -a command $word
    end
    string join -- ' ' $command
end
function __cupilot_is
    test "$(__cupilot_command)" = "$argv"
end
# Nothing is started for a Tab.
function __cupilot_kernels
    CUPILOT_NO_SPAWN=1 cupilot generate kernels 2>/dev/null
end
complete -c cupilot -f
)sh";

}  // namespace

std::string FishCompletion(const DescribedProgram& program) {
  std::string text = kFishHead;
  text += "set -g __cupilot_commands";
  for (const DescribedCommand& command : program.commands) text += " " + FishText(command.name);
  text += "\n";
  for (const DescribedOption& option : program.options) text += FishOption(option, "");
  for (const DescribedCommand& command : program.commands) {
    const std::string last = LastWord(command.name);
    const std::string group =
        command.name.substr(0, command.name.size() - last.size() - (last == command.name ? 0 : 1));
    text += "complete -c cupilot" + IsCommand(group) + " -a " + last + " -d " +
            FishText(command.about) + "\n";
    for (const DescribedOption& option : command.options) {
      text += FishOption(option, IsCommand(command.name));
    }
  }
  return text;
}

}  // namespace cupilot::client
