// The file system that clang's parses look at: what `file_snapshot.h` says, behind LLVM's
// interface. Of this folder only.
#pragma once

#include <llvm/ADT/IntrusiveRefCntPtr.h>
#include <llvm/Support/VirtualFileSystem.h>

namespace cupilot::source {

// One of them has a working directory of its own; what it knows is shared by all. Thread-safe.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> OpenKeptFiles();

}  // namespace cupilot::source
