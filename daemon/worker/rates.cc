#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/file.h"
#include "device/describe.h"
#include "records/json.h"
#include "worker/device_turn.h"
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

bool IsRate(const Json& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_number() && it->get<double>() > 0;
}

// Whatever wrote it: a file may hold anything.
bool ArePeaks(const Json& peaks) {
  if (!peaks.is_object() || !IsRate(peaks, "read") || !IsRate(peaks, "write") ||
      !IsRate(peaks, "copy") || !IsRate(peaks, "launch_us")) {
    return false;
  }
  const auto rates = peaks.find("arithmetic");
  return rates != peaks.end() && rates->is_object() &&
         std::all_of(rates->begin(), rates->end(),
                     [](const Json& rate) { return rate.is_number(); });
}

// Empty: none that hold for this GPU as it is now.
Json KeptPeaks(const device::Properties& properties, const std::string& folder) {
  const auto text = base::ReadFile(PeaksFile(properties, folder));
  const auto kept = text ? records::ParseJson(*text) : base::Result<Json>(base::Fail(text.error()));
  if (!kept || !kept->is_object()) return Json::object();
  const auto is = [&kept](const char* key, const Json& value) {
    const auto it = kept->find(key);
    return it != kept->end() && *it == value;
  };
  const bool holds =
      is("schema", kPeaksSchema) && is("version", kPeaksVersion) && is("driver", properties.driver);
  const auto peaks = kept->find("peaks");
  return holds && peaks != kept->end() && ArePeaks(*peaks) ? *peaks : Json::object();
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
  TRY_ASSIGN(const QuietTurn turn, TakeTurnToMeasure(device));
  TRY_ASSIGN(Json peaks, lease.runner().Ask({{"op", "peaks"}}, kPeaksLimit));
  if (!ArePeaks(peaks)) return base::Fail(base::Unavailable("the GPU's peaks make no sense"));
  return peaks;
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

base::Result<std::unique_ptr<PeakRates>> RatesOfGpu(const std::string& device,
                                                    const device::Properties& properties,
                                                    const std::string& folder) {
  auto peaks = std::make_shared<Json>(KeptPeaks(properties, folder));
  if (peaks->empty()) {
    TRY_ASSIGN(*peaks, TakePeaks(device));
    KeepPeaks(properties, folder, *peaks);
  }
  const auto again = [=]() -> Json {
    const auto taken = TakePeaks(device);
    if (!taken) return Json::object();
    *peaks = BestOf(*peaks, *taken);
    KeepPeaks(properties, folder, *peaks);
    return *peaks;
  };
  return std::make_unique<PeakRates>(*peaks, again);
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
