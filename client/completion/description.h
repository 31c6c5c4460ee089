// The command line as values: what the parser of arguments.cc takes, for completions and manual
// pages, so that they cannot say anything else.
#pragma once

#include <string>
#include <vector>

namespace cupilot::client {

struct DescribedOption {
  std::vector<std::string> names;  // "-o", "--output"; none of a positional one
  std::string value;               // "FILE", "TEXT", ...; empty: a flag
  std::string about;
  std::string standard;  // its value where it is not given; empty: none, or said in `about`
  bool positional = false;
  bool required = false;
  bool many = false;  // takes all words that follow
};

struct DescribedCommand {
  std::string name;  // "tune", "daemon start"
  std::string about;
  std::vector<DescribedOption> options;
  bool group = false;  // "daemon": one of its own commands has to follow
};

struct DescribedProgram {
  std::string about;
  std::string version;
  std::vector<DescribedOption> options;    // of every command
  std::vector<DescribedCommand> commands;  // a group before its commands
};

// Those for people (arguments.cc).
DescribedProgram DescribeArguments();

// Of one level: "" the first words, "daemon" what follows it. Pointers into `program`.
std::vector<const DescribedCommand*> CommandsBelow(const DescribedProgram& program,
                                                   const std::string& group);
// The last word of a command's name.
std::string LastWord(const std::string& name);

// The files that shells load, and the manual page. Pure.
std::string BashCompletion(const DescribedProgram& program);
std::string ZshCompletion(const DescribedProgram& program);
std::string FishCompletion(const DescribedProgram& program);
std::string ManualPage(const DescribedProgram& program);

}  // namespace cupilot::client
