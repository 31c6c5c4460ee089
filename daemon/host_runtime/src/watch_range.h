// What a watched run knows of memory, and of one access to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "watch_order.h"
#include "watch_shadow.h"

namespace cupilot_host {

enum class Space : unsigned char { kGlobal, kReadOnly, kConstant, kShared };

struct Range {
  std::string name;
  std::uintptr_t begin = 0, end = 0;
  std::size_t element = 1;
  Space space = Space::kGlobal;
  std::unique_ptr<Shadow> shadow;  // of what may be written
  std::vector<bool> written;       // shared: by a thread of this block; of an empty range: at all
  bool live = true;                // shared: its declaration was passed in this block
  bool Holds(std::uintptr_t at) const { return at >= begin && at < end; }
};

struct Access {
  std::uintptr_t at = 0;
  std::size_t bytes = 0;
  bool write = false;
  Way way = Way::kPlain;
  Epoch epoch = 0;  // not the thread's own at this time, if it is not 0
};

}  // namespace cupilot_host
