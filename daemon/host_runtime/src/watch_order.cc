#include "watch_order.h"

#include <algorithm>

namespace cupilot_host {

void Order::BeginLaunch() {
  places_.clear();
  count_ = 0;
}

void Order::BeginBlock(std::uint32_t block, unsigned int threads) {
  block_ = block;
  count_ = threads;
  floor_ = 1;
  fenced_floor_ = 0;
  fenced_ = any_known_ = false;
  epochs_.assign(threads, 1);
  rows_.assign(static_cast<std::size_t>(threads) * kWarpLanes, 0);
  fences_.assign(threads, 0);
  known_.assign(threads, nullptr);
}

bool Order::KnowsByAtomics(unsigned int self, std::uint32_t thread, Epoch epoch) const {
  const Known* known = known_[self].get();
  if (known == nullptr) return false;
  const auto find = [](const Epochs& epochs, std::uint32_t key) {
    const auto at = std::lower_bound(epochs.begin(), epochs.end(), std::pair{key, Epoch{0}});
    return at != epochs.end() && at->first == key ? at->second : 0;
  };
  return epoch < find(known->blocks, thread >> kThreadBits) ||
         epoch <= find(known->threads, thread);
}

void Order::Join(Epochs& into, const Epochs& from) {
  Epochs all;
  all.reserve(into.size() + from.size());
  auto a = into.begin();
  auto b = from.begin();
  while (a != into.end() || b != from.end()) {
    if (b == from.end() || (a != into.end() && a->first < b->first)) {
      all.push_back(*a++);
    } else if (a == into.end() || b->first < a->first) {
      all.push_back(*b++);
    } else {
      all.emplace_back(a->first, std::max(a->second, b->second));
      ++a;
      ++b;
    }
  }
  into = std::move(all);
}

Order::KnownRef Order::Joined(const KnownRef& a, const KnownRef& b) {
  if (a == b || b == nullptr) return a;
  if (a == nullptr) return b;
  auto joined = std::make_shared<Known>(*a);
  Join(joined->blocks, b->blocks);
  Join(joined->threads, b->threads);
  return joined;
}

void Order::Barrier() {
  if (any_known_) {
    KnownRef all;
    for (const KnownRef& known : known_) all = Joined(all, known);
    for (KnownRef& known : known_) known = all;
  }
  floor_ = *std::max_element(epochs_.begin(), epochs_.end()) + 1;
  std::fill(epochs_.begin(), epochs_.end(), floor_);
  if (fenced_) {
    fenced_floor_ = floor_;
    fenced_ = false;
    std::fill(fences_.begin(), fences_.end(), 0);
  }
}

void Order::Warp(unsigned int first, unsigned int lanes) {
  Epoch all[kWarpLanes] = {};
  KnownRef known;
  for (unsigned int rest = lanes; rest != 0; rest &= rest - 1) {
    const unsigned int lane = first + static_cast<unsigned int>(__builtin_ctz(rest));
    Epoch* const row = &rows_[static_cast<std::size_t>(lane) * kWarpLanes];
    row[lane % kWarpLanes] = epochs_[lane];
    for (unsigned int i = 0; i < kWarpLanes; ++i) all[i] = std::max(all[i], row[i]);
    if (any_known_) known = Joined(known, known_[lane]);
  }
  for (unsigned int rest = lanes; rest != 0; rest &= rest - 1) {
    const unsigned int lane = first + static_cast<unsigned int>(__builtin_ctz(rest));
    std::copy(all, all + kWarpLanes, &rows_[static_cast<std::size_t>(lane) * kWarpLanes]);
    ++epochs_[lane];
    if (any_known_) known_[lane] = known;
  }
}

void Order::Fence(unsigned int self) {
  fences_[self] = epochs_[self]++;
  fenced_ = true;
}

// What the others of the block did before its last barrier was fenced by each of them, or by a
// thread that knew of it: a fence of one before a barrier is taken for one of all.
Order::KnownRef Order::HandedOn(unsigned int self) const {
  auto handed = std::make_shared<Known>();
  const Epoch fence = fences_[self];
  const Epoch floor = fence != 0 ? floor_ : fenced_floor_;
  if (floor != 0) handed->blocks.emplace_back(block_, floor);
  if (fence == 0) return Joined(known_[self], handed);
  const unsigned int first = self / kWarpLanes * kWarpLanes;
  for (unsigned int lane = first; lane < first + kWarpLanes && lane < count_; ++lane) {
    const Epoch known =
        lane == self ? fence : rows_[static_cast<std::size_t>(self) * kWarpLanes + lane - first];
    if (known >= floor_) handed->threads.emplace_back(GlobalThread(block_, lane), known);
  }
  return Joined(known_[self], handed);
}

Epoch Order::Release(unsigned int self, std::uintptr_t place, bool release) {
  if (release) Fence(self);
  if (fences_[self] == 0 && fenced_floor_ == 0 && known_[self] == nullptr) return 0;
  KnownRef& there = places_[place];
  there = Joined(there, HandedOn(self));
  return fences_[self] != 0 ? fences_[self] : fenced_floor_ == 0 ? 0 : fenced_floor_ - 1;
}

void Order::Acquire(unsigned int self, std::uintptr_t place) {
  if (places_.empty()) return;
  const auto found = places_.find(place);
  if (found == places_.end()) return;
  known_[self] = Joined(known_[self], found->second);
  any_known_ = true;
}

}  // namespace cupilot_host
