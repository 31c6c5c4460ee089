#include "worker/lease.h"

#include <map>
#include <utility>

namespace cupilot::worker {
namespace {

// An arena that others will use too grows by so much.
constexpr std::size_t kGrain = std::size_t{64} << 20;

}  // namespace

base::Result<std::shared_ptr<Lease::Slot>> Lease::NewSlot(const std::string& device,
                                                          std::size_t bytes,
                                                          const std::vector<std::string>& modules) {
  TRY_ASSIGN(Arena arena, Arena::Create(bytes));
  TRY_ASSIGN(Runner runner, Runner::Start(device, arena, modules));
  return std::make_shared<Slot>(Slot{std::move(arena), std::move(runner), {}});
}

base::Result<Lease> Lease::Take(const std::string& device, Role role, std::size_t bytes,
                                const std::vector<std::string>& modules) {
  if (device == "host" || role == Role::kFinalist) {
    TRY_ASSIGN(auto slot, NewSlot(device, bytes, modules));
    return Lease(std::move(slot), bytes);
  }
  static auto& kept = *new std::map<std::pair<std::string, Role>, std::shared_ptr<Slot>>();
  std::shared_ptr<Slot>& slot = kept[{device, role}];
  const bool fits = slot && slot->runner.alive() && slot->arena.bytes().size() >= bytes;
  if (fits) {
    const auto loaded = slot->runner.Load(modules);
    if (loaded) return Lease(slot, bytes);
    // One that has died since it was last used (of the system's lack of memory, for one) says
    // nothing about these modules.
    if (slot->runner.alive()) return base::Fail(loaded.error());
  }
  slot.reset();  // before the new one needs the memory
  TRY_ASSIGN(slot, NewSlot(device, (bytes + kGrain - 1) / kGrain * kGrain, modules));
  return Lease(slot, bytes);
}

base::Result<records::Json> Lease::Run(int module, const records::Json& program,
                                       std::chrono::milliseconds limit) const {
  return runner().Ask({{"op", "run"}, {"module", module}, {"program", program}, {"bytes", bytes_}},
                      limit);
}

}  // namespace cupilot::worker
