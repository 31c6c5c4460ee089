// Which system calls a confined process may make.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "tests/daemon/worker/sandbox/confined_child.h"
#include "worker/sandbox/filter.h"
#include "worker/sandbox/sandbox.h"

namespace cupilot::worker {
namespace {

using test::InChild;

int As(Confined role, int (*act)()) {
  return InChild([role] { return FilterCalls(role).has_value(); }, act);
}

int ErrnoUnless(bool done) { return done ? 0 : errno; }

int OpensSocket() { return ErrnoUnless(::socket(AF_INET, SOCK_STREAM, 0) >= 0); }
int OpensForWriting() { return ErrnoUnless(::open("/dev/null", O_WRONLY) >= 0); }
int Reads() { return ErrnoUnless(::open("/dev/null", O_RDONLY) >= 0); }
int Unlinks() { return ErrnoUnless(::unlink("/nowhere/at/all") == 0); }
int SignalsParent() { return ErrnoUnless(::kill(::getppid(), 0) == 0); }
int StartsProgram() {
  ::execl("/bin/true", "/bin/true", nullptr);
  return errno;
}
int Forks() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  return ErrnoUnless(child > 0);
}
int StartsThread() {
  pthread_t thread;
  const int error =
      ::pthread_create(&thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr);
  if (error == 0) ::pthread_join(thread, nullptr);
  return error;
}
// What could do the rest unseen.
int OpensRing() { return ErrnoUnless(::syscall(SYS_io_uring_setup, 1, nullptr) >= 0); }

TEST(Filter, NobodyHasTheNetwork) {
  for (const Confined role :
       {Confined::kParser, Confined::kCompiler, Confined::kCandidate, Confined::kGpuCandidate}) {
    EXPECT_EQ(As(role, &OpensSocket), EPERM);
    EXPECT_EQ(As(role, &OpensRing), EPERM);
    EXPECT_EQ(As(role, &Reads), 0);
    EXPECT_EQ(As(role, &StartsThread), 0);
  }
}
TEST(Filter, ParsersAndCandidatesOnlyReadAndCompute) {
  for (const Confined role : {Confined::kParser, Confined::kCandidate}) {
    EXPECT_EQ(As(role, &OpensForWriting), EPERM);
    EXPECT_EQ(As(role, &Unlinks), EPERM);
    EXPECT_EQ(As(role, &SignalsParent), EPERM);
    EXPECT_EQ(As(role, &StartsProgram), EPERM);
    EXPECT_EQ(As(role, &Forks), EPERM);
  }
}
TEST(Filter, CompilersStartProgramsAndWrite) {
  EXPECT_EQ(As(Confined::kCompiler, &OpensForWriting), 0);
  EXPECT_EQ(As(Confined::kCompiler, &Unlinks), ENOENT);
  EXPECT_EQ(As(Confined::kCompiler, &StartsProgram), 0);
  EXPECT_EQ(As(Confined::kCompiler, &Forks), 0);
}
TEST(Filter, AGpusProcessOpensDevicesButStartsNothing) {
  EXPECT_EQ(As(Confined::kGpuCandidate, &OpensForWriting), 0);
  EXPECT_EQ(As(Confined::kGpuCandidate, &StartsProgram), EPERM);
  EXPECT_EQ(As(Confined::kGpuCandidate, &Forks), EPERM);
}
TEST(Filter, HoldsForThreadsThatAreThereAlready) {
  const int result =
      InChild([] { return true; },
              [] {
                static int ready[2], answer[2];
                if (::pipe(ready) != 0 || ::pipe(answer) != 0) return 1;
                pthread_t thread;
                ::pthread_create(
                    &thread, nullptr,
                    [](void*) -> void* {
                      char byte = 0;
                      if (::read(ready[0], &byte, 1) != 1) return nullptr;
                      byte = static_cast<char>(OpensSocket());
                      (void)!::write(answer[1], &byte, 1);
                      return nullptr;
                    },
                    nullptr);
                if (!FilterCalls(Confined::kCandidate)) return 100;
                char byte = 0;
                if (::write(ready[1], &byte, 1) != 1 || ::read(answer[0], &byte, 1) != 1) return 2;
                ::pthread_join(thread, nullptr);
                return static_cast<int>(byte);
              });
  EXPECT_EQ(result, EPERM);
}

TEST(Limits, FilesAndMemory) {
  const auto limited = [](ResourceLimits limits, int (*act)()) {
    return InChild([limits] { return LimitResources(limits).has_value(); }, act);
  };
  const auto maps = [] {
    return ErrnoUnless(::mmap(nullptr, std::size_t{1} << 30, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
  };
  EXPECT_EQ(limited({std::size_t{4} << 30, 0, 0}, maps), 0);
  EXPECT_EQ(limited({std::size_t{1} << 20, 0, 0}, maps), ENOMEM);
}
// In a process that ignores the signal, as runs do, and in one that does not.
TEST(Limits, AFileThatIsTooLarge) {
  const auto grows = [] { return ErrnoUnless(::ftruncate(::memfd_create("", 0), 2) == 0); };
  const auto as = [&](void (*action)(int), std::size_t bytes) {
    return InChild(
        [=] {
          ::signal(SIGXFSZ, action);
          return LimitResources({0, bytes, 0}).has_value();
        },
        grows);
  };
  EXPECT_EQ(as(SIG_IGN, 2), 0);
  EXPECT_EQ(as(SIG_IGN, 1), EFBIG);
  EXPECT_EQ(as(SIG_IGN, 0), EFBIG);
  EXPECT_EQ(as(SIG_DFL, 1), 200 + SIGXFSZ);
}

// How many `starts_one` starts, up to a thousand.
template <class StartsOne>
int CountStarted(StartsOne starts_one) {
  int started = 0;
  while (started < 1000 && starts_one()) ++started;
  return started;
}

// A fork bomb. Root has no such limit, so that it is another user's here.
TEST(Limits, ProcessesThatStartProcesses) {
  constexpr int kMore = 20, kNoOtherUser = 99;
  const int result = InChild(
      [] {
        constexpr uid_t kNobody = 65534;
        return ::geteuid() != 0 || ::setuid(kNobody) == 0;
      },
      [] {
        if (::geteuid() == 0) return kNoOtherUser;
        if (!LimitResources({0, 0, TasksOfUser() + kMore})) return kNoOtherUser;
        const int started = CountStarted([] {
          const pid_t child = ::fork();
          if (child != 0) return child > 0;
          ::prctl(PR_SET_PDEATHSIG, SIGKILL);
          if (::getppid() == 1) ::_exit(0);
          for (;;) ::pause();
        });
        // The user's other processes come and go.
        return errno == EAGAIN && started < 1000 ? 0 : 1;
      });
  if (result == 100 || result == kNoOtherUser) GTEST_SKIP() << "root cannot become another user";
  EXPECT_EQ(result, 0);
}

// Runs may start threads, but no more than have room: a candidate on the host has no limit on tasks
// of its own, and no processes.
TEST(Limits, ThreadsNeedRoom) {
  const int result = InChild(
      [] {
        return LimitResources({std::size_t{1} << 30, 0, 0}).has_value() &&
               FilterCalls(Confined::kCandidate).has_value();
      },
      [] {
        pthread_attr_t attributes;
        ::pthread_attr_init(&attributes);
        ::pthread_attr_setstacksize(&attributes, std::size_t{8} << 20);
        const int started = CountStarted([&] {
          pthread_t thread;
          return ::pthread_create(
                     &thread, &attributes, [](void*) -> void* { return ::pause(), nullptr; },
                     nullptr) == 0;
        });
        return started < 1000 / 8 + 8 ? 0 : 1;
      });
  EXPECT_EQ(result, 0);
}
TEST(Limits, TasksAreCounted) { EXPECT_GE(TasksOfUser(), 1u); }

}  // namespace
}  // namespace cupilot::worker
