#include "worker/cuda_peaks.h"

#include <algorithm>

namespace cupilot::worker {
namespace {

using device::ModuleInfo;

constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;  // of one buffer
constexpr int kRounds = 7;
constexpr int kEmptyLaunches = 200;
constexpr std::int64_t kBlockThreads = 512;
constexpr std::int64_t kLoadsOfOneThread = 4;

// A sum over everything, so that every byte must be read; and nothing at all. Text for the driver's
// own compiler, which every GPU since Volta takes.
constexpr const char* kKernels = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry cupilot_read(.param .u64 from, .param .u64 words, .param .u64 to)
{
  .reg .pred %p<3>;
  .reg .b32 %r<12>;
  .reg .b64 %d<8>;
  ld.param.u64 %d1, [from];
  ld.param.u64 %d2, [words];
  ld.param.u64 %d3, [to];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mad.lo.u32 %r5, %r1, %r2, %r3;
  cvt.u64.u32 %d4, %r5;
  mul.wide.u32 %d5, %r4, %r2;
  mov.u32 %r6, 0;
again:
  setp.ge.u64 %p1, %d4, %d2;
  @%p1 bra done;
  shl.b64 %d6, %d4, 4;
  add.u64 %d6, %d1, %d6;
  ld.global.v4.u32 {%r7, %r8, %r9, %r10}, [%d6];
  add.u32 %r6, %r6, %r7;
  add.u32 %r6, %r6, %r8;
  add.u32 %r6, %r6, %r9;
  add.u32 %r6, %r6, %r10;
  add.u64 %d4, %d4, %d5;
  bra again;
done:
  setp.ne.u32 %p2, %r6, 305419897;
  @%p2 bra out;
  st.global.u32 [%d3], %r6;
out:
  ret;
}
.visible .entry cupilot_empty()
{
  ret;
}
)";

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

}  // namespace

base::Result<records::Json> TakeCudaPeaks(device::cuda::CudaDevice& device) {
  const auto free = static_cast<std::int64_t>(device.FreeBytes());
  const std::int64_t bytes = std::min(kMostBytes, free / 8) / 4096 * 4096;
  if (bytes <= 0) return base::Fail(base::Unavailable("the GPU has no free memory"));
  TRY(device.Reserve(static_cast<std::size_t>(2 * bytes)));
  ModuleInfo info;
  TRY_ASSIGN(const device::ModuleId module, device.LoadText(kKernels, &info));
  std::uint64_t from = device.Address(), words = static_cast<std::uint64_t>(bytes) / 16,
                to = device.Address() + static_cast<std::uint64_t>(bytes);
  void* arguments[] = {&from, &words, &to};
  device::Launch read;
  read.module = module;
  read.kernel = IndexOf(info, "cupilot_read");
  read.block = {kBlockThreads, 1, 1};
  read.grid = {
      (bytes / 16 + kBlockThreads * kLoadsOfOneThread - 1) / (kBlockThreads * kLoadsOfOneThread), 1,
      1};
  read.arguments = arguments;
  TRY_ASSIGN(const double read_us, BestUs(device, [&] { return device.Launch(read); }));
  TRY_ASSIGN(const double write_us, BestUs(device, [&] { return device.Fill(0, bytes, 1); }));
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
  device.UnloadAll();
  TRY(device.ScrubAndShrink());
  const auto size = static_cast<double>(bytes);
  return records::Json{{"read", size / read_us},
                       {"write", size / write_us},
                       {"copy", 2 * size / copy_us},
                       {"launch_us", empty_us / kEmptyLaunches},
                       {"bytes", bytes}};
}

}  // namespace cupilot::worker
