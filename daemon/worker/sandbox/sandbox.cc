#include "worker/sandbox/sandbox.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "worker/sandbox/bubblewrap.h"
#include "worker/sandbox/landlock.h"

namespace cupilot::worker {
namespace {

// Bytes of address space that the process has mapped; 0 if the system does not tell.
std::size_t MappedBytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0;
  statm >> pages;
  return statm ? pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace

std::size_t TasksOfUser() {
  std::size_t tasks = 0;
  std::error_code error;
  for (const auto& process : std::filesystem::directory_iterator("/proc", error)) {
    std::ifstream status(process.path() / "status");
    bool ours = false;
    for (std::string word; status >> word;) {
      if (word == "Uid:") {
        uid_t user = 0;
        status >> user;
        ours = user == ::getuid();
      } else if (word == "Threads:" && ours) {
        std::size_t threads = 0;
        status >> threads;
        tasks += threads;
        break;
      }
    }
  }
  return tasks;
}

namespace {

bool Set(decltype(RLIMIT_CORE) which, rlim_t most) {
  rlimit now{};
  if (::getrlimit(which, &now) != 0) return false;
  if (now.rlim_max != RLIM_INFINITY && now.rlim_max < most) most = now.rlim_max;
  const rlimit limit{most, most};
  return ::setrlimit(which, &limit) == 0;
}

bool Required() {
  const char* value = std::getenv("CUPILOT_REQUIRE_SANDBOX");
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

}  // namespace

base::Result<> LimitResources(const ResourceLimits& limits) {
  bool done = Set(RLIMIT_CORE, 0) && Set(RLIMIT_FSIZE, limits.file_bytes);
  if (limits.address_space_bytes > 0) {
    done = done && Set(RLIMIT_AS, MappedBytes() + limits.address_space_bytes);
  }
  if (limits.tasks > 0) done = done && Set(RLIMIT_NPROC, limits.tasks);
  if (done) return {};
  return base::Fail(base::Unavailable(std::string("setrlimit: ") + std::strerror(errno)));
}

std::vector<std::string> WordsAround(const Access& access, const std::string& folder) {
  if (access.gpus || Bubblewrap().empty()) return {};
  return BubblewrapWords(Bubblewrap(), access, folder);
}

base::Result<> ConfineFiles(const Access& access) {
  if (LandlockVersion() > 0) return RestrictFiles(access);
  // Inside bubblewrap nothing else is to be seen; a process with a GPU is never inside.
  const bool inside = std::getenv("CUPILOT_IN_BUBBLEWRAP") != nullptr;
  if (inside || !Required()) return {};
  return base::Fail(base::Unavailable("require_sandbox is set: " + WhatSandboxLacks()));
}

std::string DescribeSandbox() {
  std::string text;
  if (!Bubblewrap().empty()) text += "bubblewrap, ";
  if (const int version = LandlockVersion(); version > 0) {
    text += "Landlock " + std::to_string(version) + ", ";
  }
  return text + "seccomp, resource limits";
}

std::string WhatSandboxLacks() {
  if (LandlockVersion() > 0) return "";
  return "this kernel has no Landlock (Linux 5.13 or newer, with landlock in its list of security "
         "modules)" +
         std::string(Bubblewrap().empty()
                         ? ", and bubblewrap is not installed or may make no namespaces here"
                         : "; bubblewrap protects what runs on the host device only");
}

}  // namespace cupilot::worker
