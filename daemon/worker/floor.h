// The least time that a launch can take: its necessary traffic over the greatest rate at which the
// device moves as many bytes (the host: in its caches where they fit), and no less than what an
// empty launch takes there.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "worker/case_plan.h"
#include "worker/coverage.h"
#include "worker/reference.h"

namespace cupilot::worker {

// Bytes that every correct kernel moves, from below: what a floor is made of.
struct Traffic {
  std::int64_t read = 0;
  std::int64_t written = 0;
  std::int64_t likely_read = 0;  // not from below
  std::int64_t bytes() const { return read + written; }
};

// Outputs that the original writes, and of each input the share that was shown to matter (by
// region, coverage.h): from below.
Traffic NecessaryTraffic(const CasePlan& plan, const OriginalResult& reference,
                         const std::vector<ShareThatMatters>& shares);
// By case, of those of the set that are asked for; nothing is necessary where the original fails.
base::Result<std::vector<Traffic>> TrafficOf(const protocol::CandidateSet& set,
                                             const std::vector<records::Case>& cases,
                                             const device::Properties& properties);

// Bytes a microsecond by the size of what is moved, each size measured when it is first asked for
// and kept.
class PeakRates {
 public:
  using MeasureRate = std::function<double(std::int64_t bytes)>;
  explicit PeakRates(MeasureRate measure) : measure_(std::move(measure)) {}
  // A GPU's, of large buffers whatever is moved, and no less than what an empty launch takes.
  // `again` measures them once more; empty: that was not possible.
  using MeasurePeaks = std::function<records::Json()>;
  PeakRates(records::Json peaks, MeasurePeaks again)
      : peaks_(std::move(peaks)), again_(std::move(again)) {}

  // All that is known of a GPU (cuda_peaks.h); empty on the host.
  const records::Json& peaks() const { return peaks_; }

  double FloorUs(std::int64_t bytes);
  // Measures that size once more. A rate only grows: what was slower was disturbed.
  void MeasureAgain(std::int64_t bytes);
  // How often it is worth it before something counts as faster than the machine.
  int Repeats() const;

 private:
  double RateOf(std::int64_t bytes);
  MeasureRate measure_;
  std::map<std::int64_t, double> rates_;
  records::Json peaks_ = records::Json::object();
  MeasurePeaks again_;
};

// Bytes a microsecond on this machine, the best of reading, writing and copying buffers of so many
// bytes in all on all processors.
double MeasureHostRate(std::int64_t bytes);

// The rates of a device, measured when they are first asked for and kept; a GPU's also in `folder`,
// for this GPU, driver and version of the measurement. kUnavailable: no device.
base::Result<PeakRates*> RatesOf(const std::string& device, const device::Properties& properties,
                                 const std::string& folder);

// The floor of a measured case: 0 (unknown) where the original itself is below it, since then not
// all of the traffic is necessary. A case that seems to be below it is believed only after the rate
// was measured again.
struct FloorResult {
  double floor_us = 0;
  bool impossible = false;  // the variant is below it
};
FloorResult CompareWithFloor(PeakRates& rates, std::int64_t bytes, double original_us,
                             double variant_us);

}  // namespace cupilot::worker
