// The runner's side: loads modules, confines itself, and does what it is told. Nothing here decides
// anything about a candidate.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <memory>
#include <utility>

#include "cuda_runtime_api.h"
#include "cupilot_host_schedule.h"
#include "device/cuda/cuda_device.h"
#include "device/cuda/driver.h"
#include "device/describe.h"
#include "device/host/host_device.h"
#include "records/json.h"
#include "worker/cuda_counters.h"
#include "worker/cuda_pairs.h"
#include "worker/cuda_peaks.h"
#include "worker/error_reply.h"
#include "worker/pair_loop.h"
#include "worker/prepared_program.h"
#include "worker/runner.h"
#include "worker/sandbox/sandbox.h"
#include "worker/series_op.h"
#include "worker/watch_op.h"

namespace cupilot::worker {
namespace {

using records::Json;

constexpr int kArenaDescriptor = 3;
constexpr std::size_t kOwnAddressSpace = std::size_t{12} << 30;  // over what the arena takes

int LaunchOnHost(const void* handle, const std::array<std::int64_t, 3>& grid,
                 const std::array<std::int64_t, 3>& block, void* const* arguments,
                 std::int64_t shared_bytes) {
  const auto to_dim = [](const std::array<std::int64_t, 3>& d) {
    return dim3(static_cast<unsigned>(d[0]), static_cast<unsigned>(d[1]),
                static_cast<unsigned>(d[2]));
  };
  if (shared_bytes > 48 * 1024) {
    cudaFuncSetAttribute(handle, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         static_cast<int>(shared_bytes));
  }
  const cudaError_t launched =
      cudaLaunchKernel(handle, to_dim(grid), to_dim(block), const_cast<void**>(arguments),
                       static_cast<std::size_t>(shared_bytes), nullptr);
  return launched != cudaSuccess ? launched : cudaDeviceSynchronize();
}

const char* TextOf(int error) {
  const char* failure = cupilot_host_failure_text();
  return *failure != '\0' ? failure : cudaGetErrorString(static_cast<cudaError_t>(error));
}

class RunServer {
 public:
  base::Result<Json> Handle(const Json& request) {
    const std::string op = request.value("op", "");
    if (op == "open") return Open(request);
    if (op == "load") return Load(request);
    if (op != "pairs" && cuda_ != nullptr) TRY(ForgetProbe(*cuda_, probe_));
    if (op == "run") return Run(request);
    if (op == "series") return RunSeries(request);
    if (op == "watch" && cuda_ == nullptr) return Watch(request);
    if (op == "pairs") return Pairs(request);
    if (op == "counters" && cuda_ != nullptr) {
      return TakeCudaCounters(*cuda_, infos_, memory_, request);
    }
    if (op == "peaks" && cuda_ != nullptr) return TakeCudaPeaks(*cuda_);
    return base::Fail(base::ProtocolError("unknown op '" + op + "'"));
  }

 private:
  // What a GPU's process can do before it is known what it will need.
  base::Result<Json> Open(const Json& request) {
    TRY(OpenDevice(request));
    if (cuda_ != nullptr) BeginSlowdownWatch();
    return Json::object();
  }

  // The first one says which device this process is for; with a GPU others may follow.
  base::Result<Json> Load(const Json& request) {
    const bool first = !std::exchange(mapped_, true);
    if (first) {
      TRY(OpenDevice(request));
      TRY_ASSIGN(memory_, device_->Allocate(kArenaDescriptor, BytesOf(request)));
      usable_ = memory_;
      // On the host what is loaded next is code of this process.
      if (cuda_ == nullptr) TRY(FilterCalls(Confined::kCandidate));
    }
    device_->UnloadAll();
    infos_.clear();
    // Exactly so much: memcheck sees reads behind it.
    if (cuda_ != nullptr && request.contains("memory_bytes")) {
      usable_ = memory_.first(std::min(request["memory_bytes"].get<std::size_t>(), memory_.size()));
      TRY(cuda_->ReserveExactly(usable_.size()));
    }
    for (const Json& path : request["modules"]) {
      device::ModuleInfo info;
      TRY(device_->Load(path.get<std::string>(), &info));
      infos_.push_back(std::move(info));
    }
    if (first && cuda_ != nullptr) TRY(FilterCalls(Confined::kGpuCandidate));
    Json reply = {{"architecture", infos_.empty() ? "" : infos_[0].architecture},
                  {"resources", Json::array()}};
    for (std::size_t module = 0; cuda_ != nullptr && module < infos_.size(); ++module) {
      reply["resources"].push_back(ResourcesOf(module));
    }
    return reply;
  }

  static std::size_t BytesOf(const Json& request) {
    return request.value("arena_bytes", std::size_t{0});
  }

  base::Result<> OpenDevice(const Json& request) {
    if (device_ != nullptr) return {};
    const int index = device::CudaIndexOf(request.value("device", "host"));
    if (index >= 0) {
      // A driver reserves address space by the size of all memory: no limit on that.
      TRY_ASSIGN(auto opened, device::cuda::CudaDevice::Open(index));
      cuda_ = opened.get();
      device_ = std::move(opened);
    } else {
      TRY(LimitResources({BytesOf(request) + kOwnAddressSpace, 0, 0}));
      device_ = std::make_unique<device::HostDevice>(
          device::HostRuntime{&LaunchOnHost, &cupilot_host_register, &TextOf, nullptr});
    }
    return {};
  }

  Json ResourcesOf(std::size_t module) const {
    Json kernels = Json::object();
    for (std::size_t i = 0; i < infos_[module].kernels.size(); ++i) {
      const auto resources =
          cuda_->ResourcesOf(static_cast<device::ModuleId>(module), static_cast<int>(i));
      kernels[infos_[module].kernels[i].name] = {{"registers", resources.registers},
                                                 {"local_bytes", resources.local_bytes},
                                                 {"shared_bytes", resources.shared_bytes}};
    }
    return kernels;
  }

  base::Result<PreparedProgram> Prepare(const Json& module, const Json& program) const {
    const auto index = module.get<std::size_t>();
    if (index >= infos_.size()) return base::Fail(base::ProtocolError("no such module"));
    return PreparedProgram::Make(program, static_cast<device::ModuleId>(index), infos_[index],
                                 device_->Address(), 0);
  }

  // Of the host device; "" for none. It holds for one request.
  base::Result<> SetSchedule(const std::string& schedule) const {
    if (cuda_ != nullptr && !schedule.empty()) {
      return base::Fail(base::InvalidArgument("a GPU has no schedules"));
    }
    if (cupilot_host_set_schedule(schedule.c_str()) != 0) {
      return base::Fail(base::InvalidArgument("no such schedule: " + schedule));
    }
    return {};
  }

  // On the first "bytes" of the memory (all of it if the request does not say).
  base::Result<Json> Run(const Json& request) {
    TRY(SetSchedule(request.value("schedule", "")));
    const auto size = static_cast<std::int64_t>(usable_.size());
    const auto bytes = request.value("bytes", size);
    if (bytes > size) return base::Fail(base::ProtocolError("more bytes than memory"));
    TRY_ASSIGN(PreparedProgram program, Prepare(request["module"], request["program"]));
    program.SetTables(memory_);
    TRY(device_->Upload(0, bytes));
    // A GPU's memory for these buffers is larger than they are: nothing old lies there.
    if (cuda_ != nullptr && request.contains("beyond") && bytes < size) {
      TRY(device_->Fill(bytes, size - bytes, request["beyond"].get<int>()));
    }
    TRY(program.SetVariables(*device_));
    TRY_ASSIGN(const double time, device_->Time([&] { return program.Launch(*device_); }));
    TRY(program.GetVariables(*device_));
    TRY(device_->Download(0, bytes));
    program.GetTables(memory_);
    return Json{{"microseconds", time}};
  }

  base::Result<Json> RunSeries(const Json& request) {
    TRY(SetSchedule(""));
    TRY_ASSIGN(PreparedProgram program, Prepare(request["module"], request["program"]));
    return TakeSeries(*device_, program, memory_, request);
  }

  base::Result<Json> Watch(const Json& request) {
    TRY(SetSchedule(""));
    TRY_ASSIGN(PreparedProgram program, Prepare(request["module"], request["program"]));
    return TakeWatchedRun(*device_, program, memory_, request);
  }

  base::Result<Json> Pairs(const Json& request) {
    TRY(SetSchedule(""));
    if (cuda_ != nullptr) return TakeCudaPairs(*cuda_, infos_, memory_, request, probe_);
    return HostPairs(request);
  }

  // Each pair with the two sets of buffers exchanged. What launches change and read again is put
  // back before each, untimed.
  base::Result<Json> HostPairs(const Json& request) {
    std::vector<PreparedProgram> programs[2];
    for (std::size_t side = 0; side < 2; ++side) {
      for (std::size_t copy = 0; copy < 2; ++copy) {
        TRY_ASSIGN(PreparedProgram program,
                   Prepare(request["modules"][side], request["programs"][2 * side + copy]));
        program.SetTables(memory_);
        TRY(program.SetVariables(*device_));
        programs[side].push_back(std::move(program));
      }
    }
    TRY_ASSIGN(const PairsTaken taken,
               TakePairs(PairSettingsOf(request), [&](int side, std::size_t pair) {
                 const std::size_t copy = (pair / 2 + static_cast<std::size_t>(side)) % 2;
                 PreparedProgram& program = programs[side][copy];
                 Restore(request["restore"], copy, program);
                 return device_->Time([&] { return program.Launch(*device_); });
               }));
    if (!taken.stopped_early) {
      // The judge looks at the results of one more launch on copy 1. Nothing else tells it apart.
      Restore(request["restore"], 1, programs[1][1]);
      for (const Json& stretch : request["poison"]) {
        std::memset(memory_.data() + stretch[0].get<std::int64_t>(), stretch[2].get<int>(),
                    stretch[1].get<std::size_t>());
      }
      TRY(device_->Time([&] { return programs[1][1].Launch(*device_); }));
      programs[1][1].GetTables(memory_);
    }
    return ToJson(taken);
  }

  // [[from, to of copy 0, to of copy 1, bytes], ...]
  void Restore(const Json& stretches, std::size_t copy, const PreparedProgram& program) {
    for (const Json& stretch : stretches) {
      std::memcpy(memory_.data() + stretch[1 + copy].get<std::int64_t>(),
                  memory_.data() + stretch[0].get<std::int64_t>(), stretch[3].get<std::size_t>());
    }
    if (!stretches.empty()) program.SetTables(memory_);
  }

  std::unique_ptr<device::Device> device_;
  device::cuda::CudaDevice* cuda_ = nullptr;  // the same, if it is a GPU
  bool mapped_ = false;                       // the memory, or it could not be
  std::span<std::byte> memory_;
  std::span<std::byte> usable_;  // of it; the device has no more
  std::vector<device::ModuleInfo> infos_;
  KeptProbe probe_;
};

Json ToJson(const base::Error& error) {
  return {{"error", error.message}, {"code", std::string(base::Name(error.code))}};
}

// A runner that cannot be confined runs nothing.
int RefuseToRun(const base::Error& error) {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << LineOf(ToJson(error)) << std::endl;
  }
  return 0;
}

}  // namespace

int ServeRuns(const std::string& access) {
  if (!access.empty()) {
    const auto json = records::ParseJson(access);
    const auto allowed = json ? ParseAccess(*json) : base::Result<Access>(base::Fail(json.error()));
    const auto confined =
        allowed ? ConfineFiles(*allowed) : base::Result<>(base::Fail(allowed.error()));
    if (!confined) return RefuseToRun(confined.error());
    // It takes as long as making a context, but touches no GPU: nobody is waited for who measures
    // there. Whoever needs the driver is told if there is none.
    if (allowed->gpus) (void)device::cuda::OpenDriver();
  }
  // What a candidate prints must not look like a reply.
  const int replies = ::dup(1);
  ::dup2(2, 1);
  RunServer server;
  bool broken = false;
  for (std::string line; !broken && std::getline(std::cin, line);) {
    Json reply;
    const auto request = records::ParseJson(line);
    auto result =
        request ? server.Handle(*request) : base::Result<Json>(base::Fail(request.error()));
    if (result) {
      reply = *result;
    } else {
      // After a failure of the device this process is of no further use.
      broken = result.error().code == base::ErrorCode::kToolFailed;
      reply = ToJson(result.error());
    }
    const std::string text = LineOf(reply) + "\n";
    if (::write(replies, text.data(), text.size()) != static_cast<ssize_t>(text.size())) return 1;
  }
  return 0;
}

}  // namespace cupilot::worker
