#include "client/watch/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "client/output.h"

namespace cupilot::client {
namespace {

// The other screen, no cursor, and no new line where a line is full.
constexpr const char* kEnterScreen = "\033[?1049h\033[?25l\033[?7l\033[2J";
constexpr const char* kLeaveScreen = "\033[0m\033[?7h\033[?25h\033[?1049l";

const char* SequenceOf(Style style) {
  switch (style) {
    case Style::kHead:
      return "\033[1m";
    case Style::kSelected:
      return "\033[7m";
    case Style::kGood:
      return "\033[32m";
    case Style::kBusy:
      return "\033[33m";
    case Style::kBad:
      return "\033[31m";
    case Style::kFaint:
      return "\033[2m";
    case Style::kPlain:
      break;
  }
  return "";
}

std::string Painted(const ShownLine& line, bool colours) {
  std::string text;
  for (const Span& span : line) {
    const std::string sequence = colours ? SequenceOf(span.style) : "";
    text += sequence + span.text + (sequence.empty() ? "" : "\033[0m");
  }
  return text;
}

}  // namespace

ViewSize SizeOfTerminal() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return {};
  }
  return {size.ws_col, size.ws_row};
}

bool CanDraw() { return ::isatty(STDIN_FILENO) == 1 && IsCapableTerminal(STDOUT_FILENO); }

bool MayColour() {
  const char* no_colour = std::getenv("NO_COLOR");
  return no_colour == nullptr || *no_colour == '\0';
}

bool WriteToTerminal(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      pollfd item{STDOUT_FILENO, POLLOUT, 0};
      (void)::poll(&item, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

std::string Repaint(const std::vector<ShownLine>& before, const std::vector<ShownLine>& after,
                    bool colours) {
  std::string text;
  for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
    const std::string is = i < after.size() ? Painted(after[i], colours) : "";
    if (is == (i < before.size() ? Painted(before[i], colours) : "")) continue;
    text += "\033[" + std::to_string(i + 1) + ";1H" + is + "\033[K";
  }
  return text;
}

base::Result<> Terminal::Enter() {
  if (::tcgetattr(STDIN_FILENO, &before_) != 0) {
    return base::Fail(base::Unavailable(std::string("the terminal: ") + std::strerror(errno)));
  }
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  if (::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) != 0) {
    return base::Fail(base::Unavailable(std::string("the terminal: ") + std::strerror(errno)));
  }
  entered_ = true;
  Forget();
  (void)WriteToTerminal(kEnterScreen);
  return {};
}

void Terminal::Leave() {
  if (!entered_) return;
  entered_ = false;
  (void)WriteToTerminal(kLeaveScreen);
  (void)::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

void Terminal::Forget() { blank_ = true; }

bool Terminal::Draw(std::vector<ShownLine> lines) {
  if (blank_) shown_.clear();
  const std::string text = (blank_ ? "\033[2J" : "") + Repaint(shown_, lines, colours_);
  blank_ = false;
  shown_ = std::move(lines);
  return text.empty() || WriteToTerminal(text);
}

}  // namespace cupilot::client
