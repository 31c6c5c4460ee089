// What a watched launch remembers of each piece of memory: who wrote it last, and some who read it
// or changed it atomically since. A piece is four bytes, or one where an access was smaller; pages
// come into being when they are touched. One operating-system thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "watch_order.h"

namespace cupilot_host {

// How an access was made: plainly, by a volatile read or write, or atomically.
enum class Way : std::uint32_t { kPlain, kVolatile, kAtomic };

struct Stamp {
  std::uint32_t thread = kNobody;  // GlobalThread
  std::uint32_t epoch : 28 = 0;
  std::uint32_t way : 2 = 0;
  std::uint32_t write : 1 = 0;
  bool empty() const { return thread == kNobody; }
  Way how() const { return static_cast<Way>(way); }
};

struct Cell {
  Stamp write;   // the last one that was not atomic and changed it
  Stamp silent;  // the last one that stored what was there
  // Reads, and atomic changes. The first of them, and one each of another thread of its warp, of
  // another warp of its block, of another block: whoever writes here without knowing of all that
  // were made, does not know of one of these.
  std::array<Stamp, 4> others;
};

class Shadow {
 public:
  explicit Shadow(std::size_t bytes) : pages_((bytes + kPageBytes - 1) / kPageBytes) {}

  // Calls visit(cell) for each piece of [at, at + bytes); false from it ends the walk.
  template <class Visit>
  void ForEach(std::size_t at, std::size_t bytes, const Visit& visit) {
    const bool whole = at % kPiece == 0 && bytes % kPiece == 0;
    for (std::size_t end = at + bytes; at < end;) {
      Page& page = PageOf(at, whole);
      const std::size_t page_end = (at / kPageBytes + 1) * kPageBytes;
      const std::size_t stop = end < page_end ? end : page_end;
      const std::size_t step = page.bytes_each;
      for (; at < stop; at += step) {
        if (!visit(page.cells[at % kPageBytes / step])) return;
      }
    }
  }
  void Forget() {
    for (auto& page : pages_) page.reset();
  }

 private:
  static constexpr std::size_t kPageBytes = 1024;
  static constexpr std::size_t kPiece = 4;
  struct Page {
    std::size_t bytes_each;
    std::vector<Cell> cells;
  };

  Page& PageOf(std::size_t at, bool whole) {
    std::unique_ptr<Page>& page = pages_[at / kPageBytes];
    if (page == nullptr) {
      const std::size_t each = whole ? kPiece : 1;
      page = std::make_unique<Page>(Page{each, std::vector<Cell>(kPageBytes / each)});
    } else if (!whole && page->bytes_each != 1) {
      auto bytes = std::make_unique<Page>(Page{1, {}});
      bytes->cells.reserve(kPageBytes);
      for (const Cell& cell : page->cells) bytes->cells.insert(bytes->cells.end(), kPiece, cell);
      page = std::move(bytes);
    }
    return *page;
  }

  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace cupilot_host
