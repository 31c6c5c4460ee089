#include "device/host/host_properties.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

namespace cupilot::device {
namespace {

std::string ProcessorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) break;
    const std::size_t begin = line.find_first_not_of(' ', colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "processor";
}

}  // namespace

std::string HostArchitecture() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4") != 0) return "host-x86-64-v4";
  if (__builtin_cpu_supports("x86-64-v3") != 0) return "host-x86-64-v3";
  if (__builtin_cpu_supports("x86-64-v2") != 0) return "host-x86-64-v2";
  return "host-x86-64";
#else
  utsname system{};
  return uname(&system) == 0 ? std::string("host-") + system.machine : "host-unknown";
#endif
}

Properties DescribeHost() {
  Properties properties;
  properties.name = ProcessorName();
  properties.architecture = HostArchitecture();
  utsname system{};
  if (uname(&system) == 0) properties.driver = std::string(system.sysname) + " " + system.release;
  properties.memory_bytes =
      std::int64_t{sysconf(_SC_PHYS_PAGES)} * std::int64_t{sysconf(_SC_PAGE_SIZE)};
  properties.sm_count = std::max(1u, std::thread::hardware_concurrency());
  // The last cache before memory is what a GPU's L2 is.
  const std::int64_t last = sysconf(_SC_LEVEL3_CACHE_SIZE);
  properties.l2_bytes = last > 0 ? last : std::max<std::int64_t>(0, sysconf(_SC_LEVEL2_CACHE_SIZE));
  return properties;
}

}  // namespace cupilot::device
