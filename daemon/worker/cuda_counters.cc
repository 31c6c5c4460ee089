#include "worker/cuda_counters.h"

#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "device/cuda/range_profiler.h"
#include "worker/prepared_program.h"

namespace cupilot::worker {
namespace {

using device::cuda::CudaDevice;
using device::cuda::RangeProfiler;
using records::Json;

constexpr std::int64_t kCopyStep = 4096;  // where the copy of the buffers begins

// Once a process: a profiler that could not be opened stays so.
base::Result<RangeProfiler*> ProfilerOf(const CudaDevice& device,
                                        const std::vector<std::string>& toolkits) {
  static auto& opened =
      *new base::Result<std::unique_ptr<RangeProfiler>>(RangeProfiler::Open(device, toolkits));
  if (!opened) return base::Fail(opened.error());
  return opened->get();
}

Json DescribeLaunch(const CudaDevice& device, const device::Properties& properties,
                    const device::ModuleInfo& info, const device::Launch& launch) {
  const auto resources = device.ResourcesOf(launch.module, launch.kernel);
  const int blocks = device.BlocksPerMultiprocessor(launch);
  const auto threads = static_cast<double>(launch.block[0] * launch.block[1] * launch.block[2]);
  const auto most = static_cast<double>(properties.max_threads_per_sm);
  return {{"kernel", info.kernels[static_cast<std::size_t>(launch.kernel)].name},
          {"registers", resources.registers},
          {"shared_bytes", resources.shared_bytes + launch.shared_bytes},
          {"local_bytes", resources.local_bytes},
          {"blocks_per_sm", blocks},
          {"occupancy", most > 0 ? blocks * threads / most : 0}};
}

}  // namespace

base::Result<Json> TakeCudaCounters(CudaDevice& device,
                                    const std::vector<device::ModuleInfo>& infos,
                                    std::span<std::byte> memory, const Json& request) {
  const auto bytes = request["bytes"].get<std::int64_t>();
  const auto module = request["module"].get<std::size_t>();
  if (module >= infos.size()) return base::Fail(base::ProtocolError("no such module"));
  TRY_ASSIGN(const device::Properties properties, device.Describe());
  const std::int64_t pristine = (bytes + kCopyStep - 1) / kCopyStep * kCopyStep;
  const std::int64_t flush = 2 * pristine, flush_bytes = 2 * properties.l2_bytes;
  TRY(device.Reserve(static_cast<std::size_t>(flush + flush_bytes)));
  TRY_ASSIGN(PreparedProgram program,
             PreparedProgram::Make(request["program"], static_cast<device::ModuleId>(module),
                                   infos[module], device.Address(), 0));
  program.SetTables(memory);
  TRY(device.Upload(0, bytes));
  TRY(device.Move(0, pristine, bytes));
  TRY(program.SetVariables(device));
  const auto before = [&]() -> base::Result<> {
    for (const Json& stretch : request["restore"]) {
      const auto offset = stretch[0].get<std::int64_t>();
      TRY(device.Move(pristine + offset, offset, stretch[1].get<std::int64_t>()));
    }
    TRY(device.Fill(flush, flush_bytes, 1));
    return device.Wait();
  };
  const auto work = [&]() -> base::Result<> {
    TRY(program.Launch(device));
    return device.Wait();
  };
  // Once uncounted: it loads the code, and raises what the device allows of shared memory.
  TRY(before());
  TRY(work());
  Json reply = {{"launches", Json::array()}};
  for (const device::Launch& launch : program.launches()) {
    reply["launches"].push_back(DescribeLaunch(device, properties, infos[module], launch));
  }
  const auto profiler = ProfilerOf(device, request["toolkits"].get<std::vector<std::string>>());
  auto counted = profiler ? (*profiler)->Count(request["metrics"].get<std::vector<std::string>>(),
                                               before, work)
                          : base::Result<RangeProfiler::Counted>(base::Fail(profiler.error()));
  if (!counted && counted.error().code == base::ErrorCode::kToolFailed) {
    return base::Fail(counted.error());
  }
  if (counted) {
    reply["passes"] = counted->passes;
    reply["counters"] = Json::object();
    for (const auto& [name, value] : counted->values) {
      if (std::isfinite(value)) reply["counters"][name] = value;
    }
  } else {
    reply["reason"] = counted.error().message;
  }
  TRY(device.ScrubAndShrink());
  return reply;
}

}  // namespace cupilot::worker
