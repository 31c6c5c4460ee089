// Shared memory of judge and runner: a file without a name, mapped by both. The judge reads what a
// runner left behind, whatever became of it.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"

namespace cupilot::worker {

class Arena {
 public:
  static base::Result<Arena> Create(std::size_t bytes);
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;
  ~Arena();
  // Before anybody else maps it; what it holds stays.
  base::Result<> Grow(std::size_t bytes);
  std::span<std::byte> bytes() const { return {data_, size_}; }
  int descriptor() const { return descriptor_; }

 private:
  Arena(int descriptor, std::byte* data, std::size_t size)
      : descriptor_(descriptor), data_(data), size_(size) {}
  int descriptor_;
  std::byte* data_;
  std::size_t size_;
};

}  // namespace cupilot::worker
