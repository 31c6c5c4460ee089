// The judge's end of a series of runs (series_op.h). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "records/json.h"
#include "worker/case_plan.h"
#include "worker/plant.h"

namespace cupilot::worker {

// Of the pokes, all in region `region` of the layout.
struct SeriesRequest {
  std::size_t region = 0;
  std::vector<std::vector<PlantSeries::Write>> pokes;
};

// What outputs may have in all for a series of them to be worth it, and runs at once.
inline constexpr std::int64_t kMostSeriesOutputs = 4096;  // bytes
inline constexpr int kSeriesRuns = 64;
// What an arena needs for it behind a layout's bytes.
inline constexpr std::int64_t kSeriesRoom = kMostSeriesOutputs * kSeriesRuns + kAlignment;

// Whether a series can say what runs one by one say: outputs are few, none of them is a variable,
// the region is no output, and no pointers stand in memory.
bool TakesSeries(const CasePlan& plan, std::size_t region);

records::Json SeriesOp(const SeriesRequest& series, int module, const records::Json& program,
                       const Layout& layout);

// What launch `run` left in each region, by region; empty: no output. `layout` is that of the
// request, `original`'s regions are its first ones.
std::vector<std::vector<std::byte>> SeriesResults(const Layout& original, const Layout& layout,
                                                  std::span<const std::byte> memory, int run);

}  // namespace cupilot::worker
