#include "client/watch/session.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "client/watch/feed.h"
#include "client/watch/keys.h"
#include "client/watch/terminal.h"

namespace cupilot::client {
namespace {

using std::chrono::milliseconds;

// After Escape: the rest of a sequence comes at once, over a network a little later.
constexpr milliseconds kEscapeTime{100};
constexpr std::int64_t kHour = 3600;
// A pause has no end of its own: the longest snooze that the daemon takes.
constexpr std::int64_t kYear = 365 * 24 * kHour;
constexpr int kPlainColumns = 120;

bool Readable(int file) {
  pollfd item{file, POLLIN, 0};
  return ::poll(&item, 1, 0) > 0;
}

// Standard output where its reader can be seen to end; -1: it cannot.
int WatchedOutput() {
  struct stat status{};
  return ::fstat(STDOUT_FILENO, &status) == 0 && S_ISFIFO(status.st_mode) ? STDOUT_FILENO : -1;
}

bool ReaderIsGone(int output) {
  pollfd item{output, 0, 0};
  return output >= 0 && ::poll(&item, 1, 0) > 0;
}

// The signals that matter here come as something to read.
class Signals {
 public:
  static base::Result<Signals> Take() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH}) {
      sigaddset(&set, number);
    }
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    const int file = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (file < 0) return base::Fail(base::IoError(std::string("signals: ") + std::strerror(errno)));
    return Signals(file);
  }
  Signals(Signals&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Signals& operator=(Signals&&) = delete;
  ~Signals() {
    if (file_ >= 0) ::close(file_);
  }

  int file() const { return file_; }
  // The next one; 0: none.
  int Next() {
    signalfd_siginfo info{};
    const ssize_t count = ::read(file_, &info, sizeof info);
    return count == static_cast<ssize_t>(sizeof info) ? static_cast<int>(info.ssi_signo) : 0;
  }

 private:
  explicit Signals(int file) : file_(file) {}
  int file_;
};

class Session {
 public:
  Session(Connection connection, const std::string& folder, Signals signals)
      : feed_(std::move(connection), folder, state_), signals_(std::move(signals)) {}

  base::Result<> Run(const std::string& notice) {
    state_.notice = notice;
    TRY(terminal_.Enter());
    while (!ended_) {
      if (!terminal_.Draw(Picture(state_, size_, charset_))) return {};
      const std::array<int, 2> files = {STDIN_FILENO, signals_.file()};
      feed_.Wait(files, keys_.pending() ? kEscapeTime : milliseconds(-1));
      HandleSignals();
      FollowSize();
      if (!ended_) HandleKeys();
    }
    terminal_.Leave();
    return {};
  }

 private:
  void HandleSignals() {
    for (int number = signals_.Next(); number != 0; number = signals_.Next()) {
      if (number == SIGTSTP) {
        // As a shell expects it: it gets its terminal back until we go on.
        terminal_.Leave();
        ::raise(SIGSTOP);
        if (!terminal_.Enter()) ended_ = true;
      } else if (number == SIGCONT || number == SIGWINCH) {
        terminal_.Forget();
      } else {
        ended_ = true;
      }
    }
  }

  // Also where no signal told of it: a terminal that is not the controlling one sends none, and one
  // may be lost (seen once on a busy machine).
  void FollowSize() {
    const ViewSize size = SizeOfTerminal();
    if (size == size_) return;
    size_ = size;
    terminal_.Forget();
  }

  void HandleKeys() {
    if (!Readable(STDIN_FILENO)) {
      for (const Key key : keys_.EndPending()) Do(key);
      return;
    }
    char bytes[256];
    const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) ended_ = true;
    if (count <= 0) return;
    for (const Key key : keys_.Feed({bytes, static_cast<std::size_t>(count)})) Do(key);
  }

  void Do(Key key) {
    switch (Press(key, PageOf(state_, size_, charset_), state_)) {
      case WatchAction::kQuit:
        ended_ = true;
        return;
      case WatchAction::kPause:
        return feed_.Snooze(kYear, "paused until p is pressed, or `cupilot resume`");
      case WatchAction::kSnooze:
        return feed_.Snooze(kHour, "snoozed for an hour; p, or `cupilot resume`, ends it");
      case WatchAction::kResume:
        return feed_.Resume();
      case WatchAction::kExplain:
        return feed_.Explain();
      case WatchAction::kRedraw:
        return terminal_.Forget();
      case WatchAction::kNone:
        return;
    }
  }

  const Charset charset_ = CharsetOfEnvironment();
  ViewSize size_ = SizeOfTerminal();
  WatchState state_;
  DaemonFeed feed_;
  Signals signals_;
  KeyReader keys_;
  Terminal terminal_{MayColour()};
  bool ended_ = false;
};

}  // namespace

base::Result<> WatchOnTerminal(Connection connection, const std::string& folder,
                               const std::string& notice) {
  TRY_ASSIGN(Signals signals, Signals::Take());
  return Session(std::move(connection), folder, std::move(signals)).Run(notice);
}

base::Result<> WatchPlainly(Connection connection, const std::string& folder) {
  TRY_ASSIGN(Signals signals, Signals::Take());
  const Charset charset = CharsetOfEnvironment();
  const int columns = ::isatty(STDOUT_FILENO) == 1 ? SizeOfTerminal().columns : kPlainColumns;
  const int output = WatchedOutput();
  WatchState state;
  DaemonFeed feed(std::move(connection), folder, state);
  std::vector<std::string> shown;
  while (true) {
    std::vector<std::string> lines = PlainPicture(state, columns, charset);
    const bool known = state.rows_known || !state.trouble.empty();
    if (known && lines != shown) {
      std::string text = shown.empty() ? "" : "\n";
      for (const std::string& line : lines) text += line + "\n";
      if (!WriteToTerminal(text)) return {};
      shown = std::move(lines);
    }
    const std::array<int, 2> files = {signals.file(), output};
    feed.Wait(std::span(files).first(output < 0 ? 1 : 2), milliseconds(-1));
    if (ReaderIsGone(output)) return {};
    for (int number = signals.Next(); number != 0; number = signals.Next()) {
      if (number == SIGTSTP) {
        ::raise(SIGSTOP);
      } else if (number != SIGCONT && number != SIGWINCH) {
        return {};
      }
    }
  }
}

}  // namespace cupilot::client
