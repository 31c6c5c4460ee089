// What `cupilot watch` knows and shows: values; the documents are the daemon's (PROTOCOL.md).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "records/json.h"

namespace cupilot::client {

// The kernel of a row, as the daemon is asked for it.
struct WatchedKernel {
  std::string kernel;
  std::string folder;  // its project's build folder
  bool operator==(const WatchedKernel&) const = default;
};

struct WatchState {
  records::Json status = records::Json::object();  // cupilot.status/1; empty: not asked yet
  records::Json rows = records::Json::array();     // `kernels` of cupilot.list/1
  bool rows_known = false;                         // they were asked for
  std::string trouble;       // why nothing is heard of the daemon; empty: it is
  std::string notice;        // what became of the last key
  std::size_t selected = 0;  // a row
  std::size_t top = 0;       // the first row that is shown
  bool details = false;      // of `opened`
  WatchedKernel opened;
  std::vector<std::string> explanation;  // lines of `cupilot explain`
  std::size_t scroll = 0;                // the first of them that is shown
  bool paused() const;                   // somebody snoozed it
};

// Rows that may be others than before: the selected kernel stays selected where it is still there.
void Adopt(records::Json rows, WatchState& state);
WatchedKernel KernelOf(const records::Json& row);
// The row of the opened kernel, or an empty object.
records::Json OpenedRow(const WatchState& state);

}  // namespace cupilot::client
