// What of a folder would be there after a power cut: what was not synced is remembered, so that it
// can be taken back. Knows no faults and intercepts nothing (faulty_calls.cc does both) and changes
// files by raw system calls alone. Not thread-safe.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cupilot::test {

// What becomes of what was not synced.
enum class PowerCut {
  kLost,   // all of it is gone: contents are cut back, names are as they were
  kZeros,  // names and lengths are there, contents are zeros
  kMixed,  // of each folder some first changes are there; of each file all, nothing, a part or
           // zeros
};

class DiskModel {
 public:
  // `keep`: a folder on the same file system, outside of what is watched, where files stay that
  // were removed.
  explicit DiskModel(std::string keep) : keep_(std::move(keep)) {}

  // Each is told after it succeeded, but for those that say "before". Paths are absolute.
  void Created(const std::string& path);
  void BeforeRemoval(const std::string& path);
  void Removed(const std::string& path);
  void FolderMade(const std::string& path);
  void FolderRemoved(const std::string& path, ino_t number);
  void Linked(const std::string& path);
  // Both in the same folder, else the program ends: nothing of ours needs another.
  void BeforeRename(const std::string& from, const std::string& to);
  void Renamed(const std::string& from, const std::string& to);
  // Before `bytes` are written at `offset` of the open file, or its length becomes `offset`.
  void BeforeWrite(int file, off_t offset, std::size_t bytes);
  void BeforeTruncation(int file, off_t length);
  // Of a file its contents, of a folder its names.
  void Synced(int file);

  // The last that is asked of it.
  void Cut(PowerCut cut, std::uint64_t seed);

 private:
  struct Before {
    off_t offset = 0;
    std::string bytes;
  };
  struct File {
    std::size_t order = 0;  // the same in each run, as the number is not
    off_t durable = 0;      // length
    std::vector<Before> overwritten;
  };
  struct Change {
    enum class Kind { kAdded, kRemoved, kFolderRemoved, kRenamed } kind;
    ino_t folder;
    std::string name;
    std::string from = {};  // kRenamed: the name before
    ino_t file = 0;         // kRemoved: which; kRenamed: what stood there, or 0
  };

  std::string Kept(ino_t file) const { return keep_ + "/" + std::to_string(file); }
  File& Track(int file);
  void Keep(const std::string& path, ino_t file);
  void CutFile(const std::string& path, const File& file, PowerCut cut, std::uint64_t random) const;
  void Undo(const Change& change, std::map<ino_t, std::string>& folders) const;

  std::string keep_;
  std::map<ino_t, File> files_;
  std::vector<Change> changes_;  // names that are not durable, the oldest first
  ino_t replaced_ = 0;           // between BeforeRename and Renamed
  ino_t removed_ = 0;
  // Folders whose names changed, by number.
  std::map<ino_t, std::string> folders_;
};

}  // namespace cupilot::test
