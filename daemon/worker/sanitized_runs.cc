#include "worker/sanitized_runs.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/child.h"
#include "base/file.h"
#include "worker/arena.h"
#include "worker/child.h"
#include "worker/runner.h"

extern char** environ;

namespace cupilot::worker {
namespace {

using records::Json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kMostOutput = 1 << 20;
constexpr int kErrorsFound = 86;  // the exit code that says so

}  // namespace

// One tool around one runner, which gets all its requests at once and ends with them.
class SanitizedRuns::Process {
 public:
  Process(const Subject& subject, const SanitizerTool& tool, pid_t group, milliseconds limit)
      : tool_(tool),
        folder_(subject.scratch + "/" + tool.name + base::UniqueSuffix()),
        limit_(limit) {
    const auto started = Start(subject, group);
    if (!started) failed_ = started.error().message;
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {  // after its group was ended
    if (pid_ > 0) base::WaitForEnd(pid_);
    if (output_ >= 0) ::close(output_);
    (void)base::RemoveTree(folder_);
  }

  SanitizedRun Wait() {
    SanitizedRun run;
    run.tool = &tool_;
    const int status = failed_.empty() ? ReadToTheEnd() : -1;
    run.failed = failed_;
    run.late = late_;
    if (!run.failed.empty()) return run;
    const auto log = base::ReadFile(log_);
    if (log) run.error = FirstError(tool_, *log);
    if (!run.error.empty()) return run;
    // What the runner says counts where the tool has nothing to say: nothing ran, or not to the
    // end.
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (!log) {
      run.failed = "it left no log";
    } else if (code != 0 && code != kErrorsFound) {
      run.failed = "it exited with " + std::to_string(code);
    } else {
      run.failed = WhyNotRun();
    }
    return run;
  }

 private:
  base::Result<> Start(const Subject& subject, pid_t group) {
    if (group < 0) return base::Fail(base::Unavailable("no process"));
    TRY(base::MakeFolders(folder_));
    TRY_ASSIGN(arena_, Arena::Create(static_cast<std::size_t>(subject.layout.bytes)));
    PrepareArena(subject.layout, subject.inputs, Before{}, arena_->bytes());
    int to_child[2], from_child[2];
    if (::pipe2(to_child, O_CLOEXEC) != 0) return base::Fail(base::IoError("pipe"));
    if (::pipe2(from_child, O_CLOEXEC) != 0) {
      ::close(to_child[0]);
      ::close(to_child[1]);
      return base::Fail(base::IoError("pipe"));
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to_child[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from_child[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, arena_->descriptor(), 3);
    // Errors alone: a warning is no proof, nor is what a call of the driver refuses.
    std::vector<std::string> words = {subject.sanitizer,
                                      "--tool",
                                      tool_.name,
                                      "--print-level",
                                      "error",
                                      "--report-api-errors",
                                      "no",
                                      "--print-limit",
                                      "1",
                                      "--error-exitcode",
                                      std::to_string(kErrorsFound),
                                      "--log-file",
                                      log_};
    // Parts of the tool that are loaded into the runner lie beside its program's folder.
    const auto toolkit = std::filesystem::path(subject.sanitizer).parent_path().parent_path();
    const auto runner = RunnerWords(subject.device, {subject.artifact}, {toolkit.string()});
    words.insert(words.end(), runner.begin(), runner.end());
    const auto pid = StartChild(std::move(words), actions, group, Environment());
    posix_spawn_file_actions_destroy(&actions);
    ::close(to_child[0]);
    ::close(from_child[1]);
    output_ = from_child[0];
    if (pid) {
      pid_ = *pid;
      Tell(to_child[1], subject);
    }
    ::close(to_child[1]);
    return pid ? base::Result<>() : base::Fail(pid.error());
  }

  // A tool that is ended leaves what it has made in the folder for temporary files.
  std::vector<std::string> Environment() const {
    std::vector<std::string> variables = {"TMPDIR=" + folder_};
    for (char** variable = environ; *variable != nullptr; ++variable) {
      if (!std::string_view(*variable).starts_with("TMPDIR=")) variables.emplace_back(*variable);
    }
    return variables;
  }

  // Who does not read it to the end has ended, which Wait() sees.
  void Tell(int input, const Subject& subject) const {
    const std::string requests =
        LoadRequest(subject.device, arena_->bytes().size(), {subject.artifact}).dump() + "\n" +
        Json{{"op", "run"},
             {"module", 0},
             {"program", subject.program},
             {"bytes", subject.layout.bytes}}
            .dump() +
        "\n";
    for (std::size_t sent = 0; sent < requests.size();) {
      const ssize_t n = ::write(input, requests.data() + sent, requests.size() - sent);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return;
      sent += static_cast<std::size_t>(n);
    }
  }

  // Its status as of waitpid().
  int ReadToTheEnd() {
    for (;;) {
      const auto left = std::chrono::duration_cast<milliseconds>(deadline_ - steady_clock::now());
      pollfd poll{output_, POLLIN, 0};
      const int ready = left.count() <= 0 ? 0 : ::poll(&poll, 1, static_cast<int>(left.count()));
      if (ready < 0 && errno == EINTR) continue;
      if (ready == 0) {
        failed_ = "it did not end within " + std::to_string(limit_.count()) + " ms";
        late_ = true;
        return -1;
      }
      if (said_.size() > kMostOutput) {
        failed_ = "the process sent what is no reply";
        return -1;
      }
      std::array<char, 4096> buffer;
      const ssize_t n = ::read(output_, buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      said_.append(buffer.data(), static_cast<std::size_t>(n));
    }
    const int status = base::WaitForEnd(pid_);
    pid_ = -1;
    return status;
  }

  // The runner's second reply is that of the run.
  std::string WhyNotRun() const {
    std::size_t begin = 0;
    for (int replies = 0;; ++replies) {
      const std::size_t end = said_.find('\n', begin);
      if (end == std::string::npos) return "the program did not run";
      const auto reply = records::ParseJson(said_.substr(begin, end - begin));
      if (!reply || !reply->is_object()) return "the process sent what is no reply";
      if (reply->contains("error")) return reply->value("error", "");
      if (replies == 1) return {};
      begin = end + 1;
    }
  }

  const SanitizerTool& tool_;
  const std::string folder_;  // of its own, for all that it writes
  const std::string log_ = folder_ + "/log";
  const milliseconds limit_;
  const steady_clock::time_point deadline_ = steady_clock::now() + limit_;
  std::optional<Arena> arena_;
  pid_t pid_ = -1;
  int output_ = -1;
  std::string said_, failed_;
  bool late_ = false;
};

SanitizedRuns::SanitizedRuns(const Subject& subject, const std::vector<const SanitizerTool*>& tools,
                             milliseconds limit) {
  for (const SanitizerTool* tool : tools) {
    processes_.push_back(std::make_unique<Process>(subject, *tool, group_.id(), limit));
  }
}

SanitizedRuns::~SanitizedRuns() { group_.Kill(); }

std::vector<SanitizedRun> SanitizedRuns::Wait() {
  std::vector<SanitizedRun> runs;
  runs.reserve(processes_.size());
  for (const auto& process : processes_) runs.push_back(process->Wait());
  return runs;
}

}  // namespace cupilot::worker
