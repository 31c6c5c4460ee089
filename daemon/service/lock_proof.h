// Proving an entry of a lock file again on this machine: what is compiled for it, and what the
// findings must say. Used by `cupilotd --once`.
#pragma once

#include <string>

#include "base/result.h"
#include "records/compile_command.h"
#include "records/lock.h"
#include "source/swap/portable_command.h"

namespace cupilot::service {

// An entry in its project.
struct LockedPlace {
  records::LockedKernel entry;
  source::ProjectFolders folders;
};

// Of params {"entry", "lock_folder", "build_folder"?}. The source folder is found by the entry's
// paths: how far they lead out of the lock file's folder.
base::Result<LockedPlace> ReadLockedPlace(const records::Json& params);

// The compile that the entry was proven for, with this compiler.
records::CompileCommand CommandOf(const LockedPlace& place, const std::string& compiler);

// kUnavailable if a GPU of this architecture does not run the entry's code.
base::Result<> CheckArchitecture(const records::LockedKernel& entry, const std::string& arch);

// Why the entry does not hold; empty if nothing speaks against it so far. Before anything is
// parsed: as the launcher judges it. Then: what it says of the kernel and its workload against the
// source. Then: against the new evidence. kUnavailable: the evidence is about other code.
std::string WhyItDoesNotFit(const LockedPlace& place, const records::CompileCommand& command);
std::string WhyKernelDiffers(const records::LockedKernel& entry, const records::Kernel& kernel);
base::Result<std::string> WhyNotProven(const records::LockedKernel& entry,
                                       const records::Evaluation& evaluation);

}  // namespace cupilot::service
