// Streams of text that come in pieces: lines, and the server-sent events of the HTML standard that
// are made of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cupilot::agents {

// Splits at "\n", "\r\n" and "\r", wherever the pieces are cut. Who feeds it limits its memory.
class LineSplitter {
 public:
  // The lines that are complete now, without their ends.
  std::vector<std::string> Feed(std::string_view bytes);
  // What came since the last end of a line.
  const std::string& rest() const { return rest_; }

 private:
  std::string rest_;
  bool after_return_ = false;  // a "\n" now belongs to the end before it
};

struct StreamEvent {
  std::string type;  // empty: the stream named none
  std::string data;  // lines joined by "\n"
};

class EventStream {
 public:
  // The events that are complete now; those without data are none.
  std::vector<StreamEvent> Feed(std::string_view bytes);

 private:
  LineSplitter lines_;
  StreamEvent next_;
  bool has_data_ = false;
  bool begun_ = false;  // the byte order mark, if any, has passed
};

}  // namespace cupilot::agents
