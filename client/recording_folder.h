// Where a program that is run with a plan of what to record leaves its recordings.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "recording/plan.h"
#include "workloads/recording_folders.h"

namespace cupilot::client {

// A folder of the user's own, removed with all that is in it; if we are killed before, by the next
// one that is made, or by the daemon when it starts.
class RecordingFolder {
 public:
  static base::Result<RecordingFolder> Make();
  RecordingFolder(RecordingFolder&& other) noexcept = default;
  RecordingFolder& operator=(RecordingFolder&&) = delete;
  ~RecordingFolder();

  const std::string& path() const { return held_.path(); }
  // What the processes of programs have left in it: files, in the order of their names.
  std::vector<std::string> Recordings() const;
  // Writes the plan, whose recordings are to lie here. What a program is to find in its environment
  // so that its runtime, or the injection library, follows it.
  base::Result<std::map<std::string, std::string>> Follow(capture::Plan plan) const;

 private:
  explicit RecordingFolder(workloads::HeldFolder held) : held_(std::move(held)) {}
  workloads::HeldFolder held_;
};

}  // namespace cupilot::client
