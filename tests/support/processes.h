// Processes that others have started: found in /proc, and waited for.
#pragma once

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace cupilot::test {

// Whether it has ended, also if nobody has waited for it; waits for that, but not for ever.
inline bool HasEnded(pid_t pid) {
  const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (descriptor < 0) return true;
  pollfd item{descriptor, POLLIN, 0};
  constexpr int kLimitMs = 120000;
  const bool ended = ::poll(&item, 1, kLimitMs) == 1;
  ::close(descriptor);
  return ended;
}

inline bool Kill(pid_t pid) { return ::kill(pid, SIGKILL) == 0 && HasEnded(pid); }

struct ProcessState {
  pid_t parent = 0;
  char state = 0;  // of /proc: R, S, Z, ...
};

inline std::map<pid_t, ProcessState> Processes() {
  std::map<pid_t, ProcessState> processes;
  DIR* folder = ::opendir("/proc");
  while (const dirent* entry = folder == nullptr ? nullptr : ::readdir(folder)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    const std::string stat((std::istreambuf_iterator<char>(file)), {});
    // 42 (a name, with any characters) S 41 ...
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos || stat.size() < name_end + 5) continue;
    processes[pid] = {std::atoi(stat.c_str() + name_end + 4), stat[name_end + 2]};
  }
  if (folder != nullptr) ::closedir(folder);
  return processes;
}

// How many children of the process, and of these and so on, have ended and nobody has waited for.
inline int ZombiesBelow(pid_t ancestor) {
  const auto processes = Processes();
  int zombies = 0;
  for (const auto& [pid, process] : processes) {
    if (process.state != 'Z') continue;
    pid_t above = process.parent;
    while (above != ancestor && processes.contains(above)) above = processes.at(above).parent;
    zombies += above == ancestor ? 1 : 0;
  }
  return zombies;
}

// Descendants of this process whose arguments begin with these, after the program's name.
inline std::vector<pid_t> DescendantsWith(const std::vector<std::string>& arguments) {
  const auto processes = Processes();
  std::vector<pid_t> found;
  for (const auto& [pid, process] : processes) {
    pid_t above = process.parent;
    while (above != ::getpid() && processes.contains(above)) above = processes.at(above).parent;
    if (above != ::getpid()) continue;
    std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
    std::vector<std::string> words;
    for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
    if (words.size() > arguments.size() &&
        std::equal(arguments.begin(), arguments.end(), words.begin() + 1)) {
      found.push_back(pid);
    }
  }
  return found;
}

}  // namespace cupilot::test
