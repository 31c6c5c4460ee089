// The sums of a blob, all in one pass over its bytes.
#pragma once

#include "recording/format.h"

namespace cupilot::capture {

struct BlobSums {
  std::uint64_t even =
      0;  // of every other word: with the next one and a length it tells blobs apart
  std::uint64_t odd = 0;
  std::uint64_t chunk = 0;  // ContinueChecksum(start) of all
};

BlobSums SumBlob(std::uint64_t start, const void* bytes, std::size_t count);

}  // namespace cupilot::capture
