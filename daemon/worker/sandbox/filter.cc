#include "worker/sandbox/filter.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace cupilot::worker {
namespace {

bool filtered = false;  // of this process; set once, before its other threads

// The network, other processes' memory, the machine; io_uring does what a filter cannot see.
constexpr int kNobody[] = {SCMP_SYS(socket),
                           SCMP_SYS(connect),
                           SCMP_SYS(bind),
                           SCMP_SYS(listen),
                           SCMP_SYS(accept),
                           SCMP_SYS(accept4),
                           SCMP_SYS(ptrace),
                           SCMP_SYS(process_vm_readv),
                           SCMP_SYS(process_vm_writev),
                           SCMP_SYS(pidfd_getfd),
                           SCMP_SYS(mount),
                           SCMP_SYS(umount2),
                           SCMP_SYS(pivot_root),
                           SCMP_SYS(chroot),
                           SCMP_SYS(setns),
                           SCMP_SYS(unshare),
                           SCMP_SYS(bpf),
                           SCMP_SYS(perf_event_open),
                           SCMP_SYS(add_key),
                           SCMP_SYS(request_key),
                           SCMP_SYS(keyctl),
                           SCMP_SYS(open_by_handle_at),
                           SCMP_SYS(userfaultfd),
                           SCMP_SYS(io_uring_setup),
                           SCMP_SYS(io_uring_enter),
                           SCMP_SYS(io_uring_register),
                           SCMP_SYS(init_module),
                           SCMP_SYS(finit_module),
                           SCMP_SYS(delete_module),
                           SCMP_SYS(kexec_load),
                           SCMP_SYS(reboot)};

// Programs, processes, names of files.
constexpr int kCompilersOnly[] = {SCMP_SYS(execve),
                                  SCMP_SYS(execveat),
                                  SCMP_SYS(fork),
                                  SCMP_SYS(vfork),
                                  SCMP_SYS(kill),
                                  SCMP_SYS(tkill),
                                  SCMP_SYS(pidfd_send_signal),
                                  SCMP_SYS(unlink),
                                  SCMP_SYS(unlinkat),
                                  SCMP_SYS(rename),
                                  SCMP_SYS(renameat),
                                  SCMP_SYS(renameat2),
                                  SCMP_SYS(mkdir),
                                  SCMP_SYS(mkdirat),
                                  SCMP_SYS(rmdir),
                                  SCMP_SYS(chmod),
                                  SCMP_SYS(fchmod),
                                  SCMP_SYS(fchmodat),
                                  SCMP_SYS(chown),
                                  SCMP_SYS(fchown),
                                  SCMP_SYS(lchown),
                                  SCMP_SYS(fchownat),
                                  SCMP_SYS(link),
                                  SCMP_SYS(linkat),
                                  SCMP_SYS(symlink),
                                  SCMP_SYS(symlinkat),
                                  SCMP_SYS(mknod),
                                  SCMP_SYS(mknodat),
                                  SCMP_SYS(truncate),
                                  SCMP_SYS(creat)};

class Filter {
 public:
  Filter() : context_(::seccomp_init(SCMP_ACT_ALLOW)) {}
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;
  ~Filter() {
    if (context_ != nullptr) ::seccomp_release(context_);
  }
  bool made() const { return context_ != nullptr; }

  void Refuse(int call) { Add(::seccomp_rule_add(context_, kRefuse, call, 0)); }
  // Where the bits `mask` of argument `index` are `value`.
  void RefuseWhere(int call, unsigned index, scmp_datum_t mask, scmp_datum_t value) {
    const scmp_arg_cmp condition{index, SCMP_CMP_MASKED_EQ, mask, value};
    Add(::seccomp_rule_add_array(context_, kRefuse, call, 1, &condition));
  }
  // As if the kernel were older: who calls it takes the older call.
  void Hide(int call) { Add(::seccomp_rule_add(context_, SCMP_ACT_ERRNO(ENOSYS), call, 0)); }

  int Load() {
    if (error_ == 0) error_ = ::seccomp_attr_set(context_, SCMP_FLTATR_CTL_TSYNC, 1);
    return error_ == 0 ? ::seccomp_load(context_) : error_;
  }

 private:
  static constexpr std::uint32_t kRefuse = SCMP_ACT_ERRNO(EPERM);
  void Add(int error) {
    if (error_ == 0) error_ = error;
  }

  scmp_filter_ctx context_;
  int error_ = 0;
};

void RefuseWriting(Filter& filter) {
  for (const int mode : {O_WRONLY, O_RDWR}) {
    filter.RefuseWhere(SCMP_SYS(open), 1, O_ACCMODE, static_cast<scmp_datum_t>(mode));
    filter.RefuseWhere(SCMP_SYS(openat), 2, O_ACCMODE, static_cast<scmp_datum_t>(mode));
  }
  filter.Hide(SCMP_SYS(openat2));
}

// Threads, but no processes. What a filter cannot look into (clone3) does not exist.
void RefuseProcesses(Filter& filter) {
  filter.RefuseWhere(SCMP_SYS(clone), 0, CLONE_THREAD, 0);
  filter.Hide(SCMP_SYS(clone3));
}

}  // namespace

base::Result<> FilterCalls(Confined role) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return base::Fail(base::Unavailable(std::string("no_new_privs: ") + std::strerror(errno)));
  }
  Filter filter;
  if (!filter.made()) return base::Fail(base::Unavailable("seccomp: no filter"));
  for (const int call : kNobody) filter.Refuse(call);
  if (role != Confined::kCompiler) {
    for (const int call : kCompilersOnly) filter.Refuse(call);
  }
  if (role != Confined::kCompiler) RefuseProcesses(filter);
  if (role == Confined::kParser || role == Confined::kCandidate) RefuseWriting(filter);
  if (const int error = filter.Load(); error != 0) {
    return base::Fail(base::Unavailable(std::string("seccomp: ") + std::strerror(-error)));
  }
  filtered = true;
  return {};
}

}  // namespace cupilot::worker

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
// The search for leaks at a process's end is done by a second process that traces it: no filtered
// process may be asked for it.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the sanitizer's own name.
extern "C" int __lsan_is_turned_off() { return cupilot::worker::filtered ? 1 : 0; }
#endif
#endif
