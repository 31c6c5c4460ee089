// The sums of a blob, all in one pass over its bytes.
#pragma once

#include "recording/format.h"

namespace cupilot::capture {

struct BlobSums {
  std::uint64_t first = 0;   // Checksum of the bytes
  std::uint64_t second = 0;  // another one; with the first and a length it tells blobs apart
  std::uint64_t chunk = 0;   // ContinueChecksum(start) of them
};

BlobSums SumBlob(std::uint64_t start, const void* bytes, std::size_t count);

}  // namespace cupilot::capture
