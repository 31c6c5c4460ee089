// Workers that keep the requests of one search in the order in which it asked, and know its kernel.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "evaluate/workers.h"

namespace cupilot::evaluate {

// Gives each call a kernel, a line and a place in it (WorkerCall) and hands it on. On the loop
// thread.
class LinedWorkers final : public Workers {
 public:
  // `workers` must outlive this.
  LinedWorkers(Workers& workers, std::string kernel, std::string line, std::int64_t place)
      : workers_(workers), kernel_(std::move(kernel)), line_(std::move(line)), place_(place) {}

  void Call(WorkerCall call, base::Callback<records::Json> done) override {
    call.kernel = kernel_;
    call.line = line_;
    call.place = place_;
    workers_.Call(std::move(call), std::move(done));
  }
  void Pause() override { workers_.Pause(); }
  void Resume() override { workers_.Resume(); }
  void Hold(const std::string& device) override { workers_.Hold(device); }
  void Release(const std::string& device) override { workers_.Release(device); }
  void Stop() override { workers_.Stop(); }
  WorkerCounters counters() const override { return workers_.counters(); }
  Spent SpentOn(const std::string& kernel) const override { return workers_.SpentOn(kernel); }

 private:
  Workers& workers_;
  const std::string kernel_;
  const std::string line_;
  const std::int64_t place_;
};

}  // namespace cupilot::evaluate
