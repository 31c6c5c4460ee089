#include "client/bench/timed_run.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string_view>

#include "base/child.h"
#include "base/file.h"
#include "client/bench/kernel_time.h"

extern char** environ;

namespace cupilot::client {
namespace {

constexpr off_t kMostErrors = 2000;  // bytes of standard error that are kept

// A file of our own that goes with this object.
class ScratchFile {
 public:
  static base::Result<ScratchFile> Make() {
    std::error_code ignored;
    ScratchFile file;
    file.path_ = std::filesystem::temp_directory_path(ignored).string() + "/cupilot-bench-XXXXXX";
    file.descriptor_ = ::mkostemp(file.path_.data(), O_CLOEXEC | O_APPEND);
    if (file.descriptor_ < 0) {
      return base::Fail(
          base::IoError("no file can be made at " + file.path_ + ": " + std::strerror(errno)));
    }
    return file;
  }
  ScratchFile(ScratchFile&& other) noexcept
      : path_(std::move(other.path_)), descriptor_(other.descriptor_) {
    other.descriptor_ = -1;
  }
  ScratchFile& operator=(ScratchFile&&) = delete;
  ~ScratchFile() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    RemoveName();
  }

  // It goes then with its descriptors, however this process ends.
  void RemoveName() {
    if (!path_.empty()) ::unlink(path_.c_str());
    path_.clear();
  }
  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }
  std::string End() const {
    const off_t size = ::lseek(descriptor_, 0, SEEK_END);
    std::string text(static_cast<std::size_t>(std::clamp<off_t>(size, 0, kMostErrors)), '\0');
    const ssize_t got =
        ::pread(descriptor_, text.data(), text.size(), std::max<off_t>(size - kMostErrors, 0));
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return text;
  }

 private:
  ScratchFile() = default;
  std::string path_;
  int descriptor_ = -1;
};

// Ours, but for what says which kernels run as what.
std::vector<std::string> EnvironmentFor(const Variation& variation, const std::string& counts,
                                        const std::map<std::string, std::string>& clock) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with("CUPILOT_DISABLE=") || text.starts_with("CUPILOT_STATS=")) continue;
    environment.emplace_back(text);
  }
  if (variation.originals) {
    environment.emplace_back("CUPILOT_DISABLE=1");
  } else if (!variation.without.empty()) {
    environment.push_back("CUPILOT_DISABLE=" + variation.without);
  }
  if (variation.counts) environment.push_back("CUPILOT_STATS=" + counts);
  for (const auto& [name, value] : clock) {
    std::erase_if(environment,
                  [&](const std::string& entry) { return entry.starts_with(name + "="); });
    environment.push_back(name);
    environment.back().append("=").append(value);
  }
  return environment;
}

// What the child's descriptors are: nothing to read, nothing printed, its errors in the file.
class Descriptors {
 public:
  explicit Descriptors(int errors) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
  }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;
  ~Descriptors() { posix_spawn_file_actions_destroy(&actions_); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// The program gets SIGPIPE as it would from a shell: we ignore it ourselves.
class Attributes {
 public:
  Attributes() {
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

bool ReadNumber(std::string_view text, std::int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && out >= 0;
}

std::vector<std::string_view> SplitAt(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

std::vector<KernelCounts> ParseCounts(const std::string& text) {
  std::vector<KernelCounts> all;
  for (const std::string_view line : SplitAt(text, '\n')) {
    const std::vector<std::string_view> fields = SplitAt(line, '\t');
    KernelCounts one;
    if (fields.size() < 5 || fields[0].empty() || !ReadNumber(fields[1], one.tuned) ||
        !ReadNumber(fields[2], one.outside) || !ReadNumber(fields[3], one.captured)) {
      continue;
    }
    one.kernel = fields[0];
    one.on_host = fields[4] == "host";
    const auto known = std::find_if(all.begin(), all.end(), [&](const KernelCounts& other) {
      return other.kernel == one.kernel;
    });
    if (known == all.end()) {
      all.push_back(std::move(one));
      continue;
    }
    known->tuned += one.tuned;
    known->outside += one.outside;
    known->captured += one.captured;
    known->on_host = known->on_host && one.on_host;
  }
  std::stable_sort(all.begin(), all.end(), [](const KernelCounts& a, const KernelCounts& b) {
    return a.tuned != b.tuned ? a.tuned > b.tuned : a.kernel < b.kernel;
  });
  return all;
}

base::Result<TimedRun> RunTimed(const std::vector<std::string>& words, const Variation& variation) {
  TRY_ASSIGN(ScratchFile errors, ScratchFile::Make());
  errors.RemoveName();
  TRY_ASSIGN(ScratchFile counts, ScratchFile::Make());
  if (!variation.counts) counts.RemoveName();
  std::vector<std::string> arguments = words;
  std::optional<KernelClock> clock;
  if (variation.kernel_time) {
    TRY_ASSIGN(KernelClock made, KernelClock::Make());
    clock.emplace(std::move(made));
  }
  std::vector<std::string> environment =
      EnvironmentFor(variation, counts.path(),
                     clock ? clock->environment() : std::map<std::string, std::string>());
  const std::vector<char*> argument_pointers = base::ArgumentPointers(arguments);
  const std::vector<char*> environment_pointers = base::ArgumentPointers(environment);
  const Descriptors descriptors(errors.descriptor());
  const Attributes attributes;
  pid_t pid = 0;
  int status = 0;
  rusage usage{};
  const auto began = std::chrono::steady_clock::now();
  const int refused =
      ::posix_spawnp(&pid, argument_pointers[0], descriptors.get(), attributes.get(),
                     argument_pointers.data(), environment_pointers.data());
  if (refused != 0) {
    const std::string why = std::string("cannot be started: ") + std::strerror(refused);
    return base::Fail(refused == ENOENT || refused == EACCES || refused == ENOEXEC
                          ? base::InvalidArgument(why)
                          : base::Unavailable(why));
  }
  while (::wait4(pid, &status, 0, &usage) < 0) {
    if (errno != EINTR) return base::Fail(base::Internal("wait4: " + std::to_string(errno)));
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;
  TimedRun run;
  run.wall_seconds = wall.count();
  run.user_seconds = static_cast<double>(usage.ru_utime.tv_sec) +
                     static_cast<double>(usage.ru_utime.tv_usec) / 1e6;
  if (status != 0) run.ending = base::EndingText(status);
  run.errors = errors.End();
  if (clock) run.kernel_seconds = clock->Seconds();
  if (variation.counts) run.counts = ParseCounts(base::ReadFile(counts.path()).value_or(""));
  return run;
}

std::string ProgramFile(const std::string& word) {
  std::error_code error;
  if (word.find('/') != std::string::npos) return std::filesystem::canonical(word, error).string();
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : SplitAt(path == nullptr ? "" : path, ':')) {
    const std::string file = std::string(folder.empty() ? "." : folder) + "/" + word;
    if (::access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file, error)) {
      return std::filesystem::canonical(file, error).string();
    }
  }
  return {};
}

}  // namespace cupilot::client
