#include "agents/event_stream.h"

#include <utility>

namespace cupilot::agents {

std::vector<std::string> LineSplitter::Feed(std::string_view bytes) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < bytes.size();) {
    if (std::exchange(after_return_, false) && bytes[begin] == '\n') {
      ++begin;
      continue;
    }
    const std::size_t end = bytes.find_first_of("\r\n", begin);
    rest_ += bytes.substr(begin, end - begin);
    if (end == std::string_view::npos) break;
    lines.push_back(std::exchange(rest_, {}));
    after_return_ = bytes[end] == '\r';
    begin = end + 1;
  }
  return lines;
}

std::vector<StreamEvent> EventStream::Feed(std::string_view bytes) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::vector<StreamEvent> events;
  for (std::string& line : lines_.Feed(bytes)) {
    if (!std::exchange(begun_, true) && line.rfind(kByteOrderMark, 0) == 0) {
      line.erase(0, kByteOrderMark.size());
    }
    if (line.empty()) {
      if (has_data_) events.push_back(std::move(next_));
      next_ = {};
      has_data_ = false;
      continue;
    }
    const std::size_t colon = line.find(':');
    const std::string field = line.substr(0, colon);
    std::string value = colon == std::string::npos ? "" : line.substr(colon + 1);
    if (!value.empty() && value.front() == ' ') value.erase(0, 1);
    if (field == "event") next_.type = value;
    if (field != "data") continue;  // comments begin with the colon; ids do not concern us
    if (std::exchange(has_data_, true)) next_.data += '\n';
    next_.data += value;
  }
  return events;
}

}  // namespace cupilot::agents
