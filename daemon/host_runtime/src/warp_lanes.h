// What the lanes of a warp exchange in one operation, once all that take part have come. Pure.
#pragma once

#include <cstring>

namespace cupilot_host {

inline constexpr unsigned int kWarpLanes = 32;

// What a lane brings to an operation of its warp, and what it gets.
enum class WarpKind : unsigned char { kBallot, kShuffle, kExchange };
struct Lane {
  unsigned int mask = 0;
  WarpKind kind = WarpKind::kBallot;
  unsigned long long value = 0;  // ballot: the predicate; shuffle: the value, then the result
  unsigned int source = 0;       // shuffle: the lane to read, kWarpLanes for none
  const void* bytes = nullptr;   // exchange; asking for the active lanes: where it asks
  void* all = nullptr;
  unsigned int size = 0;
};

// Gives the lanes `taking_part` of a warp, which begins at `warp`, their results.
inline void FinishOperation(Lane* warp, unsigned int taking_part, WarpKind kind) {
  unsigned int ballot = 0;
  unsigned long long values[kWarpLanes];
  alignas(16) char bytes[kWarpLanes * 16];
  for (unsigned int rest = taking_part; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<unsigned int>(__builtin_ctz(rest));
    const Lane& lane = warp[i];
    values[i] = lane.value;
    if (lane.value != 0) ballot |= 1u << i;
    if (kind == WarpKind::kExchange) std::memcpy(bytes + i * lane.size, lane.bytes, lane.size);
  }
  for (unsigned int rest = taking_part; rest != 0; rest &= rest - 1) {
    Lane& lane = warp[static_cast<unsigned int>(__builtin_ctz(rest))];
    if (kind == WarpKind::kShuffle) {
      if (lane.source < kWarpLanes && (taking_part >> lane.source & 1u) != 0)
        lane.value = values[lane.source];
    } else {
      lane.value = kind == WarpKind::kBallot ? ballot : taking_part;
      if (kind == WarpKind::kExchange) std::memcpy(lane.all, bytes, kWarpLanes * lane.size);
    }
  }
}

// The lane that lane `self` reads in a shuffle (cupilot_host_shuffle says what kinds there are),
// kWarpLanes for none.
inline unsigned int SourceLane(int self, int kind, int operand, int width) {
  const int first = self & ~(width - 1);
  int from = 0;
  switch (kind) {
    case 0:
      from = first + (operand & (width - 1));
      break;
    case 1:
      from = self - operand;
      break;
    case 2:
      from = self + operand;
      break;
    default:
      from = self ^ operand;
      break;
  }
  // An exclusive-or may reach into earlier segments, nothing else leaves its own.
  const bool there = from < first + width && (from >= first || (kind == 3 && from >= 0));
  return there ? static_cast<unsigned int>(from) : kWarpLanes;
}

}  // namespace cupilot_host
