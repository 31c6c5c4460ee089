// The end of a service whose work is to be lost by nobody.
#include <utility>

#include "service/service.h"

namespace cupilot::service {

void Service::Leave(base::UniqueFunction<void()> left) {
  leaving_ = true;
  left_ = std::move(left);
  Later(&Service::LookIfLeft);
}

// While work is held back nothing is measured: it goes on where it was, in the next daemon.
void Service::LookIfLeft() {
  if (!left_ || (obstacle_.empty() && !BusyJobs().empty())) return;
  PublishDue();  // what was just proven waits for more
  TouchStamps();
  auto left = std::move(left_);
  left_ = nullptr;
  left();
}

}  // namespace cupilot::service
