// Files: whole reads, atomic writes, private folders. Paths are UTF-8 strings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupilot::base {

// The whole file. kNotFound if it does not exist, kIo otherwise; the message names the path.
Result<std::string> ReadFile(const std::string& path);

// Writes a file so that a reader, or a kill at any moment, sees the old bytes or the new ones:
// temporary file in the same folder, fsync, rename. Creates missing folders (mode 0700).
Result<> WriteFileAtomically(const std::string& path, std::string_view bytes);

// The same without waiting for the disk: a power cut may leave anything in the new file. For what
// can be made again, where who reads it finds out.
Result<> WriteFileUnsynced(const std::string& path, std::string_view bytes);

// As WriteFileAtomically for what somebody acts on when it returns: a power cut afterwards leaves
// the new bytes, too. Waits for the disk once more than WriteFileAtomically.
Result<> WriteFileDurably(const std::string& path, std::string_view bytes);

// As WriteFileDurably, but leaves a file alone that already has these bytes; whoever wrote them,
// they are on the disk when it returns. True if it wrote.
Result<bool> WriteFileIfDifferent(const std::string& path, std::string_view bytes);

// Creates the folder and its missing parents, mode 0700. What it created a power cut leaves.
Result<> MakeFolders(const std::string& path);

// Waits until the disk knows the path's name, or that it is gone.
Result<> SyncFolderOf(const std::string& path);

// What makes the name of a temporary file one that no other writer has at the same time: threads,
// processes, and confined processes whose numbers are their own. Begins with '.'.
std::string UniqueSuffix();

bool FileExists(const std::string& path);

struct FileIdentity {
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;  // modification time, nanoseconds since the epoch
  bool operator==(const FileIdentity&) const = default;
};
Result<FileIdentity> IdentifyFile(const std::string& path);

// Removes a file or a whole folder; fine if it does not exist.
Result<> RemoveTree(const std::string& path);

// The folder that holds the running executable (resolved), without a trailing slash.
std::string ExecutableFolder();

// The absolute, normalised form of a path (no links resolved), relative to `base_folder`.
std::string AbsolutePath(const std::string& path, const std::string& base_folder);

}  // namespace cupilot::base
