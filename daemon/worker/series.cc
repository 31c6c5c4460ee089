#include "worker/series.h"

#include <algorithm>

#include "base/base64.h"

namespace cupilot::worker {
namespace {

std::int64_t ResultsAt(const Layout& layout) {
  return (layout.bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// A candidate's workspaces are none.
bool IsResult(const Region& region) { return region.output && !region.workspace; }

std::int64_t ResultBytes(const Layout& layout) {
  std::int64_t bytes = 0;
  for (const Region& region : layout.regions) bytes += IsResult(region) ? region.bytes() : 0;
  return bytes;
}

}  // namespace

bool TakesSeries(const CasePlan& plan, std::size_t region) {
  const auto& regions = plan.layout.regions;
  const bool pointers = std::any_of(regions.begin(), regions.end(), [](const Region& one) {
    return one.table || !one.entries.empty();
  });
  const bool variable =
      std::any_of(plan.globals.begin(), plan.globals.end(), [&](const GlobalUse& use) {
        return use.copy_back || use.region == static_cast<int>(region);
      });
  return !pointers && !variable && !regions[region].output &&
         ResultBytes(plan.layout) <= kMostSeriesOutputs;
}

records::Json SeriesOp(const SeriesRequest& series, int module, const records::Json& program,
                       const Layout& layout) {
  records::Json request = {{"op", "series"},
                           {"module", module},
                           {"program", program},
                           {"bytes", layout.bytes},
                           {"pokes", records::Json::array()},
                           {"outputs", records::Json::array()},
                           {"results", ResultsAt(layout)}};
  const std::int64_t begin = layout.regions[series.region].offset;
  for (const auto& poke : series.pokes) {
    records::Json writes = records::Json::array();
    for (const PlantSeries::Write& write : poke) {
      writes.push_back(
          {begin + write.at, base::EncodeBase64({reinterpret_cast<const char*>(write.bytes.data()),
                                                 write.bytes.size()})});
    }
    request["pokes"].push_back(std::move(writes));
  }
  for (const Region& region : layout.regions) {
    if (IsResult(region)) request["outputs"].push_back({region.offset, region.bytes()});
  }
  return request;
}

std::vector<std::vector<std::byte>> SeriesResults(const Layout& original, const Layout& layout,
                                                  std::span<const std::byte> memory, int run) {
  std::vector<std::vector<std::byte>> results(original.regions.size());
  std::int64_t at = ResultsAt(layout) + run * ResultBytes(layout);
  for (std::size_t r = 0; r < results.size(); ++r) {
    if (!IsResult(layout.regions[r])) continue;
    const auto bytes = memory.subspan(static_cast<std::size_t>(at),
                                      static_cast<std::size_t>(layout.regions[r].bytes()));
    results[r].assign(bytes.begin(), bytes.end());
    at += layout.regions[r].bytes();
  }
  return results;
}

}  // namespace cupilot::worker
