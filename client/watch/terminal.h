// The terminal while `cupilot watch` has it: the other screen, without echo; on leaving it is as it
// was. Lines are written with the sequences of ECMA-48, which every terminal of today knows that
// can do more than print.
#pragma once

#include <termios.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/watch/view.h"

namespace cupilot::client {

// Of standard output: 80 x 24 where nobody knows.
ViewSize SizeOfTerminal();
// Whether pictures can be drawn and keys be read: input and output are terminals, and TERM names
// one that can more than print.
bool CanDraw();
// NO_COLOR is not set, or empty.
bool MayColour();

// All of it, however long it takes; false if nobody reads it any more.
bool WriteToTerminal(std::string_view text);

// What brings a screen from one picture to another: only lines that differ are written.
std::string Repaint(const std::vector<ShownLine>& before, const std::vector<ShownLine>& after,
                    bool colours);

class Terminal {
 public:
  explicit Terminal(bool colours) : colours_(colours) {}
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() { Leave(); }

  base::Result<> Enter();
  void Leave();  // idempotent
  // Everything is drawn again next time.
  void Forget();
  // False: it is gone.
  bool Draw(std::vector<ShownLine> lines);

 private:
  const bool colours_;
  bool entered_ = false;
  termios before_{};
  std::vector<ShownLine> shown_;
  bool blank_ = true;  // nothing of ours is on it
};

}  // namespace cupilot::client
