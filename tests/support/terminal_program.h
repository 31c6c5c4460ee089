// A program that runs in a terminal of its own: what it draws, and keys for it.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/run_program.h"

namespace cupilot::test {

// What a terminal makes of the few sequences that programs of ours send; of all others it says so.
class Screen {
 public:
  Screen(int columns, int rows);
  void Write(std::string_view bytes);
  // What was drawn for the size before may still come and is cut, as a terminal does, until the
  // program clears the screen.
  void Resize(int columns, int rows);

  std::string Line(int row) const;  // from 0, without blanks at its end
  std::string text() const;         // all lines
  bool other_screen() const { return other_screen_; }
  bool cursor_shown() const { return cursor_shown_; }
  bool coloured() const { return coloured_; }  // at any time
  bool plain() const { return plain_; }        // no sequence was sent
  bool wraps() const { return wraps_; }
  // Sequences that it does not know, and bytes beyond ASCII where none are to be.
  const std::string& unknown() const { return unknown_; }
  bool ascii() const { return ascii_; }

 private:
  void Put(std::string_view character);
  void Obey(std::string_view sequence);  // without "\033["

  int columns_, rows_;
  std::vector<std::vector<std::string>> cells_;
  int row_ = 0, column_ = 0;
  std::string pending_;
  bool other_screen_ = false, cursor_shown_ = true, coloured_ = false, wraps_ = true, ascii_ = true;
  bool plain_ = true, resized_ = false;
  std::string unknown_;
};

class TerminalProgram {
 public:
  TerminalProgram(const std::vector<std::string>& words, const RunOptions& options,
                  int columns = 80, int rows = 24);
  TerminalProgram(const TerminalProgram&) = delete;
  TerminalProgram& operator=(const TerminalProgram&) = delete;
  ~TerminalProgram();

  // Reads what it draws until the screen has this text; false where it ends first, or after a
  // minute.
  bool Shows(const std::string& text);
  bool ShowsNoMore(const std::string& text);
  void Type(const std::string& keys);
  void Resize(int columns, int rows);
  void Signal(int number);
  // Until it has stopped, as a shell sees it; false: it has ended.
  bool Stops();
  // Its exit code (128 + signal), with all that it drew read.
  int End();
  const Screen& screen() const { return screen_; }
  // Of the terminal, now and before the program began.
  bool SettingsAreAsBefore() const;

 private:
  bool ReadSome();

  int terminal_ = -1;
  pid_t child_ = -1;
  termios before_{};
  Screen screen_;
};

}  // namespace cupilot::test
