#include <string>

#include "client/completion/description.h"

namespace cupilot::client {
namespace {

// Text of a line of roff: its own signs are taken as they are.
std::string Roff(const std::string& text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '\\') {
      escaped += "\\e";
    } else if (letter == '-') {
      escaped += "\\-";
    } else if (letter == '`') {
      escaped += "\\(ga";
    } else {
      escaped += letter;
    }
  }
  return !escaped.empty() && (escaped[0] == '.' || escaped[0] == '\'') ? "\\&" + escaped : escaped;
}

std::string Bold(const std::string& text) { return "\\fB" + Roff(text) + "\\fR"; }
std::string Italic(const std::string& text) { return "\\fI" + Roff(text) + "\\fR"; }

// "-o, --output FILE"
std::string HeadOf(const DescribedOption& option) {
  std::string head;
  for (const std::string& name : option.names) head += (head.empty() ? "" : ", ") + Bold(name);
  if (!option.value.empty()) head += (head.empty() ? "" : " ") + Italic(option.value);
  return head;
}

std::string Item(const DescribedOption& option) {
  std::string text = ".TP\n" + HeadOf(option) + "\n" + Roff(option.about);
  if (!option.standard.empty()) text += " (default: " + Roff(option.standard) + ")";
  return text + ".\n";
}

// "cupilot tune FILE --workload FILE [options]"
std::string Synopsis(const DescribedCommand& command) {
  std::string text = Bold("cupilot " + command.name);
  bool more = false;
  for (const DescribedOption& option : command.options) {
    if (option.positional) {
      const std::string value = (option.value == "PROGRAM" && option.many ? "\\-\\- " : "") +
                                Italic(option.value) + (option.many ? "..." : "");
      text += option.required ? " " + value : " [" + value + "]";
    } else if (option.required) {
      text += " " + Bold(option.names.back()) + " " + Italic(option.value);
    } else {
      more = true;
    }
  }
  return text + (more ? " [options]" : "");
}

std::string CommandText(const DescribedCommand& command) {
  std::string text = ".SS " + Synopsis(command) + "\n" + Roff(command.about) + ".\n";
  for (const DescribedOption& option : command.options) {
    // What stands in the line above and has nothing to add needs no item.
    if (!option.about.empty()) text += Item(option);
  }
  return text;
}

constexpr const char* kManualEnd = R"(.SH "EXIT STATUS"
.TP
.B 0
Done; for \fBevaluate\fR: accepted.
.TP
.B 1
No: rejected, not found, nothing better.
.TP
.B 2
Wrong usage, or bad input.
.TP
.B 3
The environment lacks something: a daemon, a compiler, a device.
.SH ENVIRONMENT
.TP
.B CUPILOT
With the value 0 builds and configures do without cuPilot.
.TP
.B CUPILOT_DISABLE
Tuned programs run the originals: all, or those of the kernels that it names.
.TP
.B CUPILOT_STATS
Tuned programs count their launches: 1 prints the counts at the end, a path with a slash appends them to that file.
.TP
.B CUPILOT_NO_SPAWN
Where it is set, commands start no daemon on their own.
.TP
.B NO_COLOR
Where it is set, nothing is coloured.
.TP
.BR XDG_CONFIG_HOME ", " XDG_STATE_HOME ", " XDG_CACHE_HOME ", " XDG_RUNTIME_DIR
Where settings, the store, built candidates and the socket are.
.SH FILES
.TP
.I $XDG_CONFIG_HOME/cupilot/config.json
Settings; \fBcupilot config \-\-show\-origin\fR shows all of them and the folders.
.SH "SEE ALSO"
.BR cupilotd (8)
)";

}  // namespace

std::string ManualPage(const DescribedProgram& program) {
  std::string text = ".TH CUPILOT 1 \"\" \"cuPilot " + Roff(program.version) +
                     "\" \"User Commands\"\n"
                     ".SH NAME\n"
                     "cupilot \\- tunes CUDA kernels in the background\n"
                     ".SH SYNOPSIS\n"
                     ".B cupilot\n"
                     ".RI [ options ] \" COMMAND\" \" \" [ ARGUMENTS ]\n"
                     ".SH DESCRIPTION\n" +
                     Roff(program.about) + "\n" +
                     "The commands ask the daemon of the user, \\fBcupilotd\\fR(8), and start it "
                     "where it is needed.\n"
                     ".SH OPTIONS\n";
  for (const DescribedOption& option : program.options) text += Item(option);
  text += ".SH COMMANDS\n";
  for (const DescribedCommand& command : program.commands) {
    if (!command.group) text += CommandText(command);
  }
  return text + kManualEnd;
}

}  // namespace cupilot::client
