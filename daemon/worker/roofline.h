// Where a measured launch stands between what the device can do and what it did: which ceiling is
// nearest (Williams et al., "Roofline: an insightful visual performance model", CACM 2009, with the
// launch as a further ceiling). Pure.
#pragma once

#include <map>
#include <string>

#include "records/json.h"
#include "worker/floor.h"

namespace cupilot::worker {

// The counters that are asked for, by CUPTI's names: time, traffic and hit rates by level, use of
// the pipes, stalls, operations. What a chip does not have is left out.
const std::vector<std::string>& CuratedMetrics();

// Bytes a microsecond for traffic of which this share is written, between what reading, copying
// (half and half) and writing reach alone; 0 if they are not known. `peaks`: TakeCudaPeaks.
double BandwidthOf(const records::Json& peaks, double written_share);

struct Roofline {
  std::string bound;  // "dram", "l2", "shared", "fp32", ..., "latency", "launch"; empty: not known
  double share = 0;   // of the time that the bound alone would take
  std::map<std::string, double> shares;      // by ceiling
  std::map<std::string, double> operations;  // executed, by pipe; needs counters
};

// `counters` by CUPTI's names; empty: only necessary traffic and launch are known, and what is far
// from both has no bound that could be named.
Roofline PlaceOnRoofline(const records::Json& peaks, const Traffic& necessary, double time_us,
                         const std::map<std::string, double>& counters);
records::Json ToJson(const Roofline& roofline);

}  // namespace cupilot::worker
