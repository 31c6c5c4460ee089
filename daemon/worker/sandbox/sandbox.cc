#include "worker/sandbox/sandbox.h"

#include <fcntl.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace cupilot::worker {
namespace {

constexpr int kDenied[] = {SCMP_SYS(execve),
                           SCMP_SYS(execveat),
                           SCMP_SYS(ptrace),
                           SCMP_SYS(process_vm_readv),
                           SCMP_SYS(process_vm_writev),
                           SCMP_SYS(socket),
                           SCMP_SYS(connect),
                           SCMP_SYS(bind),
                           SCMP_SYS(unlink),
                           SCMP_SYS(unlinkat),
                           SCMP_SYS(rename),
                           SCMP_SYS(renameat),
                           SCMP_SYS(renameat2),
                           SCMP_SYS(mkdir),
                           SCMP_SYS(mkdirat),
                           SCMP_SYS(chmod),
                           SCMP_SYS(fchmodat),
                           SCMP_SYS(link),
                           SCMP_SYS(linkat),
                           SCMP_SYS(symlink),
                           SCMP_SYS(symlinkat),
                           SCMP_SYS(truncate),
                           SCMP_SYS(mount),
                           SCMP_SYS(kill),
                           SCMP_SYS(fork),
                           SCMP_SYS(vfork),
                           SCMP_SYS(creat),
                           SCMP_SYS(bpf)};

// Bytes of address space that the process has mapped; 0 if the system does not tell.
std::size_t MappedBytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0;
  statm >> pages;
  return statm ? pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace

base::Result<> LimitResources(std::size_t address_space_bytes) {
  const rlimit none{0, 0};
  const rlim_t most = MappedBytes() + address_space_bytes;
  const rlimit address{most, most};
  if (::setrlimit(RLIMIT_CORE, &none) != 0 || ::setrlimit(RLIMIT_AS, &address) != 0 ||
      ::setrlimit(RLIMIT_FSIZE, &none) != 0) {
    return base::Fail(base::Unavailable(std::string("setrlimit: ") + std::strerror(errno)));
  }
  return {};
}

base::Result<> ConfineRunner(Confinement confinement) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return base::Fail(base::Unavailable(std::string("no_new_privs: ") + std::strerror(errno)));
  }
  scmp_filter_ctx filter = ::seccomp_init(SCMP_ACT_ALLOW);
  if (filter == nullptr) return base::Fail(base::Unavailable("seccomp: no filter"));
  const std::uint32_t refuse = SCMP_ACT_ERRNO(EPERM);
  int error = 0;
  for (const int call : kDenied) error |= ::seccomp_rule_add(filter, refuse, call, 0);
  for (const int mode : {O_WRONLY, O_RDWR}) {
    if (confinement == Confinement::kGpu) break;
    const auto bits = static_cast<scmp_datum_t>(mode);
    error |= ::seccomp_rule_add(filter, refuse, SCMP_SYS(open), 1,
                                SCMP_A1(SCMP_CMP_MASKED_EQ, O_ACCMODE, bits));
    error |= ::seccomp_rule_add(filter, refuse, SCMP_SYS(openat), 1,
                                SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE, bits));
  }
  if (error == 0) error = ::seccomp_load(filter);
  ::seccomp_release(filter);
  if (error != 0) {
    return base::Fail(base::Unavailable(std::string("seccomp: ") + std::strerror(-error)));
  }
  return {};
}

std::string DescribeSandbox() { return "seccomp, resource limits"; }

}  // namespace cupilot::worker
