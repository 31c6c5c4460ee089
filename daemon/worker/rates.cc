#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/file.h"
#include "device/describe.h"
#include "records/json.h"
#include "worker/floor.h"
#include "worker/lease.h"

namespace cupilot::worker {
namespace {

using records::Json;

constexpr std::chrono::milliseconds kPeaksLimit{20000};
constexpr const char* kPeaksSchema = "cupilot.peaks/1";
constexpr int kPeaksVersion = 1;  // of how they are measured

std::string PeaksFile(const device::Properties& properties, const std::string& folder) {
  return folder + "/peaks/" + properties.uuid + ".json";
}

// Empty: none that hold for this GPU as it is now.
Json KeptPeaks(const device::Properties& properties, const std::string& folder) {
  const auto text = base::ReadFile(PeaksFile(properties, folder));
  const auto kept = text ? records::ParseJson(*text) : base::Result<Json>(base::Fail(text.error()));
  const bool holds = kept && kept->is_object() && kept->value("schema", "") == kPeaksSchema &&
                     kept->value("version", 0) == kPeaksVersion &&
                     kept->value("driver", "") == properties.driver && kept->contains("peaks") &&
                     (*kept)["peaks"].is_object() && (*kept)["peaks"].value("read", 0.0) > 0;
  return holds ? (*kept)["peaks"] : Json::object();
}

// Not being able to keep them costs a second at the next start, no more.
void KeepPeaks(const device::Properties& properties, const std::string& folder, const Json& peaks) {
  const Json document = {{"schema", kPeaksSchema},
                         {"version", kPeaksVersion},
                         {"device", properties.name},
                         {"driver", properties.driver},
                         {"peaks", peaks}};
  (void)base::WriteFileAtomically(PeaksFile(properties, folder), document.dump(1) + "\n");
}

base::Result<Json> TakePeaks(const std::string& device) {
  TRY_ASSIGN(const Lease lease, Lease::Take(device, Role::kOriginal, 1, {}));
  return lease.runner().Ask({{"op", "peaks"}}, kPeaksLimit);
}

// What was slower was disturbed; a launch only gets shorter.
Json BestOf(const Json& a, const Json& b) {
  Json best = a;
  for (const auto& [key, value] : b.items()) {
    if (value.is_object()) {
      best[key] = BestOf(a.value(key, Json::object()), value);
    } else if (value.is_number() && a.contains(key) && a[key].is_number()) {
      const double x = a[key].get<double>(), y = value.get<double>();
      best[key] = key == "launch_us" ? std::min(x, y) : std::max(x, y);
    } else {
      best[key] = value;
    }
  }
  return best;
}

// The greatest that any mix reaches: a floor is from below.
double GreatestRate(const Json& peaks) {
  return std::max({peaks.value("read", 0.0), peaks.value("write", 0.0), peaks.value("copy", 0.0)});
}

// A GPU's rates are those of large buffers, whatever is moved: what fits into its L2 is measured
// cold.
base::Result<std::unique_ptr<PeakRates>> RatesOfGpu(const std::string& device,
                                                    const device::Properties& properties,
                                                    const std::string& folder) {
  auto peaks = std::make_shared<Json>(KeptPeaks(properties, folder));
  if (peaks->empty()) {
    TRY_ASSIGN(*peaks, TakePeaks(device));
    KeepPeaks(properties, folder, *peaks);
  }
  const auto kept = [peaks](std::int64_t) { return GreatestRate(*peaks); };
  const auto again = [=](std::int64_t) {
    if (const auto taken = TakePeaks(device)) {
      *peaks = BestOf(*peaks, *taken);
      KeepPeaks(properties, folder, *peaks);
    }
    return GreatestRate(*peaks);
  };
  auto rates = std::make_unique<PeakRates>(kept, peaks->value("launch_us", 0.0), again);
  rates->set_peaks(*peaks);
  return rates;
}

}  // namespace

base::Result<PeakRates*> RatesOf(const std::string& device, const device::Properties& properties,
                                 const std::string& folder) {
  static auto& known = *new std::map<std::string, std::unique_ptr<PeakRates>>();
  std::unique_ptr<PeakRates>& rates = known[device];
  if (rates == nullptr && device == "host") rates = std::make_unique<PeakRates>(&MeasureHostRate);
  if (rates == nullptr) {
    TRY_ASSIGN(rates, RatesOfGpu(device, properties, folder));
  }
  return rates.get();
}

}  // namespace cupilot::worker
