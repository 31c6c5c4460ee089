#include <map>

#include "device/describe.h"
#include "worker/floor.h"
#include "worker/lease.h"

namespace cupilot::worker {
namespace {

using records::Json;

constexpr std::chrono::milliseconds kPeaksLimit{20000};

// Bytes a microsecond; a GPU's are those of large buffers, whatever is moved: what fits into its L2
// is measured cold.
base::Result<std::unique_ptr<PeakRates>> RatesOfGpu(const std::string& device) {
  TRY_ASSIGN(const Lease lease, Lease::Take(device, Role::kOriginal, 1, {}));
  TRY_ASSIGN(const Json peaks, lease.runner().Ask({{"op", "peaks"}}, kPeaksLimit));
  // Clearing memory is an engine of its own and says nothing of what a kernel can store.
  const double rate = std::max(peaks.value("read", 0.0), peaks.value("copy", 0.0));
  return std::make_unique<PeakRates>([rate](std::int64_t) { return rate; },
                                     peaks.value("launch_us", 0.0));
}

}  // namespace

base::Result<PeakRates*> RatesOf(const std::string& device) {
  static auto& known = *new std::map<std::string, std::unique_ptr<PeakRates>>();
  std::unique_ptr<PeakRates>& rates = known[device];
  if (rates == nullptr && device == "host") rates = std::make_unique<PeakRates>(&MeasureHostRate);
  if (rates == nullptr) {
    TRY_ASSIGN(rates, RatesOfGpu(device));
  }
  return rates.get();
}

}  // namespace cupilot::worker
