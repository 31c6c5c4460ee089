// Watches folders for changes: created, written, renamed, removed entries.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_function.h"
#include "loop/loop.h"

namespace cupilot::loop {

// On the loop thread. Watching folders rather than files is what makes saves by rename visible.
// Events are collected and reported once nothing has happened for the quiet time, but at the latest
// ten quiet times after the first of them.
class FileWatcher {
 public:
  // `changed` gets a watched folder in which something changed.
  FileWatcher(Loop& loop, std::chrono::milliseconds quiet,
              base::UniqueFunction<void(const std::string& folder)> changed);
  FileWatcher(const FileWatcher&) = delete;
  FileWatcher& operator=(const FileWatcher&) = delete;
  ~FileWatcher();

  // Not its subfolders. Fine if it is watched already; kUnavailable with advice if the system's
  // limit of watches is reached, kNotFound if there is no such folder.
  base::Result<> Watch(const std::string& folder);
  void Unwatch(const std::string& folder);
  // The folder and all folders below it that exist now.
  base::Result<> WatchTree(const std::string& folder);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cupilot::loop
