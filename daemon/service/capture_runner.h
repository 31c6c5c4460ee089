// Runs a program of the user's as he would, under `cupilot capture`.
#pragma once

#include <string>

#include "base/unique_function.h"
#include "service/capture_schedule.h"

namespace cupilot::service {

struct CaptureRun {
  CaptureId id;
  CaptureCommand command;
  std::string log_file;  // gets what is printed, the beginning and the end of it
};

// On the loop thread. One run at a time.
class CaptureRunner {
 public:
  virtual ~CaptureRunner() = default;

  // `done` is called once, later, with what went wrong in a few words ("exit 8"), or nothing.
  virtual void Run(CaptureRun run, base::UniqueFunction<void(std::string failure)> done) = 0;
  // What runs is ended; its `done` follows.
  virtual void Stop() = 0;
  // True while a build tool or a ctest works in the folder: between two compiles, and while it
  // links.
  virtual bool IsBuilding(const std::string& build_folder) = 0;
};

}  // namespace cupilot::service
