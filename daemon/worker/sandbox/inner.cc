#include "worker/sandbox/inner.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <utility>
#include <vector>

#include "base/child.h"
#include "base/file.h"
#include "records/json.h"
#include "worker/child.h"
#include "worker/compiler_answers.h"
#include "worker/error_reply.h"
#include "worker/sandbox/bubblewrap.h"
#include "worker/sandbox/request_access.h"
#include "worker/sandbox/sandbox.h"

extern char** environ;

namespace cupilot::worker {
namespace {

using records::Json;

// Far more than a parse or a compile takes, and less than what would stop the machine.
constexpr std::size_t kAddressSpace = std::size_t{32} << 30;
constexpr std::size_t kFileBytes = std::size_t{2} << 30;
constexpr std::size_t kMoreTasks = 4096;

// Its two ends of pipes, and itself.
class Inner {
 public:
  static base::Result<Inner> Start(const std::string& kind, const Access& access);
  Inner(Inner&& other) noexcept
      : child_(std::exchange(other.child_, {})),
        requests_(std::exchange(other.requests_, nullptr)),
        replies_(std::exchange(other.replies_, nullptr)),
        access_(std::move(other.access_)) {}
  Inner& operator=(Inner&&) = delete;
  ~Inner() { (void)End(); }

  const Access& access() const { return access_; }

  // False: it has died.
  bool Exchange(const std::string& request, std::string& reply) {
    if (std::fwrite(request.data(), 1, request.size(), requests_) != request.size() ||
        std::fputc('\n', requests_) == EOF || std::fflush(requests_) != 0) {
      return false;
    }
    char* line = nullptr;
    std::size_t room = 0;
    const ssize_t length = ::getline(&line, &room, replies_);
    if (length > 0) reply.assign(line, static_cast<std::size_t>(length));
    std::free(line);
    return length > 0 && reply.back() == '\n';
  }

  // Its status as of waitpid().
  int End() {
    if (requests_ != nullptr) std::fclose(requests_);
    if (replies_ != nullptr) std::fclose(replies_);
    requests_ = replies_ = nullptr;
    return child_ ? std::exchange(child_, {}).Wait() : 0;
  }

 private:
  Inner(pid_t pid, int requests, int replies, Access access)
      : child_(pid),
        requests_(::fdopen(requests, "w")),
        replies_(::fdopen(replies, "r")),
        access_(std::move(access)) {}

  base::ReapedChild child_;
  std::FILE* requests_;
  std::FILE* replies_;
  Access access_;
};

struct Pipe {
  int ends[2] = {-1, -1};
  bool Open() { return ::pipe2(ends, O_CLOEXEC) == 0; }
  void Close(int end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
};

// Ours, with a place for temporary files that it may write.
std::vector<std::string> EnvironmentFor(const Access& access) {
  std::vector<std::string> variables;
  const std::string folder = TemporaryFolder(access);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const bool replaced = !folder.empty() && std::string_view(*variable).starts_with("TMPDIR=");
    if (!replaced) variables.emplace_back(*variable);
  }
  if (!folder.empty()) variables.push_back("TMPDIR=" + folder);
  return variables;
}

base::Result<Inner> Inner::Start(const std::string& kind, const Access& access) {
  if (const std::string folder = TemporaryFolder(access); !folder.empty()) {
    TRY(base::MakeFolders(folder));
  }
  Pipe requests, replies;
  if (!requests.Open() || !replies.Open()) {
    requests.Close(0);
    requests.Close(1);
    return base::Fail(base::IoError("pipe"));
  }
  Json argument = ToJson(access);
  argument["tasks"] = TasksOfUser() + kMoreTasks;
  std::vector<std::string> words = WordsAround(access, "/");
  words.insert(words.end(), {base::ExecutableFolder() + "/cupilot-worker", "--kind", kind,
                             "--access", argument.dump()});
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, requests.ends[0], 0);
  posix_spawn_file_actions_adddup2(&actions, replies.ends[1], 1);
  const auto pid = StartChild(std::move(words), actions, std::nullopt, EnvironmentFor(access));
  posix_spawn_file_actions_destroy(&actions);
  requests.Close(0);
  replies.Close(1);
  if (!pid) {
    requests.Close(1);
    replies.Close(0);
    return base::Fail(pid.error());
  }
  return Inner(*pid, requests.ends[1], replies.ends[0], access);
}

[[noreturn]] void EndLike(int status) {
  if (const int signal = SignalOf(status); signal != 0) {
    ::signal(signal, SIG_DFL);
    ::raise(signal);
  }
  ::_exit(WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : 1);
}

}  // namespace

int ServeFromInside(const std::string& kind) {
  ::signal(SIGPIPE, SIG_IGN);
  std::optional<Inner> inner;
  RecentAccess accesses(kind);
  CompilerAnswers compilers;
  for (std::string line; std::getline(std::cin, line);) {
    auto request = records::ParseJson(line);
    if (request && kind == "source" && compilers.AddTo(*request)) line = LineOf(*request);
    const Access& needs = accesses.Of(request ? *request : Json());
    if (!inner || !Covers(inner->access(), needs)) {
      inner.reset();
      auto started = Inner::Start(kind, needs);
      if (!started) {
        std::cout << LineOf(ErrorReply(request, started.error())) << std::endl;
        continue;
      }
      inner.emplace(std::move(*started));
    }
    std::string reply;
    if (!inner->Exchange(line, reply)) EndLike(inner->End());
    std::cout << reply << std::flush;
  }
  return 0;
}

base::Result<> BecomeInner(const std::string& kind, const std::string& access) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // If the parent has ended before that, the input ends and this process with it.
  TRY_ASSIGN(const Json json, records::ParseJson(access));
  TRY_ASSIGN(const Access allowed, ParseAccess(json));
  ResourceLimits limits;
  limits.address_space_bytes = kAddressSpace;
  limits.file_bytes = kind == "build" ? kFileBytes : 0;
  limits.tasks = json.value("tasks", std::size_t{0});
  TRY(LimitResources(limits));
  TRY(ConfineFiles(allowed));
  return FilterCalls(kind == "build" ? Confined::kCompiler : Confined::kParser);
}

}  // namespace cupilot::worker
