#include "worker/watched_run.h"

#include <algorithm>
#include <chrono>

#include "base/hash.h"
#include "worker/lease.h"
#include "worker/tables.h"

namespace cupilot::worker {
namespace {

using records::Json;

// The longer one is for machines that are busy with something else.
constexpr std::chrono::milliseconds kWatchedRunLimit{20000}, kLongWatchedRunLimit{60000};

// A workspace that is not cleared, neither before the first launch nor between two.
bool Empty(const Region& region, const Json& program) {
  if (!region.workspace || region.zeroed) return false;
  const Json& steps = program["steps"];
  return std::none_of(steps.begin(), steps.end(), [&](const Json& step) {
    const auto at = step.value("fill_offset", std::int64_t{0});
    return step.value("fill_bytes", std::int64_t{0}) > 0 && at >= region.offset &&
           at < region.offset + region.bytes();
  });
}

Json RangesOf(const Layout& layout, const Json& program) {
  Json ranges = Json::array();
  const auto add = [&](const std::string& name, const Region& region, std::int64_t first,
                       std::int64_t elements) {
    const std::int64_t size = region.type.size();
    ranges.push_back({name, region.offset + first * size, elements * size, size,
                      region.input && !region.output, Empty(region, program)});
  };
  for (const Region& region : layout.regions) {
    const Region::Slices& slices = region.slices;
    if (slices.count == 0) add(region.name, region, 0, region.count);
    for (std::int64_t i = 0; i < slices.count; ++i) {
      add(SliceName(region, i), region, i * slices.stride, slices.elements);
    }
  }
  return ranges;
}

WatchedRun FailedWatch(const base::Error& error) {
  WatchedRun run;
  run.failed = error.message;
  run.died = error.code == base::ErrorCode::kToolFailed;
  run.late = error.code == base::ErrorCode::kTimeout;
  return run;
}

base::Result<WatchedRun> RunWithin(std::chrono::milliseconds limit, const std::string& artifact,
                                   const Json& program, const Layout& layout,
                                   const CaseInputs& inputs, unsigned char poison,
                                   unsigned long most_accesses) {
  auto lease =
      Lease::Take("host", Role::kFinalist, static_cast<std::size_t>(layout.bytes), {artifact});
  if (!lease && lease.error().code == base::ErrorCode::kUnavailable) {
    return base::Fail(lease.error());
  }
  if (!lease) return FailedWatch(lease.error());
  PrepareArena(layout, inputs, Before{}, lease->memory());
  const auto reply = lease->runner().Ask({{"op", "watch"},
                                          {"module", 0},
                                          {"program", program},
                                          {"ranges", RangesOf(layout, program)},
                                          {"accesses", most_accesses},
                                          {"poison", poison}},
                                         limit);
  if (!reply && reply.error().code == base::ErrorCode::kUnavailable) {
    return base::Fail(reply.error());
  }
  if (!reply) return FailedWatch(reply.error());
  WatchedRun run;
  run.failure = reply->value("failure", "");
  run.stopped = reply->value("stopped", false);
  run.accesses = reply->value("accesses", 0.0);
  const auto findings = reply->find("findings");
  for (const Json& finding : findings != reply->end() ? *findings : Json::array()) {
    if (!finding.is_array() || finding.size() < 3) continue;
    run.findings.push_back({finding[0].get<int>(), finding[1].get<std::string>(),
                            finding[2].get<std::string>(),
                            finding.size() > 4 ? finding[4].get<int>() : 0});
  }
  base::Hasher outputs;
  for (const Region& region : layout.regions) {
    if (!region.output) continue;
    const auto bytes = lease->memory().subspan(static_cast<std::size_t>(region.offset),
                                               static_cast<std::size_t>(region.bytes()));
    outputs.Add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  run.outputs = outputs.Hex();
  return run;
}

}  // namespace

base::Result<WatchedRun> RunWatched(const std::string& artifact, const Json& program,
                                    const Layout& layout, const CaseInputs& inputs,
                                    unsigned char poison, unsigned long most_accesses) {
  TRY_ASSIGN(WatchedRun run,
             RunWithin(kWatchedRunLimit, artifact, program, layout, inputs, poison, most_accesses));
  if (!run.late) return run;
  return RunWithin(kLongWatchedRunLimit, artifact, program, layout, inputs, poison, most_accesses);
}

}  // namespace cupilot::worker
