#include "source/swap/fat_binary.h"

#include <cstdint>
#include <cstring>

#if defined(CUPILOT_HAS_ZSTD)
#include <zstd.h>
#endif

#include "source/swap/lz4_block.h"

namespace cupilot::source {
namespace {

constexpr std::uint32_t kMagic = 0xba55ed50;
constexpr std::uint16_t kKindPtx = 1;
constexpr std::uint16_t kKindElf = 2;
constexpr std::uint16_t kKindIntermediate = 8;
constexpr std::uint64_t kPackedLz4 = 0x2000;
constexpr std::uint64_t kPackedZstd = 0x8000;
constexpr std::uint64_t kMostImageBytes = std::uint64_t{1} << 31;

struct ContainerHeader {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_bytes;
  std::uint64_t bytes;  // behind the header
};
static_assert(sizeof(ContainerHeader) == 16);

struct EntryHeader {
  std::uint16_t kind;
  std::uint16_t version;
  std::uint32_t header_bytes;
  std::uint64_t padded_bytes;
  std::uint32_t packed_bytes;  // 0 where it is not compressed
  std::uint32_t options_at;
  std::uint16_t minor, major;
  std::uint32_t architecture;
  std::uint32_t name_at, name_bytes;
  std::uint64_t flags;
  std::uint64_t reserved;
  std::uint64_t unpacked_bytes;
};
static_assert(sizeof(EntryHeader) == 64);

template <class T>
bool Take(std::string_view bytes, T& out) {
  if (bytes.size() < sizeof out) return false;
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): as many bytes as are there
  std::memcpy(&out, bytes.data(), sizeof out);
  return true;
}

base::Error Refused(const std::string& what) {
  return base::Unsupported("device code in the object: " + what);
}

base::Result<std::string> Unpacked(const EntryHeader& header, std::string_view payload) {
  if ((header.flags & (kPackedLz4 | kPackedZstd)) == 0) return std::string(payload);
  if (header.packed_bytes > payload.size() || header.unpacked_bytes > kMostImageBytes) {
    return base::Fail(Refused("an entry's sizes do not fit"));
  }
  if ((header.flags & kPackedLz4) != 0) {
    auto out = UnpackLz4Block(payload.substr(0, header.packed_bytes), header.unpacked_bytes);
    if (!out) return base::Fail(Refused("an entry does not unpack"));
    return out;
  }
#if defined(CUPILOT_HAS_ZSTD)
  if ((header.flags & kPackedZstd) != 0) {
    std::string out(header.unpacked_bytes, '\0');
    const std::size_t got =
        ZSTD_decompress(out.data(), out.size(), payload.data(), header.packed_bytes);
    if (ZSTD_isError(got) != 0 || got != out.size()) {
      return base::Fail(Refused("an entry does not unpack"));
    }
    return out;
  }
#endif
  return base::Fail(Refused("compressed in a way that this build does not read"));
}

FatEntry::Kind KindOf(std::uint16_t kind) {
  if (kind == kKindPtx) return FatEntry::Kind::kPtx;
  return kind == kKindElf ? FatEntry::Kind::kMachineCode : FatEntry::Kind::kIntermediate;
}

base::Result<> ReadEntries(std::string_view bytes, bool with_ptx, std::vector<FatEntry>& out) {
  while (!bytes.empty()) {
    EntryHeader header;
    if (!Take(bytes, header) || header.header_bytes < sizeof header ||
        header.header_bytes > bytes.size() ||
        header.padded_bytes > bytes.size() - header.header_bytes) {
      return base::Fail(Refused("an entry's header is not the one that we know"));
    }
    if (header.kind == kKindElf || header.kind == kKindPtx || header.kind == kKindIntermediate) {
      FatEntry& entry = out.emplace_back();
      entry.architecture = static_cast<int>(header.architecture);
      entry.kind = KindOf(header.kind);
      if (header.kind == kKindElf || (header.kind == kKindPtx && with_ptx)) {
        const std::string_view payload = bytes.substr(header.header_bytes, header.padded_bytes);
        TRY_ASSIGN(entry.bytes, Unpacked(header, payload));
      }
    }
    bytes.remove_prefix(header.header_bytes + header.padded_bytes);
  }
  return {};
}

}  // namespace

base::Result<std::vector<FatEntry>> ReadFatBinary(std::string_view bytes, bool with_ptx) {
  std::vector<FatEntry> out;
  while (bytes.size() >= sizeof(ContainerHeader)) {
    ContainerHeader header;
    Take(bytes, header);
    if (header.magic == 0) {  // padding between the containers of several objects
      bytes.remove_prefix(8);
      continue;
    }
    if (header.magic != kMagic || header.version != 1 || header.header_bytes < sizeof header ||
        header.header_bytes > bytes.size() || header.bytes > bytes.size() - header.header_bytes) {
      return base::Fail(Refused("the container's header is not the one that we know"));
    }
    TRY(ReadEntries(bytes.substr(header.header_bytes, header.bytes), with_ptx, out));
    bytes.remove_prefix(header.header_bytes + header.bytes);
  }
  return out;
}

}  // namespace cupilot::source
