// The runner of captures that starts the installed `cupilot`. On the loop thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "loop/child_process.h"
#include "loop/timer.h"
#include "service/capture_runner.h"

namespace cupilot::service {

// The beginning and the end of a text that may be long.
class BoundedText {
 public:
  explicit BoundedText(std::size_t most) : half_(most / 2) {}
  void AddLine(std::string_view line);
  // With a line that says how much is left out, if something is.
  std::string Text() const;

 private:
  const std::size_t half_;
  std::string head_;
  std::string tail_;
  std::size_t left_out_ = 0;
};

class ProcessCaptureRunner final : public CaptureRunner {
 public:
  struct Settings {
    std::string program;       // path of cupilot
    std::string cache_folder;  // of the user's: where cupilot keeps recordings while it runs
    int nice = 10;
    std::size_t most_log = 256u << 10;  // bytes
    // A program that has not ended then is ended.
    std::chrono::milliseconds limit = std::chrono::minutes(30);
  };

  ProcessCaptureRunner(loop::Loop& loop, Settings settings);
  ~ProcessCaptureRunner() override;

  void Run(CaptureRun run, base::UniqueFunction<void(std::string failure)> done) override;
  void Stop() override;
  bool IsBuilding(const std::string& build_folder) override;

 private:
  struct Under;
  void Kill(const char* why);
  void OnExit(loop::ChildExit exit);
  void End(const std::string& failure);

  loop::Loop& loop_;
  const Settings settings_;
  std::unique_ptr<Under> under_;  // what runs
  loop::Timer limit_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// What went wrong, by what `cupilot --json capture` answered; empty: nothing.
std::string FailureOf(const std::string& document, const loop::ChildExit& exit);

}  // namespace cupilot::service
