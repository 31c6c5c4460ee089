#include "worker/watch_op.h"

#include <string>
#include <vector>

#include "cuda_runtime_api.h"
#include "host_runtime/include/cupilot_host_watch.h"

namespace cupilot::worker {

using records::Json;

base::Result<Json> TakeWatchedRun(device::Device& device, PreparedProgram& program,
                                  std::span<std::byte> memory, const Json& request) {
  std::vector<std::string> names;
  std::vector<cupilot_host_watch_range> ranges;
  names.reserve(request["ranges"].size());
  for (const Json& range : request["ranges"]) {
    names.push_back(range[0].get<std::string>());
    const auto offset = range[1].get<std::size_t>(), bytes = range[2].get<std::size_t>();
    if (offset > memory.size() || bytes > memory.size() - offset) {
      return base::Fail(base::ProtocolError("a range lies outside of the memory"));
    }
    ranges.push_back({names.back().c_str(), memory.data() + offset, bytes, range[3].get<unsigned>(),
                      range[4].get<bool>() ? 1u : 0u, range[5].get<bool>() ? 1u : 0u});
  }
  cupilot_host_watch_settings settings = {};
  settings.ranges = ranges.data();
  settings.range_count = static_cast<unsigned>(ranges.size());
  settings.around = memory.data();
  settings.around_bytes = memory.size();
  settings.most_accesses = request["accesses"].get<unsigned long>();
  settings.shared_poison = request["poison"].get<unsigned char>();
  program.SetTables(memory);
  TRY(program.SetVariables(device));
  cupilot_host_watch_begin(&settings);
  const auto launched = program.Launch(device);
  cupilot_host_watch_report report = {};
  cupilot_host_watch_end(&report);
  // What a kernel itself did has a text; all else (a lack of memory) says nothing about it.
  const bool by_kernel = !launched && *cupilot_host_failure_text() != '\0';
  if (!launched && report.stopped == 0 && !by_kernel) return base::Fail(launched.error());
  if (launched) TRY(program.GetVariables(device));
  program.GetTables(memory);
  Json reply = {
      {"findings", Json::array()}, {"accesses", report.accesses}, {"stopped", report.stopped != 0}};
  if (by_kernel && report.stopped == 0) reply["failure"] = launched.error().message;
  for (unsigned i = 0; i < report.count; ++i) {
    const cupilot_host_watch_finding& finding = report.findings[i];
    reply["findings"].push_back({static_cast<int>(finding.kind), finding.name, finding.detail,
                                 finding.times, finding.line});
  }
  return reply;
}

}  // namespace cupilot::worker
