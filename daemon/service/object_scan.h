// One object of a project: its last scan, and what has to change for another.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "evaluate/calls.h"
#include "records/selection.h"
#include "service/project.h"

namespace cupilot::service {

// A scan's result, bound to the exact bytes that it saw.
struct ObjectScan {
  Object object;
  std::string source_text;  // the snapshot
  std::string command_hash;
  std::string toolchain;                     // source::ToolchainIdentity of the command
  std::string device_kind;                   // DeviceKindOf the command
  std::vector<records::SelectedFile> files;  // the source first, then every header of the user's
  std::string numerics;                      // of its target, as are the next
  std::vector<std::string> wanted;           // names of kernels; empty: all
  std::vector<records::Kernel> kernels;
  // Each kernel's cases and the number of warnings, as the scan gave them: without captures.
  std::vector<std::vector<records::Case>> tagged;
  std::size_t warned = 0;
  std::set<std::string> declared;  // labels of those whose tags have workloads
  // Labels of those whose captured workloads are no use, or gone, and the sentences that say why.
  std::map<std::string, std::string> dropped;
  std::vector<std::string> warnings;
  std::vector<std::string> untagged;
  std::vector<records::PassSummary> compiled;  // what the compiler makes of the source
  double seconds = 0;                          // that reading it took
};

// Takes the snapshot, has it scanned, and checks that no file changed meanwhile (kCancelled: scan
// again). On the loop thread; files are small and read there.
void ScanObject(evaluate::Workers& workers, const base::Clock& clock, const Object& object,
                const std::string& numerics, base::Callback<ObjectScan> done);

// True if a file of the scan, the command or the compiler is not what the scan saw.
bool IsOutdated(const ObjectScan& scan, const Object& now);

// Takes captured cases off its kernels again, and the warnings about them; `dropped` stays.
void TakeOffCaptured(ObjectScan& scan);

// What a scan warns of, but for what it says of other kernels alone, and why the kernel is
// declined.
std::vector<std::string> WarningsAbout(const ObjectScan& scan, const records::Kernel& kernel);

}  // namespace cupilot::service
