// What the daemon can be told on its command line: one of these, or nothing. `--help` prints them,
// and a test holds that cupilotd(8) says of each the same.
#pragma once

#include <string>

namespace cupilot {

struct DaemonOption {
  const char* name;
  const char* about;
};

inline constexpr DaemonOption kDaemonOptions[] = {
    {"--foreground", "Serve without leaving the terminal"},
    {"--take-over", "Wait for the end of the daemon that runs, and take its place"},
    {"--once", "Do one tune or evaluate that is asked for on standard input; for cupilot"},
    {"--version", "Print the version"},
    {"--help", "Print this"},
};

inline std::string DaemonUsage() {
  std::string head, lines;
  for (const DaemonOption& option : kDaemonOptions) {
    const std::string name = option.name;
    head += (head.empty() ? "" : " | ") + name;
    lines += "  " + name + std::string(14 - name.size(), ' ') + option.about + "\n";
  }
  return "usage: cupilotd [" + head + "]\n" + lines;
}

}  // namespace cupilot
