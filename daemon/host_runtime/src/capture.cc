#include "capture.h"

#include <pthread.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "allocations.h"
#include "gate.h"
#include "instance_label.h"
#include "recording/recorder.h"

namespace cupilot_host::capture {
namespace {

using cupilot::capture::kNone;
using cupilot::capture::Plan;
using cupilot::capture::PlannedGlobal;
using cupilot::capture::Recorder;
using cupilot::capture::Region;
using cupilot::capture::RegionKind;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kHostDevice = 0;
// What a thread waits for a recorded launch that may wait for the thread.
constexpr std::chrono::milliseconds kPatience(5000);

void Complain(const std::string& why) {
  std::fprintf(stderr, "cupilot host device: launches are not captured: %s\n", why.c_str());
}

RegionKind KindOf(cudaMemoryType type) {
  if (type == cudaMemoryTypeManaged) return RegionKind::kManaged;
  return type == cudaMemoryTypeDevice ? RegionKind::kDevice : RegionKind::kHost;
}

Region RegionOf(const cupilot_host_variable& variable) {
  return {reinterpret_cast<std::uint64_t>(variable.address), variable.bytes, RegionKind::kDevice};
}

class HostMemory : public cupilot::capture::Memory {
 public:
  explicit HostMemory(Gate& gate) : gate_(gate) {}

  bool Find(std::uint64_t address, Region& region) override {
    FoundAllocation found;
    if (FindAllocation(cupilot::capture::AtAddress(address), found)) {
      region = {reinterpret_cast<std::uint64_t>(found.address), found.bytes, KindOf(found.type)};
      return true;
    }
    const auto* variable = FindVariableAround(cupilot::capture::AtAddress(address));
    if (variable != nullptr) region = RegionOf(*variable);
    return variable != nullptr;
  }

  // Of the kernel's own translation unit first: another one may have its own of that name.
  bool FindGlobal(const void* kernel, const PlannedGlobal& global, Region& region) override {
    const cupilot_host_module& module = *static_cast<const KernelEntry*>(kernel)->module;
    for (unsigned int i = 0; i < module.variable_count; ++i) {
      if (Take(module.variables[i], global, region)) return true;
    }
    bool found = false;
    ForEachVariable([&](const cupilot_host_variable& variable) {
      found = found || Take(variable, global, region);
    });
    return found;
  }

  bool Read(std::uint64_t address, void* to, std::size_t bytes) override {
    std::memcpy(to, cupilot::capture::AtAddress(address), bytes);
    return true;
  }

  bool Hold() override { return gate_.EnterAlone(); }
  void Release() override { gate_.LeaveAlone(); }

 private:
  static bool Take(const cupilot_host_variable& variable, const PlannedGlobal& global,
                   Region& region) {
    if (variable.name != global.symbol || (global.bytes != 0 && variable.bytes != global.bytes)) {
      return false;
    }
    region = RegionOf(variable);
    return true;
  }
  Gate& gate_;
};

// The recording of this process.
struct Session {
  Session(Plan plan, Gate& gate) : memory(gate), recorder(std::move(plan), memory, kHostDevice) {}

  const Recorder::Kernel& KernelOf(const cupilot_host_kernel& kernel) {
    const std::lock_guard lock(mutex);
    const Recorder::Kernel*& known = kernels[&kernel];
    if (known == nullptr) {
      const std::vector<std::uint32_t> sizes(kernel.parameter_bytes,
                                             kernel.parameter_bytes + kernel.parameter_count);
      known = recorder.Find(kernel.signature, LabelOf(kernel.name, kernel.signature), sizes);
    }
    return *known;
  }

  HostMemory memory;
  Recorder recorder;
  std::mutex mutex;
  std::unordered_map<const cupilot_host_kernel*, const Recorder::Kernel*> kernels;
};

// Never destroyed, since programs launch until their very end; a forked child begins with new ones,
// for threads that it does not have may have locked the old ones.
struct Process {
  Gate gate{kPatience};
  std::mutex mutex;  // of the beginning of the session
  std::atomic<Session*> session{nullptr};
};
std::atomic<Process*> process{nullptr};

void BeginInChild() {
  Process* const parents = process.load();
  if (parents == nullptr) return;
  process.store(new Process);
  if (Session* session = parents->session.load(); session != nullptr) session->recorder.Abandon();
}

// Null if there is none; then launches are no longer looked at.
Session* TheSession(Process& of) {
  if (Session* session = of.session.load(std::memory_order_acquire)) return session;
  const std::lock_guard lock(of.mutex);
  if (of.session.load() != nullptr || state.load() != kOn) return of.session.load();
  Plan plan;
  std::string error;
  Session* session = nullptr;
  if (const char* path = std::getenv(cupilot::capture::kPlanVariable); path == nullptr) {
    error = "the environment names no plan any more";
  } else if (ReadPlan(path, plan, error)) {
    const std::string folder = plan.folder;
    session = new Session(std::move(plan), of.gate);
    if (!session->recorder.good()) error = "no file can be written to " + folder;
  }
  if (error.empty()) {
    of.session.store(session, std::memory_order_release);
    return session;
  }
  delete session;
  state.store(kOff);
  Complain(error);
  return nullptr;
}

// After the destructors of the program's static objects, which may launch.
[[gnu::destructor]] void FinishAtExit() {
  Process* const of = process.load();
  Session* const session = of == nullptr ? nullptr : of->session.load();
  if (session != nullptr) session->recorder.Finish();
}

// What the program may look at behind a call of the runtime.
class KeepErrno {
 public:
  ~KeepErrno() { errno = kept_; }

 private:
  const int kept_ = errno;
};

}  // namespace

bool LookAtEnvironment() {
  static const bool wanted = [] {
    const char* path = std::getenv(cupilot::capture::kPlanVariable);
    if (path == nullptr || *path == '\0') return false;
    process.store(new Process);
    return ::pthread_atfork(nullptr, nullptr, BeginInChild) == 0;
  }();
  int unknown = kUnknown;
  state.compare_exchange_strong(unknown, wanted ? kOn : kOff);
  return state.load() == kOn;
}

void Access::Enter() {
  inside_ = true;
  process.load()->gate.Enter();
}
void Access::Leave() { process.load()->gate.Leave(); }

struct Launch::Running {
  Process& process;
  Session& session;
  std::uint32_t counter = kNone;
  Recorder::Begun recording{};
  Clock::time_point begin{};
};

void Launch::Begin(const LaunchInfo& info) {
  const KeepErrno keep;
  Process& of = *process.load();
  Session* const session = TheSession(of);
  if (session == nullptr) return;
  if (info.arguments == nullptr && info.entry->kernel->parameter_count > 0) return;
  const Recorder::Kernel& kernel = session->KernelOf(*info.entry->kernel);
  cupilot::capture::Launch launch;
  launch.kernel = info.entry;
  launch.grid = {info.grid.x, info.grid.y, info.grid.z};
  launch.block = {info.block.x, info.block.y, info.block.z};
  launch.shared_bytes = info.shared;
  launch.max_dynamic_shared_bytes = static_cast<std::uint64_t>(info.entry->max_dynamic_shared);
  launch.cooperative = info.cooperative;
  launch.arguments = info.arguments;
  running_ = new Running{of, *session};
  running_->counter = session->recorder.Count(kernel, launch);
  running_->recording = session->recorder.Before(kernel, running_->counter, launch);
  if (running_->recording == nullptr) {
    of.gate.Enter();
  } else {
    of.gate.BeginRun();
  }
  running_->begin = Clock::now();
}

void Launch::End(bool well) {
  const std::chrono::duration<double, std::micro> time = Clock::now() - running_->begin;
  const KeepErrno keep;
  const std::unique_ptr<Running> running(running_);
  running_ = nullptr;
  Recorder& recorder = running->session.recorder;
  if (running->recording == nullptr) {
    running->process.gate.Leave();
  } else if (running->process.gate.EndRun() && well) {
    recorder.After(std::move(running->recording));
  } else {
    recorder.Drop(std::move(running->recording));
  }
  recorder.AddTime(running->counter, time.count());
}

}  // namespace cupilot_host::capture
