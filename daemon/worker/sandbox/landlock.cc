#include "worker/sandbox/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace cupilot::worker {
namespace {

// What newer kernels know than the headers that this is built with.
constexpr std::uint64_t kTruncate = 1ULL << 14;       // version 3
constexpr std::uint64_t kDeviceControl = 1ULL << 15;  // version 5
constexpr std::uint64_t kTcp = 3;                     // bind and connect: version 4
constexpr std::uint64_t kScope = 3;  // abstract sockets and signals to processes outside: version 6

// The ruleset's attributes, as of version 6; an older kernel is given the beginning.
struct Attributes {
  std::uint64_t files = 0;
  std::uint64_t network = 0;
  std::uint64_t scope = 0;
};

constexpr std::uint64_t kRead =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kOfFiles = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
                                   LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kDeviceControl;

std::uint64_t AllOf(int version) {
  std::uint64_t all = LANDLOCK_ACCESS_FS_REFER - 1;
  if (version >= 2) all |= LANDLOCK_ACCESS_FS_REFER;
  if (version >= 3) all |= kTruncate;
  if (version >= 5) all |= kDeviceControl;
  return all;
}

base::Result<> Failed(const char* what) {
  return base::Fail(
      base::Unavailable(std::string("Landlock: ") + what + ": " + std::strerror(errno)));
}

// A path that is not there needs no rule.
base::Result<> Allow(int rules, const std::string& path, std::uint64_t rights) {
  const int place = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (place < 0) return {};
  struct stat facts{};
  landlock_path_beneath_attr rule{};
  rule.parent_fd = place;
  rule.allowed_access = rights;
  if (::fstat(place, &facts) == 0 && !S_ISDIR(facts.st_mode)) rule.allowed_access &= kOfFiles;
  const long added = ::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  ::close(place);
  return added == 0 ? base::Result<>() : Failed(path.c_str());
}

base::Result<> AllowAll(int rules, const Access& access, std::uint64_t all) {
  for (const std::string& path : access.read) TRY(Allow(rules, path, kRead));
  for (const std::string& path : access.write) TRY(Allow(rules, path, all));
  if (access.gpus) {
    // A driver opens its nodes, and names its threads.
    for (const char* path : {"/dev", "/proc"}) {
      TRY(Allow(rules, path,
                all & (kRead | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kDeviceControl)));
    }
  }
  return {};
}

}  // namespace

int LandlockVersion() {
  const long version =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version < 0 ? 0 : static_cast<int>(version);
}

base::Result<> RestrictFiles(const Access& access) {
  const int version = LandlockVersion();
  if (version <= 0) return Failed("this kernel has none");
  Attributes attributes;
  attributes.files = AllOf(version);
  std::size_t size = sizeof attributes.files;
  if (version >= 4) {
    attributes.network = kTcp;
    size = offsetof(Attributes, scope);
  }
  if (version >= 6) {
    attributes.scope = kScope;
    size = sizeof attributes;
  }
  const int rules = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0));
  if (rules < 0) return Failed("no ruleset");
  auto done = AllowAll(rules, access, attributes.files);
  if (done && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) done = Failed("no_new_privs");
  if (done && ::syscall(SYS_landlock_restrict_self, rules, 0) != 0) done = Failed("restrict_self");
  ::close(rules);
  return done;
}

}  // namespace cupilot::worker
