#include "worker/tables.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace cupilot::worker {
namespace {

using records::Json;

// The highest byte is one that addresses of processors and GPUs do not have; below it 16 bits of
// the region's number and 40 of the byte.
constexpr std::uint64_t kMark = std::uint64_t{0x7a} << 56;
constexpr std::uint64_t kMarkBits = std::uint64_t{0xff} << 56;
constexpr std::uint64_t kForged = std::uint64_t{0x01} << 56;
constexpr int kOffsetBits = 40;
constexpr std::uint64_t kOffsetMask = (std::uint64_t{1} << kOffsetBits) - 1;
constexpr std::int64_t kWord = 8;

bool IsEntry(std::uint64_t word) { return (word & kMarkBits) == kMark; }

}  // namespace

// Each begins at a multiple of the alignment, and of the elements' size.
void CutIntoSlices(std::int64_t count, std::int64_t bytes, Region& region) {
  const std::int64_t size = region.type.size(), unit = std::lcm(kAlignment, size);
  const std::int64_t stride = (bytes + kSliceZone + unit - 1) / unit * unit;
  region.slices = {count, bytes / size, stride / size};
  region.count = count == 0 ? 0 : (count - 1) * region.slices.stride + region.slices.elements;
}

std::int64_t SliceOfEntry(std::int64_t entry, std::int64_t count) {
  const std::int64_t neighbour = entry ^ 1;
  return neighbour < count ? neighbour : entry;
}

std::string SliceName(const Region& region, std::int64_t slice) {
  const std::size_t open = region.name.rfind('[');
  const std::int64_t entry = SliceOfEntry(slice, region.slices.count);
  return region.name.substr(0, open) + "[" + std::to_string(entry) + "]";
}

std::uint64_t EntryFor(std::size_t region, std::int64_t offset) {
  return kMark | (static_cast<std::uint64_t>(region) & 0xffff) << kOffsetBits |
         (static_cast<std::uint64_t>(offset) & kOffsetMask);
}

void WriteEntries(const Region& region, std::byte* data) {
  for (const Region::Entry& entry : region.entries) {
    const std::uint64_t word = EntryFor(static_cast<std::size_t>(entry.region), entry.offset);
    std::memcpy(data + entry.at, &word, sizeof word);
  }
}

void MoveEntries(const Region& region, const Layout& from, const Layout& to, std::byte* data) {
  const auto move = [&](std::int64_t at) {
    std::uint64_t word = 0;
    std::memcpy(&word, data + at, sizeof word);
    const auto number = static_cast<std::size_t>(word >> kOffsetBits & 0xffff);
    if (!IsEntry(word) || number >= from.regions.size()) return;
    const auto offset = static_cast<std::int64_t>(word & kOffsetMask);
    const std::int64_t was = from.regions[number].type.size(), is = to.regions[number].type.size();
    word = EntryFor(number, offset / was * is + offset % was);
    std::memcpy(data + at, &word, sizeof word);
  };
  if (!region.table) {
    for (const Region::Entry& entry : region.entries) move(entry.at);
    return;
  }
  for (std::int64_t at = 0; at + kWord <= region.bytes(); at += kWord) move(at);
}

Json TablesJson(const Layout& layout, std::int64_t base) {
  Json stretches = Json::array(), words = Json::array();
  for (const Region& region : layout.regions) {
    if (region.table) {
      stretches.push_back({region.offset + base, region.bytes()});
      continue;
    }
    for (const Region::Entry& entry : region.entries) {
      words.push_back(region.offset + base + entry.at);
    }
  }
  if (stretches.empty() && words.empty()) return nullptr;
  Json places = Json::array();
  for (const Region& region : layout.regions) {
    places.push_back({region.offset + base, region.bytes()});
  }
  return {{"stretches", stretches}, {"words", words}, {"places", places}};
}

Tables::Tables(const Json& json, std::uint64_t address) : address_(address) {
  const auto take = [](const Json& list, std::vector<Stretch>& out) {
    for (const Json& one : list) {
      out.push_back({one[0].get<std::int64_t>(), one[1].get<std::int64_t>()});
    }
  };
  take(json["stretches"], stretches_);
  take(json["places"], places_);
  for (const Json& word : json["words"]) words_.push_back(word.get<std::int64_t>());
  in_order_.resize(places_.size());
  std::iota(in_order_.begin(), in_order_.end(), std::size_t{0});
  std::stable_sort(in_order_.begin(), in_order_.end(), [this](std::size_t a, std::size_t b) {
    return places_[a].offset < places_[b].offset;
  });
}

std::vector<Tables::Stretch> Tables::stretches() const {
  std::vector<Stretch> all = stretches_;
  for (const std::int64_t word : words_) all.push_back({word, kWord});
  return all;
}

template <class Change>
void Tables::ForEachWord(std::span<std::byte> memory, const Change& change) const {
  for (const Stretch& stretch : stretches()) {
    for (std::int64_t at = stretch.offset; at + kWord <= stretch.offset + stretch.bytes;
         at += kWord) {
      if (at < 0 || static_cast<std::size_t>(at + kWord) > memory.size()) continue;
      std::uint64_t word = 0;
      std::memcpy(&word, memory.data() + at, sizeof word);
      word = change(word);
      std::memcpy(memory.data() + at, &word, sizeof word);
    }
  }
}

void Tables::ToAddresses(std::span<std::byte> memory) const {
  ForEachWord(memory, [this](std::uint64_t word) {
    const auto region = static_cast<std::size_t>(word >> kOffsetBits & 0xffff);
    if (!IsEntry(word) || region >= places_.size()) return word;
    return address_ + static_cast<std::uint64_t>(places_[region].offset) + (word & kOffsetMask);
  });
}

// An address is that of the last region that begins at or before it: one behind a region's end is
// still the region's.
void Tables::ToEntries(std::span<std::byte> memory) const {
  if (places_.empty()) return;
  const Stretch& last = places_[in_order_.back()];
  const std::int64_t end = last.offset + last.bytes + kRedZone;
  ForEachWord(memory, [&](std::uint64_t word) {
    if (IsEntry(word)) return word ^ kForged;
    const auto place = static_cast<std::int64_t>(word - address_);
    const auto next = std::upper_bound(
        in_order_.begin(), in_order_.end(), place,
        [this](std::int64_t at, std::size_t region) { return at < places_[region].offset; });
    if (word < address_ || next == in_order_.begin() || place > end) return word;
    const std::size_t region = *std::prev(next);
    return EntryFor(region, place - places_[region].offset);
  });
}

}  // namespace cupilot::worker
