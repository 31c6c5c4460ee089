// What programs were seen to do decides on what their kernels are tuned.
#include <algorithm>
#include <chrono>

#include "log/log.h"
#include "service/service.h"

namespace cupilot::service {

base::Result<> Service::AddCaptured(const std::vector<workloads::Captured>& all) {
  for (const workloads::Captured& captured : all) {
    TRY(captured_.Save(captured));
    log::Info("captured", {{"kernel", captured.kernel}, {"cases", captured.cases.size()}});
    MarkStale(captured.file, captured.kernel);
  }
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(with_.clock.WallTime());
  for (const std::string& label : captured_.Evict(settings_.captured_bytes, now.count())) {
    log::Warning("a captured workload was dropped to make room", {{"kernel", label}});
  }
  Work();
  return {};
}

base::Result<> Service::DropCaptured(const std::string& file, const std::string& label) {
  TRY(captured_.Drop(file, label));
  MarkStale(file, label);
  Work();
  return {};
}

// What a kernel is tuned on is decided when its source is read.
void Service::MarkStale(const std::string& file, const std::string& label) {
  for (auto& [folder, state] : objects_) {
    if (state.scan == nullptr) continue;
    const std::vector<records::Kernel>& kernels = state.scan->kernels;
    state.stale |= std::any_of(kernels.begin(), kernels.end(), [&](const records::Kernel& kernel) {
      return kernel.file == file && records::LabelOf(kernel) == label;
    });
  }
}

}  // namespace cupilot::service
