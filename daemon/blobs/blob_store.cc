#include "blobs/blob_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <zstd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/file.h"
#include "base/hash.h"
#include "base/paths.h"

namespace cupilot::blobs {
namespace {

namespace fs = std::filesystem;

// The fastest that still finds repetition: captured memory is read back more often than it is kept.
constexpr int kLevel = 1;
constexpr std::string_view kSuffix = ".zst";
constexpr std::size_t kHashDigits = 40;

bool IsHash(std::string_view text) {
  return text.size() == kHashDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

base::Result<std::string> Compress(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), kLevel);
  if (ZSTD_isError(size) != 0) return base::Fail(base::Internal(ZSTD_getErrorName(size)));
  out.resize(size);
  return out;
}

base::Result<std::string> Expand(const std::string& packed, const std::string& path) {
  const auto fail = [&path] {
    return base::Fail(base::Corruption(path + ": is damaged; capture the program again"));
  };
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  // A header that lies about the size must not cost memory: Zstandard never packs tighter than
  // this.
  constexpr unsigned long long kTightest = 1 << 17;
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN ||
      size / kTightest > packed.size()) {
    return fail();
  }
  std::string bytes(size, '\0');
  if (ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size()) != size) {
    return fail();
  }
  return bytes;
}

}  // namespace

base::Result<BlobStore> BlobStore::OfUser() {
  TRY_ASSIGN(const base::UserFolders folders, base::FindUserFolders());
  return BlobStore(folders.state + "/blobs");
}

std::string BlobStore::PathOf(std::string_view hash) const {
  return folder_ + "/" + std::string(hash) + std::string(kSuffix);
}

bool BlobStore::Has(std::string_view hash) const {
  return IsHash(hash) && base::FileExists(PathOf(hash));
}

base::Result<std::string> BlobStore::Put(std::string_view bytes) {
  std::string hash = base::HashHex(bytes);
  const std::string path = PathOf(hash);
  if (base::FileExists(path)) {
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
    return hash;
  }
  TRY(base::MakeFolders(folder_));
  TRY_ASSIGN(const std::string packed, Compress(bytes));
  TRY(base::WriteFileDurably(path, packed));
  return hash;
}

base::Result<std::string> BlobStore::Get(std::string_view hash) const {
  if (!IsHash(hash)) {
    return base::Fail(base::InvalidArgument("'" + std::string(hash) + "' names no captured data"));
  }
  const std::string path = PathOf(hash);
  auto packed = base::ReadFile(path);
  if (!packed && packed.error().code == base::ErrorCode::kNotFound) {
    return base::Fail(base::NotFound("captured data " + std::string(hash) +
                                     " is not here any more; capture the program again"));
  }
  if (!packed) return packed;
  TRY_ASSIGN(std::string bytes, Expand(*packed, path));
  if (base::HashHex(bytes) == hash) return bytes;
  return base::Fail(base::Corruption(path + ": is damaged; capture the program again"));
}

std::vector<BlobFile> BlobStore::List() const {
  std::vector<BlobFile> files;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    const std::string hash = name.substr(0, std::min(name.size(), kHashDigits));
    struct stat status{};
    if (!IsHash(hash) || name != hash + std::string(kSuffix)) continue;
    if (::stat(it->path().c_str(), &status) != 0) continue;
    files.push_back({hash, static_cast<std::uint64_t>(status.st_size), status.st_mtim.tv_sec});
  }
  return files;
}

bool BlobStore::Remove(std::string_view hash) {
  return IsHash(hash) && base::RemoveTree(PathOf(hash)).has_value();
}

std::vector<std::string> BlobStore::Evict(const std::set<std::string>& used,
                                          std::uint64_t most_bytes, std::int64_t unused_before) {
  std::vector<BlobFile> files = List();
  std::sort(files.begin(), files.end(),
            [](const BlobFile& a, const BlobFile& b) { return a.used < b.used; });
  std::uint64_t total = 0;
  std::vector<BlobFile> kept;
  for (const BlobFile& file : files) {
    // A capture that is under way names its contents only at its end.
    if (used.count(file.hash) == 0 && file.used < unused_before) {
      (void)base::RemoveTree(PathOf(file.hash));
      continue;
    }
    total += file.stored_bytes;
    kept.push_back(file);
  }
  std::vector<std::string> gone;
  for (const BlobFile& file : kept) {
    if (total <= most_bytes) break;
    if (!base::RemoveTree(PathOf(file.hash))) continue;
    total -= file.stored_bytes;
    if (used.count(file.hash) != 0) gone.push_back(file.hash);
  }
  return gone;
}

base::Result<std::string> ReadFillFile(const std::string& path) {
  if (path.rfind(kBlobScheme, 0) != 0) return base::ReadFile(path);
  TRY_ASSIGN(const BlobStore store, BlobStore::OfUser());
  return store.Get(std::string_view(path).substr(kBlobScheme.size()));
}

}  // namespace cupilot::blobs
