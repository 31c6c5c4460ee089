#include "worker/cuda_peaks.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "worker/peak_kernels.h"

namespace cupilot::worker {
namespace {

using device::ModuleInfo;

constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;  // of one buffer
constexpr int kRounds = 7;
constexpr int kEmptyLaunches = 200;
constexpr std::int64_t kBlockThreads = 512;
constexpr std::int64_t kWordsOfOneThread = 4;
// Arithmetic: enough warps for every scheduler, and long enough for the clock to settle.
constexpr std::int64_t kRateBlocks = 8;  // a multiprocessor
constexpr std::int64_t kRateThreads = 256;
constexpr std::uint32_t kRateRounds = 200;

int IndexOf(const ModuleInfo& info, const std::string& name) {
  const auto it = std::find_if(info.kernels.begin(), info.kernels.end(),
                               [&](const auto& kernel) { return kernel.name == name; });
  return static_cast<int>(it - info.kernels.begin());
}

// The best of some rounds after one that warms up.
template <class Work>
base::Result<double> BestUs(device::cuda::CudaDevice& device, const Work& work) {
  double best = 0;
  for (int round = 0; round <= kRounds; ++round) {
    TRY_ASSIGN(const double us, device.Time(work));
    if (round == 1 || (round > 1 && us < best)) best = us;
  }
  return best;
}

// Operations a microsecond of the whole device.
base::Result<double> RateOf(device::cuda::CudaDevice& device, const RateKernel& kernel,
                            std::int64_t multiprocessors) {
  ModuleInfo info;
  TRY_ASSIGN(const device::ModuleId module, device.LoadText(kernel.text.c_str(), &info));
  std::uint32_t rounds = kRateRounds, seed = 1;
  std::uint64_t to = device.Address();
  void* arguments[] = {&rounds, &seed, &to};
  device::Launch launch;
  launch.module = module;
  launch.kernel = IndexOf(info, "cupilot_rate");
  launch.block = {kRateThreads, 1, 1};
  launch.grid = {multiprocessors * kRateBlocks, 1, 1};
  launch.arguments = arguments;
  TRY_ASSIGN(const double us, BestUs(device, [&] { return device.Launch(launch); }));
  const double threads = static_cast<double>(launch.grid[0]) * kRateThreads;
  return threads * kRateRounds * kernel.operations_a_round / us;
}

int CapabilityOf(const std::string& architecture) {
  const std::size_t digits = architecture.find('_');
  return digits == std::string::npos ? 0 : std::atoi(architecture.c_str() + digits + 1);
}

// A pipe that this driver's compiler has no instruction for is left out.
base::Result<records::Json> TakeRates(device::cuda::CudaDevice& device) {
  TRY_ASSIGN(const device::Properties properties, device.Describe());
  records::Json rates = records::Json::object();
  for (const RateKernel& kernel : RateKernels(CapabilityOf(properties.architecture))) {
    const auto rate = RateOf(device, kernel, properties.sm_count);
    if (rate) rates[kernel.pipe] = *rate;
    if (!rate && rate.error().code == base::ErrorCode::kToolFailed) {
      return base::Fail(rate.error());
    }
  }
  return rates;
}

}  // namespace

base::Result<records::Json> TakeCudaPeaks(device::cuda::CudaDevice& device) {
  const auto free = static_cast<std::int64_t>(device.FreeBytes());
  const std::int64_t bytes = std::min(kMostBytes, free / 8) / 4096 * 4096;
  if (bytes <= 0) return base::Fail(base::Unavailable("the GPU has no free memory"));
  TRY(device.Reserve(static_cast<std::size_t>(2 * bytes)));
  ModuleInfo info;
  TRY_ASSIGN(const device::ModuleId module, device.LoadText(MemoryKernels().c_str(), &info));
  std::uint64_t from = device.Address(), words = static_cast<std::uint64_t>(bytes) / 16,
                to = device.Address() + static_cast<std::uint64_t>(bytes);
  device::Launch pass;
  pass.module = module;
  pass.block = {kBlockThreads, 1, 1};
  pass.grid = {
      (bytes / 16 + kBlockThreads * kWordsOfOneThread - 1) / (kBlockThreads * kWordsOfOneThread), 1,
      1};
  void* read_arguments[] = {&from, &words, &to};
  void* write_arguments[] = {&from, &words};
  device::Launch read = pass, write = pass;
  read.kernel = IndexOf(info, "cupilot_read");
  read.arguments = read_arguments;
  write.kernel = IndexOf(info, "cupilot_write");
  write.arguments = write_arguments;
  TRY_ASSIGN(const double read_us, BestUs(device, [&] { return device.Launch(read); }));
  TRY_ASSIGN(const double write_us, BestUs(device, [&] { return device.Launch(write); }));
  TRY_ASSIGN(const double copy_us, BestUs(device, [&] { return device.Move(0, bytes, bytes); }));
  device::Launch empty;
  empty.module = module;
  empty.kernel = IndexOf(info, "cupilot_empty");
  empty.block = {32, 1, 1};
  TRY_ASSIGN(const int graph, device.Record([&]() -> base::Result<> {
    for (int i = 0; i < kEmptyLaunches; ++i) TRY(device.Launch(empty));
    return {};
  }));
  TRY_ASSIGN(const double empty_us, BestUs(device, [&] { return device.Replay(graph); }));
  TRY_ASSIGN(records::Json rates, TakeRates(device));
  device.UnloadAll();
  TRY(device.ScrubAndShrink());
  const auto size = static_cast<double>(bytes);
  return records::Json{{"read", size / read_us},         {"write", size / write_us},
                       {"copy", 2 * size / copy_us},     {"launch_us", empty_us / kEmptyLaunches},
                       {"arithmetic", std::move(rates)}, {"bytes", bytes}};
}

}  // namespace cupilot::worker
