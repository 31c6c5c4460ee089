// What programs were seen to do with tagged kernels: the store's records of captures, and which of
// them a kernel is tuned on. On the loop thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "blobs/blob_store.h"
#include "cache/store.h"
#include "records/kernel.h"
#include "workloads/captured.h"

namespace cupilot::service {

class CapturedWorkloads {
 public:
  CapturedWorkloads(cache::Store& store, std::string blob_folder);

  // A later capture of the same kernel takes the place of an earlier one.
  base::Result<> Save(const workloads::Captured& captured);
  base::Result<> Drop(const std::string& file, const std::string& label);
  // By the file of its definition and its label. Null if there is none.
  const workloads::Captured* Find(const std::string& file, const std::string& label) const;
  std::vector<const workloads::Captured*> All() const;

  // Kernels without a tag that a program of the project was seen to launch, the most time first: a
  // list of `kernel`, `calls`, `microseconds`, `device`. The last capture in a folder of the
  // project counts.
  base::Result<> SaveUntagged(const std::string& project_folder, const records::Json& kernels);
  records::Json Untagged(const std::string& project_folder) const;

  // The kernel's cases become the captured ones, if there are any and its tag says none, or the
  // capture was asked for by its name. A capture of other parameters
  // is dropped, and the sentence that says so is the result, as is one that says that none of its
  // cases is reproducible; else it is empty.
  std::string Overlay(records::Kernel& kernel);

  // Removes contents that no record names, and the oldest beyond `most_bytes` with the records that
  // need them, whose labels are the result.
  std::vector<std::string> Evict(std::uint64_t most_bytes, std::int64_t now_seconds);

 private:
  cache::Store& store_;
  blobs::BlobStore blobs_;
  std::map<std::string, workloads::Captured> all_;  // by the store's key
  std::map<std::string, records::Json> untagged_;   // likewise
};

}  // namespace cupilot::service
