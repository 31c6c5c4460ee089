// Where a program that is run with a plan of what to record leaves its recordings.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "recording/plan.h"

namespace cupilot::client {

// A folder of the user's own, removed with all that is in it.
class RecordingFolder {
 public:
  static base::Result<RecordingFolder> Make();
  RecordingFolder(RecordingFolder&& other) noexcept;
  RecordingFolder& operator=(RecordingFolder&&) = delete;
  ~RecordingFolder();

  const std::string& path() const { return path_; }
  // What the processes of programs have left in it: files, in the order of their names.
  std::vector<std::string> Recordings() const;
  // Writes the plan, whose recordings are to lie here. What a program is to find in its environment
  // so that its runtime, or the injection library, follows it.
  base::Result<std::map<std::string, std::string>> Follow(capture::Plan plan) const;

 private:
  explicit RecordingFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace cupilot::client
