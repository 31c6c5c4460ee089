// What programs were seen to do with tagged kernels: the store's records of captures, and which of
// them a kernel is tuned on. On the loop thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "blobs/blob_store.h"
#include "cache/store.h"
#include "records/kernel.h"
#include "workloads/captured.h"

namespace cupilot::service {

// A captured workload that is not kept for want of room.
struct GoneWorkload {
  std::string file;
  std::string kernel;  // its label
  std::string why;  // "was dropped to make room: ...", behind "the captured workload of app::blur"
};

// What became of captures that came, beside what was kept.
struct CapturesTaken {
  std::vector<GoneWorkload> not_kept;  // of those that came
  std::vector<GoneWorkload> dropped;   // earlier ones
};

class CapturedWorkloads {
 public:
  CapturedWorkloads(cache::Store& store, std::string blob_folder);

  // Takes the place of an earlier capture of the same kernel with the same parameters: targets with
  // other macros may give others to a kernel of one name.
  base::Result<> Save(const workloads::Captured& captured);
  base::Result<> Drop(const workloads::Captured& captured);
  // All of the kernel, whatever its parameters, and that something was dropped of it.
  base::Result<> Drop(const std::string& file, const std::string& label);
  // What was captured of just this kernel, by its file, label and parameters. Null if nothing was.
  const workloads::Captured* Find(const records::Kernel& kernel) const;
  // What was captured of a kernel of that name, whatever its parameters.
  const workloads::Captured* Find(const std::string& file, const std::string& label) const;
  // Whose place this one would take; null: nobody's.
  const workloads::Captured* FindEarlier(const workloads::Captured& captured) const;
  std::vector<const workloads::Captured*> All() const;

  // Kernels without a tag that a program of the project was seen to launch, the most time first: a
  // list of `kernel`, `calls`, `microseconds`, `device`. The last capture in a folder of the
  // project counts.
  base::Result<> SaveUntagged(const std::string& project_folder, const records::Json& kernels);
  records::Json Untagged(const std::string& project_folder) const;

  // The kernel's cases become the captured ones, if there are any and its tag says none, or the
  // capture was asked for by its name. A sentence says that none of its cases is reproducible, or
  // that what was captured is gone; else it is empty.
  std::string Overlay(records::Kernel& kernel) const;

  // The kernel is tuned on it, or it is replayed, now.
  void NoteUse(const records::Kernel& kernel, std::int64_t now_ms);

  // Why there is no room for it, as GoneWorkload has it; empty: there may be.
  std::string WhyNotKept(const workloads::Captured& captured, std::uint64_t most_bytes) const;
  // What was captured of this kernel is gone, until it is captured again. Null: nothing.
  const GoneWorkload* FindGone(const std::string& file, const std::string& label) const;
  base::Result<> SaveGone(const GoneWorkload& gone);
  // Of these contents what no record names.
  void RemoveUnnamed(const std::set<std::string>& blobs);
  // A capture that is over has written these contents. What is written later belongs to one that is
  // under way, and stays though no record names it yet.
  void NoteWritten(const std::set<std::string>& blobs);
  // Drops whole records until the contents that the others name fit: what was used longest ago goes
  // first, of equals what costs its program least. Contents that none names go after a while.
  std::vector<GoneWorkload> Evict(std::uint64_t most_bytes, std::int64_t now_ms);

 private:
  static constexpr const char* kGonePrefix = "gone/";
  static std::string GoneKeyOf(const std::string& file, const std::string& label);
  std::map<std::string, std::uint64_t> StoredBytes() const;  // by hash
  void NoteNew(const workloads::Captured& captured);
  std::set<std::string> ContentsOf(const std::set<std::string>& keys) const;
  // Records that named these contents are gone: what no other names goes at once.
  void RemoveReleased(const std::set<std::string>& blobs);

  cache::Store& store_;
  blobs::BlobStore blobs_;
  std::map<std::string, workloads::Captured> all_;  // by the store's key
  std::map<std::string, records::Json> untagged_;   // likewise
  std::map<std::string, GoneWorkload> gone_;        // likewise
  std::map<std::string, std::int64_t> written_;     // contents: when, as BlobFile::used
};

// "file:line: the captured workload of app::blur was dropped to make room: ..."
std::string SentenceOf(const records::Kernel& kernel, const std::string& why);

}  // namespace cupilot::service
