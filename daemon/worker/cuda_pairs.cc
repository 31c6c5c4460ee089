#include "worker/cuda_pairs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "device/cuda/nvml.h"
#include "worker/pair_loop.h"
#include "worker/prepared_program.h"

namespace cupilot::worker {
namespace {

using records::Json;

constexpr std::size_t kMostCopies = 128;
constexpr double kSampleUs = 150;     // a sample is at least so long, events are good to 0.5 us
constexpr double kGraphBelowUs = 50;  // above, the gap between launches does not count
constexpr std::size_t kMostLaunches = 256;  // of a sample
constexpr std::size_t kWarmPairs = 20;
constexpr double kLongUs = 1000;      // two launches say as much as three
constexpr std::int64_t kStep = 4096;  // copies begin at multiples of it
// What is unverified may write anywhere: after so many probes all is brought anew.
constexpr int kMostUses = 64;
// The GPU's clock moves slowly: a long original is timed again after so long.
constexpr std::chrono::seconds kTimedFor{2};

struct Stretch {
  std::int64_t offset = 0, bytes = 0;
};

// Whether the GPU is slowed down, by the management library; never, where that does not tell.
class SlowdownWatch {
 public:
  explicit SlowdownWatch(std::string uuid) : uuid_(std::move(uuid)) {}
  static void Begin() { (void)Library(); }

  bool operator()() const {
    const auto& library = Library();
    return library && (*library)->SlowedDown(uuid_).value_or(false);
  }

 private:
  using Opened = base::Result<std::unique_ptr<device::cuda::Nvml>>;
  // Opening it takes longer than a measurement: once a process.
  static const Opened& Library() {
    static const Opened kLibrary = device::cuda::Nvml::Open();
    return kLibrary;
  }

  std::string uuid_;
};

class CudaPairs {
 public:
  CudaPairs(device::cuda::CudaDevice& device, std::span<std::byte> memory, const Json& request,
            KeptProbe& kept)
      : device_(device), memory_(memory), settings_(PairSettingsOf(request)), kept_(kept) {
    contents_ = request.value("contents", "");
    only_original_ = request.value("only_original", false);
    // Who asked knew nothing when it asked.
    if (settings_.promising == 0 && kept.contents == contents_) settings_.promising = kept.best;
    const auto bytes = request["bytes"].get<std::int64_t>();
    bytes_ = bytes;
    stride_ = (bytes + kStep - 1) / kStep * kStep;
    for (const Json& stretch : request["restore"]) {
      restore_.push_back({stretch[0].get<std::int64_t>(), stretch[1].get<std::int64_t>()});
    }
  }

  base::Result<Json> Run(const std::vector<device::ModuleInfo>& infos, const Json& request) {
    TRY(MakeCopies(request["programs"][0]));
    TRY(Prepare(infos, request));
    TRY(SetTables());
    TRY(Estimate());
    Json reply = Json::object();
    if (only_original_) {
      if (tables_bytes_ == 0) Keep();
      return reply;
    }
    {
      TRY_ASSIGN(const PairsTaken cold, TakeCold());
      reply = ToJson(cold);
      if (restore_.empty() && !cold.stopped_early && !settings_.probe) {
        TRY_ASSIGN(const PairsTaken warm, TakeWarm());
        reply["warm"] = ToJson(warm);
      }
    }
    if (!reply.value("stopped_early", false) && !settings_.probe) {
      TRY(SampleOnPoison(request["poison"]));
    }
    reply["copies"] = copies_;
    reply["launches"] = launches_;
    reply["graph"] = graph_;
    // Tables lead into the memory that they were made for.
    if (!contents_.empty() && tables_bytes_ == 0) Keep();
    return reply;
  }

 private:
  // The last stretch of the memory keeps the buffers as they were; the flush stands behind it.
  std::int64_t Place(std::size_t copy) const { return static_cast<std::int64_t>(copy) * stride_; }
  std::int64_t Pristine() const { return Place(copies_); }
  std::int64_t Flush() const { return Place(copies_ + 1); }

  // Behind the flush: the tables of each copy, one behind the other.
  std::int64_t Kept(std::size_t copy) const {
    return Flush() + flush_bytes_ + static_cast<std::int64_t>(copy) * tables_bytes_;
  }

  base::Result<> MakeCopies(const Json& program) {
    TRY_ASSIGN(const device::Properties properties, device_.Describe());
    const auto l2 = static_cast<std::size_t>(properties.l2_bytes);
    flush_bytes_ = 2 * static_cast<std::int64_t>(l2);
    slowed_down_ = SlowdownWatch(properties.uuid);
    if (!contents_.empty() && kept_.contents == contents_) return CopyAgain();
    copies_ = CopiesFor(static_cast<std::size_t>(stride_), l2, device_.FreeBytes() / 2);
    if (const auto tables = program.find("tables"); tables != program.end()) {
      const Tables all(*tables, 0);
      for (const Tables::Stretch& table : all.stretches()) tables_bytes_ += table.bytes;
    }
    TRY(device_.Reserve(static_cast<std::size_t>(Kept(copies_))));
    TRY(device_.Upload(0, bytes_));
    for (std::size_t copy = 1; copy <= copies_; ++copy) {
      TRY(device_.Move(0, Place(copy), bytes_));
    }
    return device_.Wait();
  }

  // From the one that nobody was to write to: the probe before has left results in the others.
  base::Result<> CopyAgain() {
    copies_ = kept_.copies;
    for (std::size_t copy = 0; copy < copies_; ++copy) {
      TRY(device_.Move(Pristine(), Place(copy), bytes_));
    }
    const auto age = std::chrono::steady_clock::now() - kept_.timed;
    if (age < kTimedFor) original_us_ = kept_.original_us;
    return device_.Wait();
  }

  void Keep() {
    const bool again = kept_.contents == contents_;
    if (!again) kept_ = {contents_, copies_, 0, 0, 0, {}};
    ++kept_.uses;
    if (estimates_[1] > 0) {
      const double share = estimates_[1] / estimates_[0];
      kept_.best = kept_.best > 0 ? std::min(kept_.best, share) : share;
    }
    if (original_us_ > 0) return;
    kept_.original_us = estimates_[0] > kLongUs ? estimates_[0] : 0;
    kept_.timed = std::chrono::steady_clock::now();
  }

  base::Result<> Prepare(const std::vector<device::ModuleInfo>& infos, const Json& request) {
    for (std::size_t side = 0; side < 2; ++side) {
      const int module = request["modules"][side].get<int>();
      for (std::size_t copy = 0; copy < copies_; ++copy) {
        TRY_ASSIGN(PreparedProgram program,
                   PreparedProgram::Make(request["programs"][side], module,
                                         infos[static_cast<std::size_t>(module)], device_.Address(),
                                         Place(copy)));
        if (copy == 0) TRY(program.SetVariables(device_));
        programs_[side].push_back(std::move(program));
      }
    }
    return {};
  }

  // Each copy's tables lead into the copy; they are kept for what launches change.
  base::Result<> SetTables() {
    for (std::size_t copy = copies_; tables_bytes_ > 0 && copy-- > 0;) {
      const PreparedProgram& program = programs_[0][copy];
      program.SetTables(memory_);
      std::int64_t kept = Kept(copy);
      const Tables& tables = program.tables();
      for (const Tables::Stretch& table : tables.stretches()) {
        TRY(device_.Upload(table.offset, table.bytes));
        if (copy > 0) TRY(device_.Move(table.offset, Place(copy) + table.offset, table.bytes));
        TRY(device_.Move(table.offset, kept, table.bytes));
        kept += table.bytes;
      }
      TRY(device_.Wait());
      program.GetTables(memory_);
    }
    return {};
  }

  // How long a launch takes decides how many make a sample. Each finds what was verified: on what
  // another launch has left a kernel may do other work, or fail.
  base::Result<> Estimate() {
    for (std::size_t side = 0; side < (only_original_ ? 1 : 2); ++side) {
      if (side == 0 && original_us_ > 0) {
        estimates_[0] = original_us_;
        continue;
      }
      double best = 0;
      for (int i = 0; i < 3; ++i) {
        TRY(RestoreCopy(0));
        TRY_ASSIGN(const double us,
                   device_.Time([&] { return programs_[side][0].Launch(device_); }));
        best = i == 0 ? us : std::min(best, us);
        if (!settings_.probe || best <= kLongUs) continue;
        // Of a candidate what comes next says whether one was enough.
        if (side == 1 || i > 0) break;
      }
      estimates_[side] = best;
    }
    const double least = std::min(estimates_[0], estimates_[1]);
    // Several launches go through the stream as the program's dispatcher sends them.
    const bool single = programs_[0][0].step_count() == 1 && programs_[1][0].step_count() == 1;
    graph_ = single && least < kGraphBelowUs;
    const double wanted = std::ceil(kSampleUs / std::max(least, 1.0));
    launches_ = std::clamp<std::size_t>(static_cast<std::size_t>(wanted), 1, kMostLaunches);
    // What a launch changes it must find as it was: each copy once a sample.
    if (!restore_.empty()) launches_ = std::min(launches_, copies_);
    return {};
  }

  base::Result<> Restore() {
    for (std::size_t copy = 0; copy < std::min(launches_, copies_); ++copy) TRY(RestoreCopy(copy));
    return {};
  }

  base::Result<> RestoreCopy(std::size_t copy) {
    for (const Stretch& stretch : restore_) {
      TRY(device_.Move(Pristine() + stretch.offset, Place(copy) + stretch.offset, stretch.bytes));
    }
    std::int64_t kept = Kept(copy);
    const bool changed = !restore_.empty() && tables_bytes_ > 0;
    for (const Tables::Stretch& table :
         changed ? programs_[0][copy].tables().stretches() : std::vector<Tables::Stretch>()) {
      TRY(device_.Move(kept, Place(copy) + table.offset, table.bytes));
      kept += table.bytes;
    }
    return {};
  }

  // One more cold sample of the candidate; the results of its last copy go to the mapping.
  base::Result<> SampleOnPoison(const Json& poison) {
    const std::size_t copy = std::min(launches_, copies_) - 1;
    TRY(Restore());
    for (const Json& stretch : poison) {
      TRY(device_.Fill(Place(copy) + stretch[0].get<std::int64_t>(), stretch[1].get<std::int64_t>(),
                       stretch[2].get<int>()));
    }
    TRY(device_.Time([&] { return graph_ ? device_.Replay(cold_graphs_[1]) : LaunchRound(1, 0); }));
    if (copy > 0) TRY(device_.Move(Place(copy), 0, bytes_));
    TRY(device_.Wait());
    TRY(device_.Download(0, bytes_));
    programs_[1][copy].GetTables(memory_);
    return {};
  }

  // A sample goes round the copies; where that does not go all the way round, or buffers were put
  // back just before, the L2 is written over.
  base::Result<PairsTaken> TakeCold() {
    const bool flush = !restore_.empty() || launches_ < copies_;
    for (std::size_t side = 0; graph_ && side < 2; ++side) {
      TRY_ASSIGN(cold_graphs_[side], device_.Record([&] { return LaunchRound(side, 0); }));
    }
    // A probe of long launches has begun with the estimate.
    const std::pair<double, double> estimated(estimates_[0], estimates_[1]);
    const bool begun =
        settings_.probe && !slowed_down_() && std::min(estimated.first, estimated.second) > kLongUs;
    const auto sample = [&](int side, std::size_t pair) -> base::Result<double> {
      const auto s = static_cast<std::size_t>(side);
      if (side == 0 && original_us_ > 0) return original_us_;
      TRY(Restore());
      if (flush) TRY(device_.Fill(Flush(), flush_bytes_, static_cast<int>(pair & 0xff)));
      // Neither side always has the same copies.
      const std::size_t first = restore_.empty() ? pair : 0;
      TRY_ASSIGN(const double us, device_.Time([&] {
        return graph_ ? device_.Replay(cold_graphs_[s]) : LaunchRound(s, first);
      }));
      return us / static_cast<double>(launches_);
    };
    return begun ? GoOnWithProbe(settings_, estimated, sample, slowed_down_)
                 : TakePairs(settings_, sample, slowed_down_);
  }

  base::Result<> LaunchRound(std::size_t side, std::size_t first) {
    for (std::size_t i = 0; i < launches_; ++i) {
      TRY(programs_[side][(first + i) % copies_].Launch(device_));
    }
    return {};
  }

  base::Result<> LaunchOne(std::size_t side, std::size_t copy) {
    for (std::size_t i = 0; i < launches_; ++i) TRY(programs_[side][copy].Launch(device_));
    return {};
  }

  // The two sides exchange two copies.
  base::Result<PairsTaken> TakeWarm() {
    PairSettings settings = settings_;
    settings.most_pairs = std::min(settings.most_pairs, kWarmPairs);
    std::array<std::array<int, 2>, 2> graphs{};
    for (std::size_t side = 0; graph_ && side < 2; ++side) {
      for (std::size_t copy = 0; copy < 2; ++copy) {
        TRY_ASSIGN(graphs[side][copy], device_.Record([&] { return LaunchOne(side, copy); }));
      }
    }
    return TakePairs(
        settings,
        [&](int side, std::size_t pair) -> base::Result<double> {
          const auto s = static_cast<std::size_t>(side);
          const std::size_t copy = (pair / 2 + s) % 2;
          TRY(programs_[s][copy].Launch(device_));  // brings its buffers into the L2
          TRY_ASSIGN(const double us, device_.Time([&] {
            return graph_ ? device_.Replay(graphs[s][copy]) : LaunchOne(s, copy);
          }));
          return us / static_cast<double>(launches_);
        },
        slowed_down_);
  }

  device::cuda::CudaDevice& device_;
  std::span<std::byte> memory_;  // the mapping
  PairSettings settings_;
  KeptProbe& kept_;
  std::string contents_;  // empty: nothing is kept of this
  bool only_original_ = false;
  double original_us_ = 0;  // as a probe before has timed it; 0: it is to be timed
  std::int64_t bytes_ = 0;
  std::int64_t stride_ = 0;
  std::int64_t flush_bytes_ = 0;
  std::int64_t tables_bytes_ = 0;  // of one copy
  std::vector<Stretch> restore_;
  std::size_t copies_ = 2;
  std::size_t launches_ = 1;
  bool graph_ = false;
  std::array<double, 2> estimates_{};  // microseconds of a launch
  std::array<int, 2> cold_graphs_{};
  std::function<bool()> slowed_down_;
  std::array<std::vector<PreparedProgram>, 2> programs_;
};

}  // namespace

std::size_t CopiesFor(std::size_t bytes, std::size_t l2_bytes, std::size_t free_bytes) {
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  const std::size_t wanted = 3 * l2_bytes / size + 1;
  // One more stands for the buffers as they were.
  const std::size_t possible = free_bytes / size > 1 ? free_bytes / size - 1 : 1;
  return std::clamp<std::size_t>(wanted, 2,
                                 std::max<std::size_t>(2, std::min(kMostCopies, possible)));
}

base::Result<Json> TakeCudaPairs(device::cuda::CudaDevice& device,
                                 const std::vector<device::ModuleInfo>& infos,
                                 std::span<std::byte> memory, const Json& request,
                                 KeptProbe& kept) {
  const std::string contents = request.value("contents", "");
  if (contents.empty() || kept.contents != contents || kept.uses >= kMostUses) {
    TRY(ForgetProbe(device, kept));
  }
  auto reply = CudaPairs(device, memory, request, kept).Run(infos, request);
  device.DropGraphs();
  if (!reply) kept = {};
  if (kept.contents.empty()) TRY(device.ScrubAndShrink());
  return reply;
}

void BeginSlowdownWatch() { SlowdownWatch::Begin(); }

base::Result<> ForgetProbe(device::cuda::CudaDevice& device, KeptProbe& kept) {
  if (kept.contents.empty()) return {};
  kept = {};
  return device.ScrubAndShrink();
}

}  // namespace cupilot::worker
