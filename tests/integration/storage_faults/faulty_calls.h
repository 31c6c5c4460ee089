// Faults of the disk below one folder: the calls of the C library that change something there are
// counted, and so are those that read, and one of them, or all from one on, do not do what they
// should. The program that links
// this has the calls in place of the C library's: the product, RocksDB and the C++ library come by
// here, since all of them reach these by name (what the C library calls inside itself does not:
// RocksDB's own log, which nothing reads). Where the product begins to change files by a call that
// is not known here, the program ends.
#pragma once

#include <string>

namespace cupilot::test {

enum class DiskFault {
  kNone,
  kFull,       // no room from that call on
  kError,      // this one call fails
  kBroken,     // all fail from that call on
  kShort,      // half of what is to be written, then no room
  kShortOnce,  // half of what is to be written, then all is well
  kKill,       // the process ends before that call
  kLost,       // so does the power: PowerCut
  kZeros,
  kMixed,
  kUnreadable,    // this one call that reads fails
  kUnreadableOn,  // all that read from that one on
  kShortRead,     // half of what was asked for comes
};
// Whether it is counted by calls that read.
bool IsOfReading(DiskFault fault);
// "full", "error", ...; kNone for other words.
DiskFault FaultNamed(const std::string& name);

struct DiskFaultPlan {
  std::string folder;  // absolute
  std::string keep;    // DiskModel
  DiskFault fault = DiskFault::kNone;
  long at = 0;  // from 1; of the calls that change something, or of those that read
};

// From now on, on all threads.
void BeginDiskFaults(const DiskFaultPlan& plan);
// The disk is as good as new; calls are counted no longer.
void HealDisk();
// One letter a call so far: o(pen), w(rite), s(ync), r(ename), l(ink), u(nlink), t(runcate),
// a(llocate), m(kdir), c(lose), touc(h).
std::string DiskCalls();
// Likewise of those that read: O(pen), R(ead), F(read).
std::string DiskReads();

}  // namespace cupilot::test
