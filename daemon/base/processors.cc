#include "base/processors.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <thread>

#include "base/file.h"

namespace cupilot::base {
namespace {

int OfTheMask() {
  // A machine with more processors than the mask holds has no answer here.
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

// The path of the group in the one hierarchy of version 2, "/" at least; empty: there is none.
std::string GroupOf(const std::string& root) {
  std::istringstream lines(ReadFile(root + "/proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("0::/", 0) == 0) return line.substr(3);
  }
  return {};
}

// "200000 100000": so many microseconds of processor time in each so many; "max 100000": no limit.
int Allowed(const std::string& limit, int processors) {
  std::istringstream text(limit);
  double quota = 0, period = 0;
  if (!(text >> quota >> period) || quota <= 0 || period <= 0) return processors;
  return static_cast<int>(std::clamp(std::ceil(quota / period), 1.0, double(processors)));
}

}  // namespace

int UsableProcessors(const std::string& root) {
  int processors = OfTheMask();
  std::string group = GroupOf(root);
  while (!group.empty()) {
    const std::string folder = root + "/sys/fs/cgroup" + (group == "/" ? "" : group);
    processors = Allowed(ReadFile(folder + "/cpu.max").value_or(""), processors);
    if (group == "/") break;
    group.resize(std::max<std::size_t>(1, group.rfind('/')));
  }
  return processors;
}

}  // namespace cupilot::base
