#include "worker/lease.h"

#include <filesystem>
#include <map>
#include <utility>

#include "base/file.h"

namespace cupilot::worker {
namespace {

// An arena that others will use too grows by so much.
constexpr std::size_t kGrain = std::size_t{64} << 20;
// Of a device's memory, for which nobody waits until a process that ends has given it back.
constexpr std::size_t kLittle = std::size_t{256} << 20;

std::size_t Rounded(std::size_t bytes) { return (bytes + kGrain - 1) / kGrain * kGrain; }

}  // namespace

base::Result<std::shared_ptr<Lease::Slot>> Lease::NewSlot(const std::string& device,
                                                          std::size_t bytes,
                                                          const std::vector<std::string>& modules) {
  TRY_ASSIGN(Arena arena, Arena::Create(bytes));
  TRY_ASSIGN(Runner runner, Runner::Start(device, arena, modules));
  return std::make_shared<Slot>(Slot{std::move(arena), std::move(runner), {}});
}

Lease::KeptSlots& Lease::Kept() {
  static auto& kept = *new KeptSlots();
  return kept;
}

Lease::KeptSlots& Lease::Begun() {
  static auto& begun = *new KeptSlots();
  return begun;
}

base::Result<Lease> Lease::Take(const std::string& device, Role role, std::size_t bytes,
                                const std::vector<std::string>& modules) {
  if (device == "host" || role == Role::kFinalist) {
    TRY_ASSIGN(auto slot, NewSlot(device, bytes, modules));
    if (device != "host" && bytes < kLittle) slot->runner.NobodyWaitsForItsEnd();
    return Lease(std::move(slot), bytes);
  }
  std::shared_ptr<Slot>& slot = Kept()[{device, role}];
  if (slot && slot->Fits(bytes)) {
    const auto loaded = slot->runner.Load(modules);
    if (loaded) return Lease(slot, bytes);
    // One that has died since it was last used (of the system's lack of memory, for one) says
    // nothing about these modules.
    if (slot->runner.alive()) return base::Fail(loaded.error());
  }
  // Ends it before the new one needs the memory, and not beside a measurement.
  if (slot) {
    TRY_ASSIGN(const DeviceTurn turn, TakeTurnToRun(device));
    slot.reset();
  }
  Begun().erase({device, role});
  TRY_ASSIGN(slot, NewSlot(device, Rounded(bytes), modules));
  return Lease(slot, bytes);
}

void Lease::BeginKept(const std::string& device, Role role,
                      const std::vector<std::string>& modules) {
  std::shared_ptr<Slot>& slot = Begun()[{device, role}];
  const auto kept = Kept().find({device, role});
  if (slot || (kept != Kept().end() && kept->second)) return;
  // A folder that comes later is none that may be read.
  for (const std::string& module : modules) {
    (void)base::MakeFolders(std::filesystem::path(module).parent_path());
  }
  auto arena = Arena::Create(kGrain);
  if (!arena) return;
  auto runner = Runner::Begin(device, *arena, modules);
  if (!runner) return;
  slot = std::make_shared<Slot>(Slot{std::move(*arena), std::move(*runner), {}});
}

void Lease::BeginContext(const std::string& device, Role role) {
  const auto begun = Begun().find({device, role});
  if (begun == Begun().end() || !begun->second) return;
  // Who measures is not waited for: there is other work meanwhile.
  auto turn = TakeTurnToRun(device, std::chrono::milliseconds(0));
  if (turn) begun->second->runner.BeginContext(std::move(*turn));
}

void Lease::AwaitContexts() {
  for (const auto& [key, slot] : Begun()) {
    if (slot) (void)slot->runner.AwaitContext();  // what is asked next fails as well
  }
}

base::Result<Lease> Lease::TakeUnloaded(
    const std::string& device, Role role, std::size_t bytes,
    const std::vector<std::string>& modules, const std::string& contents,
    const std::function<base::Result<>(std::span<std::byte> memory)>& write) {
  std::shared_ptr<Slot>& slot = Kept()[{device, role}];
  if (slot && slot->Fits(bytes)) {
    if (slot->held != contents) TRY(write(slot->arena.bytes().subspan(0, bytes)));
    return Lease(slot, bytes);
  }
  if (slot) {
    TRY_ASSIGN(const DeviceTurn turn, TakeTurnToRun(device));
    slot.reset();
  }
  BeginKept(device, role, modules);
  const std::shared_ptr<Slot> begun = std::exchange(Begun()[{device, role}], nullptr);
  if (!begun) return base::Fail(base::Unavailable("no process can be begun"));
  if (bytes > begun->arena.bytes().size()) TRY(begun->arena.Grow(Rounded(bytes)));
  TRY(write(begun->arena.bytes().subspan(0, bytes)));
  TRY(begun->runner.Open(begun->arena.bytes().size(), {}));
  slot = begun;
  return Lease(slot, bytes);
}

base::Result<records::Json> Lease::Run(int module, const records::Json& program,
                                       std::chrono::milliseconds limit) const {
  return runner().Ask({{"op", "run"}, {"module", module}, {"program", program}, {"bytes", bytes_}},
                      limit);
}

}  // namespace cupilot::worker
