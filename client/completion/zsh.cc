#include <string>

#include "client/completion/description.h"

namespace cupilot::client {
namespace {

// Inside of '...[HERE]' of _arguments, or '...:HERE' of _describe.
std::string ZshText(const std::string& text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '\'') {
      escaped += "'\\''";
      continue;
    }
    if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

std::string ActionOf(const std::string& value) {
  if (value == "FILE") return "_files";
  if (value == "FOLDER") return "_files -/";
  if (value == "KERNEL") return "_cupilot_kernels";
  if (value == "DEVICE") return "(host cuda\\:0)";
  return value == "PROGRAM" ? "_cupilot_program" : " ";
}

// '(-o --output)'{-o,--output}'[about]:FILE:_files'
std::string ZshOption(const DescribedOption& option, int& place) {
  const std::string action = ":" + option.value + ":" + ActionOf(option.value);
  if (option.positional) {
    return option.many ? "'*:" + action + "'" : "'" + std::to_string(++place) + action + "'";
  }
  std::string all, choice;
  for (const std::string& name : option.names) {
    all += (all.empty() ? "" : " ") + name;
    choice += (choice.empty() ? "" : ",") + name;
  }
  const std::string rest =
      "'[" + ZshText(option.about) + "]" + (option.value.empty() ? "" : action) + "'";
  return "'(" + all + ")'" + (option.names.size() > 1 ? "{" + choice + "}" : choice) + rest;
}

std::string ZshArguments(const DescribedProgram& program,
                         const std::vector<DescribedOption>& options) {
  std::string text = "_arguments -s";
  int place = 0;
  for (const DescribedOption& option : options) text += " \\\n      " + ZshOption(option, place);
  for (const DescribedOption& option : program.options) {
    text += " \\\n      " + ZshOption(option, place);
  }
  return text + "\n";
}

std::string FunctionOf(const std::string& group) {
  return group.empty() ? "_cupilot" : "_cupilot_of_" + group;
}

// The words of one level, then what the chosen one takes.
std::string ZshLevel(const DescribedProgram& program, const std::string& group) {
  std::string text = FunctionOf(group) +
                     "() {\n"
                     "  local curcontext=\"$curcontext\" state line\n"
                     "  typeset -A opt_args\n"
                     "  local -a commands=(\n";
  std::string cases;
  for (const DescribedCommand* command : CommandsBelow(program, group)) {
    const std::string word = LastWord(command->name);
    text += "    '" + word + ":" + ZshText(command->about) + "'\n";
    cases += "    (" + word + ") " +
             (command->group ? FunctionOf(command->name) + "\n"
                             : ZshArguments(program, command->options)) +
             "      ;;\n";
  }
  text += "  )\n  _arguments -C";
  int place = 0;
  for (const DescribedOption& option : program.options) {
    text += " \\\n    " + ZshOption(option, place);
  }
  return text +
         " \\\n    '1:command:->command' '*::argument:->argument'\n"
         "  case $state in\n"
         "  (command) _describe -t commands command commands ;;\n"
         "  (argument)\n"
         "    case $line[1] in\n" +
         cases + "    esac\n    ;;\n  esac\n}\n";
}

constexpr const char* kZshHead = R"sh(#compdef cupilot
# zsh completion of cupilot; made by cupilot itself
# Nothing is started for a Tab.
_cupilot_kernels() {
  local -a kernels=(${(f)"$(CUPILOT_NO_SPAWN=1 cupilot generate kernels 2> /dev/null)"})
  compadd -a kernels
}
_cupilot_program() {
  if (( CURRENT > 2 )); then _files; else _alternative 'commands:command:_command_names -e' 'files:file:_files'; fi
}
)sh";

}  // namespace

std::string ZshCompletion(const DescribedProgram& program) {
  std::string text = kZshHead;
  for (const DescribedCommand& command : program.commands) {
    if (command.group) text += ZshLevel(program, command.name);
  }
  return text + ZshLevel(program, "") + "_cupilot \"$@\"\n";
}

}  // namespace cupilot::client
