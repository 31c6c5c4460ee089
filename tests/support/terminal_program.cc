#include "tests/support/terminal_program.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cupilot::test {
namespace {

constexpr int kBackstopMs = 60000;

winsize SizeOf(int columns, int rows) {
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = static_cast<unsigned short>(rows);
  return size;
}

}  // namespace

Screen::Screen(int columns, int rows) : columns_(columns), rows_(rows) {
  Resize(columns, rows);
  resized_ = false;
}

void Screen::Resize(int columns, int rows) {
  columns_ = columns;
  rows_ = rows;
  resized_ = true;
  row_ = std::min(row_, rows_ - 1);
  cells_.resize(static_cast<std::size_t>(rows));
  for (auto& line : cells_) line.resize(static_cast<std::size_t>(columns), " ");
}

std::string Screen::Line(int row) const {
  std::string text;
  for (const std::string& cell : cells_[static_cast<std::size_t>(row)]) text += cell;
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string Screen::text() const {
  std::string text;
  for (int row = 0; row < rows_; ++row) text += Line(row) + "\n";
  return text;
}

void Screen::Put(std::string_view character) {
  if (static_cast<unsigned char>(character[0]) >= 0x80) ascii_ = false;
  if (character == "\n") {
    row_ = std::min(row_ + 1, rows_ - 1);
  } else if (character == "\r") {
    column_ = 0;
  } else if (row_ < rows_ && column_ < columns_) {
    cells_[static_cast<std::size_t>(row_)][static_cast<std::size_t>(column_++)] = character;
  } else if (!resized_) {
    unknown_ += "text beyond the end of a line; ";
  }
}

void Screen::Obey(std::string_view sequence) {
  plain_ = false;
  const auto blank = [&](std::vector<std::string>& line, int from) {
    std::fill(line.begin() + std::min(from, columns_), line.end(), " ");
  };
  if (sequence == "?1049h" || sequence == "?1049l") {
    other_screen_ = sequence.back() == 'h';
  } else if (sequence == "?25h" || sequence == "?25l") {
    cursor_shown_ = sequence.back() == 'h';
  } else if (sequence == "?7h" || sequence == "?7l") {
    wraps_ = sequence.back() == 'h';
  } else if (sequence == "2J") {
    for (auto& line : cells_) blank(line, 0);
    resized_ = false;
  } else if (sequence == "K") {
    blank(cells_[static_cast<std::size_t>(row_)], column_);
  } else if (sequence.back() == 'm') {
    coloured_ = coloured_ || sequence != "0m";
  } else if (int row = 0, column = 0;
             std::sscanf(std::string(sequence).c_str(), "%d;%dH", &row, &column) == 2) {
    row_ = std::clamp(row - 1, 0, rows_ - 1);
    column_ = column - 1;
  } else {
    unknown_ += std::string(sequence) + "; ";
  }
}

void Screen::Write(std::string_view bytes) {
  pending_ += bytes;
  std::size_t at = 0;
  while (at < pending_.size()) {
    const auto byte = static_cast<unsigned char>(pending_[at]);
    if (byte == 0x1b) {
      if (at + 1 >= pending_.size()) break;
      const std::size_t end =
          pending_.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", at + 2);
      if (end == std::string::npos) break;
      Obey(std::string_view(pending_).substr(at + 2, end - at - 1));
      at = end + 1;
      continue;
    }
    const std::size_t length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    if (at + length > pending_.size()) break;
    Put(std::string_view(pending_).substr(at, length));
    at += length;
  }
  pending_.erase(0, at);
}

TerminalProgram::TerminalProgram(const std::vector<std::string>& words, const RunOptions& options,
                                 int columns, int rows)
    : screen_(columns, rows) {
  winsize size = SizeOf(columns, rows);
  int child_end = -1;
  if (::openpty(&terminal_, &child_end, nullptr, nullptr, &size) != 0) return;
  ::fcntl(terminal_, F_SETFD, FD_CLOEXEC);
  ::fcntl(child_end, F_SETFD, FD_CLOEXEC);
  ::tcgetattr(child_end, &before_);
  child_ = ::fork();
  if (child_ == 0) {
    ::setsid();
    ::ioctl(child_end, TIOCSCTTY, 0);
    for (int file = 0; file < 3; ++file) ::dup2(child_end, file);
    BecomeProgram(words, options);
  }
  ::close(child_end);  // so that the terminal ends with the program
}

TerminalProgram::~TerminalProgram() {
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  if (terminal_ >= 0) ::close(terminal_);
}

bool TerminalProgram::ReadSome() {
  pollfd item{terminal_, POLLIN, 0};
  if (::poll(&item, 1, kBackstopMs) <= 0) return false;
  char bytes[4096];
  const ssize_t count = ::read(terminal_, bytes, sizeof bytes);
  if (count <= 0) return false;
  screen_.Write({bytes, static_cast<std::size_t>(count)});
  return true;
}

bool TerminalProgram::Shows(const std::string& text) {
  while (screen_.text().find(text) == std::string::npos) {
    if (!ReadSome()) return false;
  }
  return true;
}

bool TerminalProgram::ShowsNoMore(const std::string& text) {
  while (screen_.text().find(text) != std::string::npos) {
    if (!ReadSome()) return false;
  }
  return true;
}

void TerminalProgram::Type(const std::string& keys) {
  (void)!::write(terminal_, keys.data(), keys.size());
}

void TerminalProgram::Resize(int columns, int rows) {
  screen_.Resize(columns, rows);
  const winsize size = SizeOf(columns, rows);
  ::ioctl(terminal_, TIOCSWINSZ, &size);  // the program gets SIGWINCH
}

bool TerminalProgram::Stops() {
  int status = 0;
  const bool stopped = ::waitpid(child_, &status, WUNTRACED) == child_ && WIFSTOPPED(status);
  if (!stopped) child_ = -1;
  for (pollfd item{terminal_, POLLIN, 0}; ::poll(&item, 1, 0) > 0;) {
    if (!ReadSome()) break;
  }
  return stopped;
}

void TerminalProgram::Signal(int number) { ::kill(child_, number); }

int TerminalProgram::End() {
  while (ReadSome()) {
  }
  int status = 0;
  ::waitpid(child_, &status, 0);
  child_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool TerminalProgram::SettingsAreAsBefore() const {
  termios now{};
  ::tcgetattr(terminal_, &now);  // the two ends share them
  return now.c_lflag == before_.c_lflag && now.c_iflag == before_.c_iflag &&
         now.c_oflag == before_.c_oflag &&
         std::memcmp(now.c_cc, before_.c_cc, sizeof now.c_cc) == 0;
}

}  // namespace cupilot::test
