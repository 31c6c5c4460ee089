#include "worker/arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace cupilot::worker {

namespace {

base::Error NoMemory() {
  return base::IoError(std::string("memory for buffers: ") + std::strerror(errno));
}

}  // namespace

base::Result<Arena> Arena::Create(std::size_t bytes) {
  const int descriptor = ::memfd_create("cupilot-arena", MFD_CLOEXEC);
  if (descriptor < 0 || ::ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) {
    if (descriptor >= 0) ::close(descriptor);
    return base::Fail(NoMemory());
  }
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (data == MAP_FAILED) {
    ::close(descriptor);
    return base::Fail(NoMemory());
  }
  return Arena(descriptor, static_cast<std::byte*>(data), bytes);
}

base::Result<> Arena::Grow(std::size_t bytes) {
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) return base::Fail(NoMemory());
  void* data = ::mremap(data_, size_, bytes, MREMAP_MAYMOVE);
  if (data == MAP_FAILED) return base::Fail(NoMemory());
  data_ = static_cast<std::byte*>(data);
  size_ = bytes;
  return {};
}

Arena::Arena(Arena&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Arena::~Arena() {
  if (data_ != nullptr) ::munmap(data_, size_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace cupilot::worker
