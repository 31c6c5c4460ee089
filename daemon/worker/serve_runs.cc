// The runner's side: loads modules, confines itself, and does what it is told. Nothing here decides
// anything about a candidate.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iostream>

#include "cuda_runtime_api.h"
#include "device/host/host_device.h"
#include "records/json.h"
#include "worker/measure.h"
#include "worker/runner.h"
#include "worker/sandbox/sandbox.h"

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

struct Work {
  struct Prepared {
    device::Launch launch;
    std::vector<std::vector<std::byte>> values;
    std::vector<void*> addresses;
    std::int64_t fill_offset = 0, fill_bytes = 0;
    int byte = 0;
    bool is_fill = false;
  };
  struct Global {
    device::ModuleId module;
    int variable;
    std::int64_t offset, bytes;
    bool copy_back;
  };
  std::vector<Prepared> steps;
  std::vector<Global> globals;
};

class RunServer {
 public:
  RunServer() : device_({&LaunchOnHost, &cupilot_host_register, &TextOf, nullptr}) {}

  base::Result<Json> Handle(const Json& request) {
    const std::string op = request.value("op", "");
    if (op == "load") return Load(request);
    if (op == "run") return Run(request);
    if (op == "pairs") return Pairs(request);
    return base::Fail(base::ProtocolError("unknown op '" + op + "'"));
  }

 private:
  base::Result<Json> Load(const Json& request) {
    const auto bytes = request.value("arena_bytes", std::size_t{0});
    TRY(LimitResources(bytes + kOwnAddressSpace));
    TRY_ASSIGN(memory_, device_.Allocate(kArenaDescriptor, bytes));
    for (const Json& path : request["modules"]) {
      device::ModuleInfo info;
      TRY_ASSIGN(const device::ModuleId id, device_.Load(path.get<std::string>(), &info));
      ids_.push_back(id);
      infos_.push_back(std::move(info));
    }
    TRY(ConfineRunner());
    return Json{{"architecture", infos_.empty() ? "" : infos_[0].architecture}};
  }

  base::Result<Work> Prepare(int module, const Json& program) {
    const auto index = static_cast<std::size_t>(module);
    if (index >= infos_.size()) return base::Fail(base::ProtocolError("no such module"));
    Work work;
    for (const Json& json : program["steps"]) {
      Work::Prepared step;
      step.fill_offset = json["fill_offset"].get<std::int64_t>();
      step.fill_bytes = json["fill_bytes"].get<std::int64_t>();
      step.byte = json["byte"].get<int>();
      step.is_fill = json["kernel"].get<std::string>().empty();
      if (!step.is_fill) TRY(PrepareLaunch(json, index, step));
      work.steps.push_back(std::move(step));
    }
    for (const Json& json : program["globals"]) {
      const auto& variables = infos_[index].variables;
      const auto it = std::find_if(variables.begin(), variables.end(), [&](const auto& variable) {
        return variable.name == json["symbol"].get<std::string>();
      });
      if (it == variables.end()) {
        return base::Fail(base::InvalidArgument("the artifact has no variable '" +
                                                json["symbol"].get<std::string>() + "'"));
      }
      work.globals.push_back({ids_[index], static_cast<int>(it - variables.begin()),
                              json["offset"].get<std::int64_t>(), json["bytes"].get<std::int64_t>(),
                              json["copy_back"].get<bool>()});
    }
    return work;
  }

  base::Result<> PrepareLaunch(const Json& json, std::size_t index, Work::Prepared& step) {
    const auto& kernels = infos_[index].kernels;
    const std::string name = json["kernel"].get<std::string>();
    const auto it = std::find_if(kernels.begin(), kernels.end(),
                                 [&](const auto& kernel) { return kernel.name == name; });
    if (it == kernels.end()) {
      return base::Fail(base::InvalidArgument("the artifact has no kernel '" + name + "'"));
    }
    step.launch.module = ids_[index];
    step.launch.kernel = static_cast<int>(it - kernels.begin());
    step.launch.grid = json["grid"].get<std::array<std::int64_t, 3>>();
    step.launch.block = json["block"].get<std::array<std::int64_t, 3>>();
    step.launch.shared_bytes = json["shared_bytes"].get<std::int64_t>();
    if (json["arguments"].size() != it->parameter_bytes.size()) {
      return base::Fail(base::InvalidArgument(
          "'" + name + "' takes " + std::to_string(it->parameter_bytes.size()) +
          " arguments, not " + std::to_string(json["arguments"].size())));
    }
    for (std::size_t i = 0; i < it->parameter_bytes.size(); ++i) {
      const Json& argument = json["arguments"][i];
      std::vector<std::byte> value = FromHex(argument["bytes"].get<std::string>());
      for (const Json& pointer : argument["pointers"]) {
        const std::byte* address = memory_.data() + pointer[1].get<std::int64_t>();
        std::memcpy(value.data() + pointer[0].get<std::size_t>(), &address, sizeof address);
      }
      if (static_cast<std::int64_t>(value.size()) != it->parameter_bytes[i]) {
        return base::Fail(base::InvalidArgument("argument " + std::to_string(i) + " of '" + name +
                                                "' has another size"));
      }
      step.values.push_back(std::move(value));
    }
    return {};
  }

  static std::vector<std::byte> FromHex(const std::string& text) {
    const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    std::vector<std::byte> bytes(text.size() / 2);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::byte>(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
    }
    return bytes;
  }

  base::Result<> CopyGlobals(const Work& work, device::Direction direction) {
    for (const Work::Global& global : work.globals) {
      if (direction == device::Direction::kFromDevice && !global.copy_back) continue;
      TRY(device_.Copy(global.module, global.variable, direction,
                       memory_.subspan(static_cast<std::size_t>(global.offset),
                                       static_cast<std::size_t>(global.bytes))));
    }
    return {};
  }

  base::Result<> Execute(Work& work) {
    for (Work::Prepared& step : work.steps) {
      if (step.is_fill) {
        std::memset(memory_.data() + step.fill_offset, step.byte,
                    static_cast<std::size_t>(step.fill_bytes));
        continue;
      }
      step.addresses.clear();
      for (auto& value : step.values) step.addresses.push_back(value.data());
      step.launch.arguments = step.addresses.data();
      TRY(device_.Launch(step.launch));
    }
    return {};
  }

  base::Result<double> Timed(Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    TRY(Execute(work));
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
        .count();
  }

  base::Result<Json> Run(const Json& request) {
    TRY_ASSIGN(Work work, Prepare(request["module"].get<int>(), request["program"]));
    TRY(CopyGlobals(work, device::Direction::kToDevice));
    TRY_ASSIGN(const double time, Timed(work));
    TRY(CopyGlobals(work, device::Direction::kFromDevice));
    return Json{{"microseconds", time}};
  }

  // Original and candidate in turn, each pair with the two sets of buffers exchanged. What launches
  // change and read again is put back before each, untimed.
  base::Result<Json> Pairs(const Json& request) {
    Work works[2][2];
    for (int side = 0; side < 2; ++side) {
      for (int copy = 0; copy < 2; ++copy) {
        TRY_ASSIGN(works[side][copy],
                   Prepare(request["modules"][static_cast<std::size_t>(side)].get<int>(),
                           request["programs"][static_cast<std::size_t>(2 * side + copy)]));
        TRY(CopyGlobals(works[side][copy], device::Direction::kToDevice));
      }
    }
    const double seconds = request["seconds"].get<double>();
    const double probe_limit = request["probe_limit"].get<double>();
    const auto most = request["most_pairs"].get<std::size_t>();
    TimedPairs pairs;
    bool stopped = false;
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i <= most; ++i) {
      double times[2];
      for (int turn = 0; turn < 2; ++turn) {
        const int side = (static_cast<int>(i) + turn) % 2;
        const int copy = (static_cast<int>(i / 2) + side) % 2;
        Restore(request["restore"], copy);
        TRY_ASSIGN(times[side], Timed(works[side][copy]));
      }
      if (i == 0) continue;  // the first pair warms up
      pairs.emplace_back(times[0], times[1]);
      stopped = i == 3 && LosesProbe(pairs, probe_limit);
      const double spent =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (stopped || EnoughPairs(pairs, spent, seconds)) break;
    }
    Json reply = {{"pairs", Json::array()}, {"stopped_early", stopped}};
    for (const auto& [original, candidate] : pairs) {
      reply["pairs"].push_back({original, candidate});
    }
    return reply;
  }

  // [[from, to of copy 0, to of copy 1, bytes], ...]
  void Restore(const Json& stretches, int copy) {
    for (const Json& stretch : stretches) {
      std::memcpy(memory_.data() + stretch[static_cast<std::size_t>(1 + copy)].get<std::int64_t>(),
                  memory_.data() + stretch[0].get<std::int64_t>(), stretch[3].get<std::size_t>());
    }
  }

  device::HostDevice device_;
  std::span<std::byte> memory_;
  std::vector<device::ModuleId> ids_;
  std::vector<device::ModuleInfo> infos_;
};

}  // namespace

int ServeRuns() {
  // What a candidate prints must not look like a reply.
  const int replies = ::dup(1);
  ::dup2(2, 1);
  RunServer server;
  for (std::string line; std::getline(std::cin, line);) {
    Json reply;
    const auto request = records::ParseJson(line);
    auto result =
        request ? server.Handle(*request) : base::Result<Json>(base::Fail(request.error()));
    if (result) {
      reply = *result;
    } else {
      reply["error"] = result.error().message;
    }
    const std::string text = reply.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    if (::write(replies, text.data(), text.size()) != static_cast<ssize_t>(text.size())) return 1;
  }
  return 0;
}

}  // namespace cupilot::worker
