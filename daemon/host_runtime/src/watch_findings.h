// What a watched run has found, each once: by kind and by its place, which is a range's name or a
// line of a file.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cupilot_host_watch.h"

namespace cupilot_host {

class Findings {
 public:
  struct Found {
    cupilot_host_watch_kind kind;
    std::string name;
    unsigned int line;
    std::string detail;
    unsigned long times;
  };

  // Whether that was found before; then it is counted once more.
  bool Again(cupilot_host_watch_kind kind, std::string_view name, unsigned int line = 0) {
    const auto found = std::find_if(found_.begin(), found_.end(), [&](const Found& other) {
      return other.kind == kind && other.line == line && other.name == name;
    });
    if (found == found_.end()) return false;
    ++found->times;
    return true;
  }
  void Add(Found found) { found_.push_back(std::move(found)); }

  // In the order in which they were made; valid until the next call of any.
  const std::vector<cupilot_host_watch_finding>& ForReport() {
    for_report_.clear();
    for (const Found& found : found_) {
      for_report_.push_back(
          {found.kind, found.name.c_str(), found.line, found.detail.c_str(), found.times});
    }
    return for_report_;
  }

 private:
  std::vector<Found> found_;
  std::vector<cupilot_host_watch_finding> for_report_;
};

}  // namespace cupilot_host
