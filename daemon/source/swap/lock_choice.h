// What a lock file says for one compile: the variants to swap in, and what is to be said about
// those that do not fit any more.
#pragma once

#include <string>
#include <vector>

#include "records/compile_command.h"
#include "source/swap/lock_entry.h"
#include "source/swap/selection_check.h"
#include "source/swap/swapped_source.h"

namespace cupilot::source {

struct LockChoice {
  bool there = false;  // there is such a file: it decides, and no published selection
  // Of the entries about this object; empty: none, or the file cannot be read. While it stays, the
  // file says the same about this object.
  std::string digest;
  std::vector<std::string> notes;     // a line each, for who builds
  std::string reason;                 // why nothing is swapped in
  SwapRequest request;                // without kernels: the original is compiled
  std::vector<ShippedText> measured;  // the machine code of its variants, as far as known
};

// A lock file, read once.
struct LockFile {
  bool there = false;
  std::string name;   // without its folder
  std::string error;  // why it cannot be used
  std::vector<records::LockedKernel> kernels;
};
LockFile ReadLockFile(const std::string& path);

struct LockQuestion {
  std::string target;      // CMake's
  ProjectFolders folders;  // folders.lock is the lock file's
};
LockChoice ChooseFromLock(const LockFile& file, const LockQuestion& question,
                          const records::CompileCommand& command);

// LockChoice::digest for a source.
std::string DigestFor(const LockFile& file, const LockQuestion& question,
                      const std::string& source);

}  // namespace cupilot::source
