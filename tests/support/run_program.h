// Runs a program to its end and keeps what it printed.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace cupilot::test {

struct ProgramRun {
  int exit_code = -1;  // 128 + signal where a signal ended it
  std::string output;
  std::string errors;
};

struct RunOptions {
  std::map<std::string, std::string> environment;  // over ours; an empty value unsets
  std::string folder;                              // working folder; empty: ours
};

// `words`: the program first, found by PATH if it has no slash.
ProgramRun RunProgram(const std::vector<std::string>& words, const RunOptions& options = {});

// For a child that was forked and has its descriptors: the program in its place.
[[noreturn]] void BecomeProgram(const std::vector<std::string>& words, const RunOptions& options);

}  // namespace cupilot::test
