// The schedule of cupilot_host_schedule.h, as what launches and fibers ask for.
#pragma once

namespace cupilot_host {

enum class ThreadOrder : unsigned char { kAny, kForward, kReversed, kWarpsReversed };
enum class BlockOrder : unsigned char { kForward, kReversed, kShuffled };

struct Schedule {
  bool one_block = false;  // at a time; always where anything else is set
  ThreadOrder threads = ThreadOrder::kAny;
  BlockOrder blocks = BlockOrder::kForward;
  unsigned long seed = 0;

  // The block that runs as number `position` of `count`.
  unsigned long BlockAt(unsigned long position, unsigned long count) const;
  // Likewise a block's thread, by its linear number.
  unsigned int ThreadAt(unsigned int position, unsigned int count) const;
};

const Schedule& CurrentSchedule();

}  // namespace cupilot_host
