// The system headers that a preprocessed text begins with: they are the same for every text of the
// same includes, whatever the macros of the user's own text are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cupilot::source {

class LeadingHeaders {
 public:
  // Of a text with line markers, as Preprocess makes them (flag 3: the system's).
  explicit LeadingHeaders(std::string_view text);

  // The headers as a text of their own, outside any header at its end; empty: there are none.
  std::string Text(std::string_view text) const;
  // Puts blanks in their place, and before what follows the markers that lead to it, so that
  // offsets stay what they are. Not for a text that has none.
  void LeaveOut(std::string& text) const;

 private:
  struct Entered {
    std::string name;  // as written, with its quotes
    bool system = false;
  };
  std::string Markers() const;

  std::size_t end_ = 0;           // of the headers
  std::vector<Entered> entered_;  // files that are open there, the outermost first
  std::string markers_;           // that open them
};

// True where nothing that began in the text is still open at its end: braces are closed, and the
// last declaration is.
bool IsWhole(std::string_view text);

}  // namespace cupilot::source
