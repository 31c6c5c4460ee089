// A runner of captures that runs nothing: its runs end when a test says so.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "service/capture_runner.h"

namespace cupilot::test {

class FakeCaptureRunner final : public service::CaptureRunner {
 public:
  void Run(service::CaptureRun run, base::UniqueFunction<void(std::string)> done) override {
    runs_.push_back(std::move(run));
    done_ = std::move(done);
  }
  void Stop() override { ++stops_; }
  bool IsBuilding(const std::string&) override { return building_; }

  void End(const std::string& failure) {
    auto done = std::exchange(done_, nullptr);
    if (done) done(failure);
  }
  void SetBuilding(bool building) { building_ = building; }
  const std::vector<service::CaptureRun>& runs() const { return runs_; }
  int stops() const { return stops_; }

 private:
  std::vector<service::CaptureRun> runs_;
  base::UniqueFunction<void(std::string)> done_;
  int stops_ = 0;
  bool building_ = false;
};

}  // namespace cupilot::test
