// Addresses in memory that kernels read them from. Judge and runner share bytes, not addresses:
// where an address of an arena stands, the judge has what it leads to, region and byte. So equal
// entries are equal bytes wherever buffers lie, and one that a candidate changes is another. The
// runner has addresses there while kernels run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "records/json.h"
#include "worker/case_plan.h"

namespace cupilot::worker {

// `count` slices of `bytes` bytes each, whole elements.
void CutIntoSlices(std::int64_t count, std::int64_t bytes, Region& region);
// Which slice of `count` the entry of a table leads to: neighbours have changed places, so that who
// takes the slices to be in order, or at equal distances, is wrong. Its own inverse.
std::int64_t SliceOfEntry(std::int64_t entry, std::int64_t count);
// "ptrs[3]" of the region "ptrs[*]": the entry that leads to this slice.
std::string SliceName(const Region& region, std::int64_t slice);

// What stands for the address of byte `offset` of a region: no address of any device.
std::uint64_t EntryFor(std::size_t region, std::int64_t offset);

// Into the contents of a region, at the region's entries.
void WriteEntries(const Region& region, std::byte* data);
// In the contents of a table or at a region's entries: what leads to an element of `from` leads to
// the same element of `to`, which has the same regions with elements of other sizes.
void MoveEntries(const Region& region, const Layout& from, const Layout& to, std::byte* data);

// For the runner: the words that may be addresses, and all regions' places, `base` further on.
// Null where a layout has none.
records::Json TablesJson(const Layout& layout, std::int64_t base);

// The runner's side.
class Tables {
 public:
  struct Stretch {
    std::int64_t offset = 0, bytes = 0;
  };

  Tables() = default;
  // `address`: of the place 0 that the kernels' addresses are counted from.
  Tables(const records::Json& json, std::uint64_t address);

  // What kernels may find tables in, in the memory.
  std::vector<Stretch> stretches() const;

  // Addresses in the place of what stands for them; other words stay.
  void ToAddresses(std::span<std::byte> memory) const;
  // And back. What looks like an entry without having been an address becomes something else.
  void ToEntries(std::span<std::byte> memory) const;

 private:
  template <class Change>
  void ForEachWord(std::span<std::byte> memory, const Change& change) const;

  std::uint64_t address_ = 0;
  std::vector<Stretch> stretches_;     // all of whose words may be addresses
  std::vector<std::int64_t> words_;    // single ones
  std::vector<Stretch> places_;        // of regions, by their number
  std::vector<std::size_t> in_order_;  // numbers of regions, by their place
};

}  // namespace cupilot::worker
