#include "worker/sanitized_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/child.h"
#include "base/file.h"
#include "worker/child.h"
#include "worker/runner.h"

extern char** environ;

namespace cupilot::worker {
namespace {

using records::Json;
using std::chrono::milliseconds;

constexpr std::size_t kMostOutput = 1 << 20;
constexpr int kErrorsFound = 86;  // the exit code that says so
// While a program runs in a tool, its log is looked at so often: of a kernel with an error in every
// thread a tool has written the first one long before the launch ends (10 s for 67,584 threads).
constexpr milliseconds kLookEvery{50};
constexpr int kReplies = 2;  // to "load" and to "run"
// Of one that is kept: what modules leave behind does not add up.
constexpr int kMostRuns = 50;

// What a tool has written before anything ran, and nothing else: it has found nothing so far, and
// what it finds is not held back until it ends (2025.3.1 has written a report before the launch
// that it is about returns to the program).
bool IsOnlyBanner(const std::string& log) {
  const std::size_t end = log.find('\n');
  return log.starts_with("=========") && end != std::string::npos && end + 1 == log.size();
}

// What workers that were killed have left in the folder for logs: names of entries end with a
// process and two numbers (UniqueSuffix).
void RemoveLeftBehind(const std::string& scratch) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(scratch, ignored)) {
    const std::string name = entry.path().filename().string();
    const std::size_t dot = name.find('.');
    const pid_t pid = dot == std::string::npos ? 0 : std::atoi(name.c_str() + dot + 1);
    if (pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH) (void)base::RemoveTree(entry.path());
  }
}

}  // namespace

SanitizedProcess::SanitizedProcess(const SanitizedSubject& subject, const SanitizerTool& tool)
    : tool_(tool),
      sanitizer_(subject.sanitizer),
      device_(subject.device),
      modules_(std::filesystem::path(subject.artifact).parent_path()),
      folder_(subject.scratch + "/" + tool.name + base::UniqueSuffix()),
      keep_(subject.keep) {
  const auto started = Start(subject);
  if (!started) failed_ = started.error().message;
}

SanitizedProcess::~SanitizedProcess() {
  group_.Kill();
  CloseInput();
  child_.Wait();
  group_.End();
  if (output_ >= 0) ::close(output_);
  (void)base::RemoveTree(folder_);
}

void SanitizedProcess::CloseInput() {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
}

base::Result<> SanitizedProcess::Start(const SanitizedSubject& subject) {
  if (group_.id() < 0) return base::Fail(base::Unavailable("no process"));
  RemoveLeftBehind(subject.scratch);
  TRY(base::MakeFolders(folder_));
  const std::int64_t bytes = subject.layout.bytes;
  const std::int64_t room = keep_ ? std::max(bytes, kSmallForSanitizers) : bytes;
  TRY_ASSIGN(arena_, Arena::Create(static_cast<std::size_t>(room)));
  // Errors alone: a warning is no proof, nor is what a call of the driver refuses.
  std::vector<std::string> words = {sanitizer_,
                                    "--tool",
                                    tool_.name,
                                    "--print-level",
                                    "error",
                                    "--report-api-errors",
                                    "no",
                                    "--show-backtrace",
                                    "device",
                                    "--print-limit",
                                    "1",
                                    "--error-exitcode",
                                    std::to_string(kErrorsFound),
                                    "--log-file",
                                    log_};
  // Parts of the tool that are loaded into the runner lie beside its program's folder.
  const auto toolkit = std::filesystem::path(sanitizer_).parent_path().parent_path();
  const auto runner = RunnerWords(device_, {subject.artifact}, {toolkit.string()});
  words.insert(words.end(), runner.begin(), runner.end());
  TRY_ASSIGN(const SpokenTo child, StartOnArena(std::move(words), arena_->descriptor(),
                                                ErrorOutput::kNowhere, group_.id(), Environment()));
  child_ = base::ReapedChild(child.pid);
  input_ = child.input;
  output_ = child.output;
  return {};
}

// A tool that is ended leaves what it has made in the folder for temporary files.
std::vector<std::string> SanitizedProcess::Environment() const {
  std::vector<std::string> variables = {"TMPDIR=" + folder_};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with("TMPDIR=")) variables.emplace_back(*variable);
  }
  return variables;
}

bool SanitizedProcess::Fits(const SanitizedSubject& subject) const {
  return lives_ && subject.sanitizer == sanitizer_ && subject.device == device_ &&
         std::filesystem::path(subject.artifact).parent_path() == modules_ &&
         static_cast<std::size_t>(subject.layout.bytes) <= arena_->bytes().size();
}

void SanitizedProcess::Begin(const SanitizedSubject& subject, milliseconds limit) {
  limit_ = limit;
  deadline_ = Clock::now() + limit;
  lives_ = false;
  ++runs_;
  said_.clear();
  if (!failed_.empty()) return;
  const auto bytes = static_cast<std::size_t>(subject.layout.bytes);
  PrepareArena(subject.layout, subject.inputs, Before{}, arena_->bytes().first(bytes));
  Json load = LoadRequest(device_, arena_->bytes().size(), {subject.artifact});
  load["memory_bytes"] = bytes;
  Send(load.dump() + "\n" +
       Json{{"op", "run"},
            {"module", 0},
            {"program", subject.program},
            {"bytes", subject.layout.bytes}}
           .dump() +
       "\n");
}

// Who does not read it to the end has ended, which Wait() sees.
void SanitizedProcess::Send(const std::string& requests) const {
  for (std::size_t sent = 0; sent < requests.size();) {
    const ssize_t n = ::write(input_, requests.data() + sent, requests.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    sent += static_cast<std::size_t>(n);
  }
}

SanitizedRun SanitizedProcess::Wait() {
  SanitizedRun run;
  run.tool = &tool_;
  if (failed_.empty()) {
    const bool replied = ReadReplies();
    const auto log = base::ReadFile(log_);
    // With many errors it takes seconds to end. The first one is enough.
    if (log) run.error = FirstError(tool_, *log);
    if (!run.error.empty()) return run;
    lives_ =
        replied && log && keep_ && runs_ < kMostRuns && WhyNotRun().empty() && IsOnlyBanner(*log);
    if (lives_) return run;
  }
  reported_ = false;
  CloseInput();
  const int status = failed_.empty() ? ReadToTheEnd() : -1;
  run.failed = failed_;
  run.late = late_;
  if (!run.failed.empty()) return run;
  const auto log = base::ReadFile(log_);
  if (log) run.error = FirstError(tool_, *log);
  if (!run.error.empty()) return run;
  // What the runner says counts where the tool has nothing to say: nothing ran, or not to the end.
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

// False: nothing more comes, or it is too late or too much for that (`failed_`), or there is an
// error already.
bool SanitizedProcess::ReadMore() {
  for (std::string reported;;) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now());
    pollfd poll{output_, POLLIN, 0};
    const auto wait = std::min(left, kLookEvery);
    // At the limit, too: while another tool was waited for it may have said all that it has to.
    const int ready = ::poll(&poll, 1, std::max(0, static_cast<int>(wait.count())));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 && wait < left) {
      // One that is still being written is looked at once more.
      const auto log = base::ReadFile(log_);
      const std::string error = log ? FirstError(tool_, *log) : "";
      reported_ = !error.empty() && error == std::exchange(reported, error);
      if (reported_) return false;
      continue;
    }
    if (ready == 0) {
      failed_ = "it did not end within " + std::to_string(limit_.count()) + " ms";
      late_ = true;
      return false;
    }
    if (said_.size() > kMostOutput) {
      failed_ = "the process sent what is no reply";
      return false;
    }
    std::array<char, 4096> buffer;
    const ssize_t n = ::read(output_, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    said_.append(buffer.data(), static_cast<std::size_t>(n));
    return true;
  }
}

bool SanitizedProcess::ReadReplies() {
  while (std::count(said_.begin(), said_.end(), '\n') < kReplies) {
    if (!ReadMore()) return false;
  }
  return true;
}

int SanitizedProcess::ReadToTheEnd() {
  while (ReadMore()) {
  }
  if (!failed_.empty() || reported_) return -1;
  return child_.Wait();
}

// The runner's second reply is that of the run.
std::string SanitizedProcess::WhyNotRun() const {
  std::size_t begin = 0;
  for (int replies = 1;; ++replies) {
    const std::size_t end = said_.find('\n', begin);
    if (end == std::string::npos) return "the program did not run";
    const auto reply = records::ParseJson(said_.substr(begin, end - begin));
    if (!reply || !reply->is_object()) return "the process sent what is no reply";
    if (reply->contains("error")) return reply->value("error", "");
    if (replies == kReplies) return {};
    begin = end + 1;
  }
}

}  // namespace cupilot::worker
