// Contents of captured memory: files named by the hash of what they hold, compressed by Zstandard,
// private to the user. Any process of the user may read and add; only the daemon evicts. What an
// address in a workload says (`"kind": "file", "path": "blob:HASH"`) is found here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupilot::blobs {

inline constexpr std::string_view kBlobScheme = "blob:";

struct BlobFile {
  std::string hash;
  std::uint64_t stored_bytes = 0;  // on disk
  std::int64_t used = 0;           // seconds since the epoch: written, or named again, last
};

class BlobStore {
 public:
  // `folder` is created by the first Put.
  explicit BlobStore(std::string folder) : folder_(std::move(folder)) {}
  // That of this user: STATE/blobs.
  static base::Result<BlobStore> OfUser();

  const std::string& folder() const { return folder_; }
  // The hash. What is there already is not written again, but counts as used now.
  base::Result<std::string> Put(std::string_view bytes);
  bool Has(std::string_view hash) const;
  // kNotFound with what to do, kCorruption where the file does not hold what its name says.
  base::Result<std::string> Get(std::string_view hash) const;
  std::vector<BlobFile> List() const;
  // False if it is still there.
  bool Remove(std::string_view hash);
  // Removes what is in nobody's `used`, then the least recently used until at most `most_bytes`
  // remain on disk. Returns the hashes that went although they were in `used`.
  std::vector<std::string> Evict(const std::set<std::string>& used, std::uint64_t most_bytes,
                                 std::int64_t unused_before);

 private:
  std::string PathOf(std::string_view hash) const;
  std::string folder_;
};

// The raw bytes of a fill's file: a path, or an address in the user's blob store.
base::Result<std::string> ReadFillFile(const std::string& path);

}  // namespace cupilot::blobs
