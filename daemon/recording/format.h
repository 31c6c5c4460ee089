// What a program that is captured leaves behind: one file a process, written by the host runtime or
// by the injection library and read by workloads/recording.h. Appended only, so that what a killed
// program wrote is whole up to its last chunk. All numbers little-endian.
//
//   file   = magic "CUPILOTC", u32 version, u32 device (0 host, 1 cuda), chunk*
//   chunk  = u32 kind, u32 0, u64 bytes of the payload, u64 Checksum of it, payload
//   text   = u32 bytes, bytes
//
//   kKernel   u32 id, text signature (mangled), text name (as people say it; may be empty),
//             u32 n, n * { u32 offset, u32 bytes, u32 ParameterKind }
//   kBlob     u32 id, u32 0, bytes of memory (to the end)
//   kLaunch   u32 id, u32 kernel, u32 counter, u64 which of the counter's launches (from 0),
//             u32 device, u32 cooperative, u32[3] cluster (0: none), u64 max dynamic shared bytes,
//             u32 n, n * text (parameter's bytes),
//             u32 n, n * { u64 address, u64 bytes, u32 RegionKind, u32 before, u32 after } regions,
//             u32 n, n * { u32 parameter, u32 at, u32 region, u64 offset } pointers in parameters,
//             u32 n, n * { u32 region, u64 at, u32 region, u64 offset } pointers in memory,
//             u32 n, n * { text symbol, u32 constant, u32 before, u32 after } globals
//   kCounter  u32 id, u32 kernel, u32[3] grid, u32[3] block, u64 shared bytes, text scalars,
//             u64 calls, u64 timed calls, f64 microseconds of the timed ones; a later chunk of the
//             same id replaces it
//   kNote     u32 kernel (kNone: all), text: why its launches are not recorded
//   kReplaced u32 launch: another one was drawn in its place
//   kEnd      u64 launches seen, u64 launches left out for want of space
//
// `before` and `after` are ids of blobs; kNone where nothing was read. `scalars` are the bytes of
// all parameters with those of pointers zeroed; empty where a launch's arguments are not known (a
// graph's).
#pragma once

#include <cstddef>
#include <cstdint>

namespace cupilot::capture {

inline constexpr char kMagic[8] = {'C', 'U', 'P', 'I', 'L', 'O', 'T', 'C'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kNone = 0xffffffffu;
inline constexpr std::size_t kHeaderBytes = 16;
inline constexpr std::size_t kChunkHeaderBytes = 24;

enum class ChunkKind : std::uint32_t {
  kKernel = 1,
  kBlob = 2,
  kLaunch = 3,
  kCounter = 4,
  kNote = 5,
  kReplaced = 6,
  kEnd = 7,
};

enum class ParameterKind : std::uint32_t {
  kUnknown = 0,    // any of its words that is an address of an allocation is a pointer
  kPointer = 1,    // to data
  kScalar = 2,     // has no pointers
  kStructure = 3,  // likewise as kUnknown
  kTable = 4,      // pointer to pointers, which the tag declares: followed one level
  kHidden = 5,     // pointer to what holds pointers that nobody declared: cannot be captured
};

enum class RegionKind : std::uint32_t { kDevice = 0, kManaged = 1, kHost = 2 };

// Notices what a disk or a cut does to a file; nothing that somebody intends. Bytes are those of a
// stream: Checksum(ab) is Continue(Continue(start, a), b) where a is a multiple of 8 bytes.
inline constexpr std::uint64_t kChecksumStart = 0x9e3779b97f4a7c15ull;
std::uint64_t ContinueChecksum(std::uint64_t state, const void* bytes, std::size_t count);
inline std::uint64_t Checksum(const void* bytes, std::size_t count) {
  return ContinueChecksum(kChecksumStart, bytes, count);
}

}  // namespace cupilot::capture
