#include <string>

#include "client/completion/description.h"

namespace cupilot::client {
namespace {

// Names of commands and options have nothing that a shell would read otherwise, but blanks.
void AddWord(const std::string& word, std::string& words) {
  words += (words.empty() ? "" : " ") + word;
}

std::string OptionWords(const std::vector<DescribedOption>& options) {
  std::string words;
  for (const DescribedOption& option : options) {
    for (const std::string& name : option.names) AddWord(name, words);
  }
  return words;
}

// What is completed in the place of a value: _cupilot_FILE and so on, or nothing.
std::string HelperOf(const std::string& value) {
  for (const char* known : {"FILE", "FOLDER", "KERNEL", "DEVICE", "PROGRAM"}) {
    if (value == known) return "_cupilot_" + value;
  }
  return ":";
}

// 'tune:--workload'|'tune:-o')
std::string ValueCases(const DescribedProgram& program) {
  std::string text;
  for (const DescribedCommand& command : program.commands) {
    for (const DescribedOption& option : command.options) {
      if (option.positional || option.value.empty()) continue;
      std::string pattern;
      for (const std::string& name : option.names) {
        pattern += (pattern.empty() ? "'" : "|'") + command.name + ":" + name + "'";
      }
      text += "    " + pattern + ") " + HelperOf(option.value) + "; return ;;\n";
    }
  }
  return text;
}

std::string CommandCases(const DescribedProgram& program) {
  std::string first = OptionWords(program.options);
  for (const DescribedCommand* command : CommandsBelow(program, "")) AddWord(command->name, first);
  std::string text = "    '') words='" + first + "' ;;\n";
  for (const DescribedCommand& command : program.commands) {
    std::string words = OptionWords(command.options);
    AddWord(OptionWords(program.options), words);
    for (const DescribedCommand* below : CommandsBelow(program, command.name)) {
      AddWord(LastWord(below->name), words);
    }
    std::string helper = ":";
    for (const DescribedOption& option : command.options) {
      if (option.positional && helper == ":") helper = HelperOf(option.value);
    }
    text += "    '" + command.name + "') words='" + words + "'";
    text += helper == ":" ? " ;;\n" : "; positional=" + helper + " ;;\n";
  }
  return text;
}

constexpr const char* kBashHead = R"sh(# bash completion of cupilot; made by cupilot itself
_cupilot_FILE() { compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word"); }
_cupilot_FOLDER() { compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$word"); }
_cupilot_DEVICE() { mapfile -t COMPREPLY < <(compgen -W 'host cuda' -- "$word"); }
_cupilot_PROGRAM() { compopt -o filenames; mapfile -t COMPREPLY < <(compgen -c -- "$word"; compgen -f -- "$word"); }
# Nothing is started for a Tab.
_cupilot_KERNEL() {
  mapfile -t COMPREPLY < <(compgen -W "$(CUPILOT_NO_SPAWN=1 "${COMP_WORDS[0]}" generate kernels 2> /dev/null)" -- "$word")
}
_cupilot() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local command='' words='' positional=: i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then  # another program's words follow
      if ((i == COMP_CWORD - 1)); then _cupilot_PROGRAM; else _cupilot_FILE; fi
      return
    fi
    case "${command:+$command }${COMP_WORDS[i]}" in
)sh";

}  // namespace

std::string BashCompletion(const DescribedProgram& program) {
  std::string names;
  for (const DescribedCommand& command : program.commands) {
    names += (names.empty() ? "'" : "|'") + command.name + "'";
  }
  return kBashHead + ("      " + names) +
         ") command=\"${command:+$command }${COMP_WORDS[i]}\" ;;\n"
         "    esac\n"
         "  done\n"
         "  case \"$command:$before\" in\n" +
         ValueCases(program) +
         "  esac\n"
         "  case \"$command\" in\n" +
         CommandCases(program) +
         "  esac\n"
         "  if [[ $word != -* ]]; then $positional; fi\n"
         "  local -a more\n"
         "  mapfile -t more < <(compgen -W \"$words\" -- \"$word\")\n"
         "  COMPREPLY+=(\"${more[@]}\")\n"
         "}\n"
         "complete -F _cupilot cupilot\n";
}

}  // namespace cupilot::client
